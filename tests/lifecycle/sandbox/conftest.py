"""Clusters of real hosts for the scenarios; the long ones run with HYPERPOD_CDK_NODES_TESTS=all."""

import os
from collections.abc import Iterator

import pytest

from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.requirements import CannotRunHostsError, require
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from tests.lifecycle.sandbox.scenario import ACCOUNTS, ALICE, BOB

LONG = os.environ.get("HYPERPOD_CDK_NODES_TESTS") == "all"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave the long scenarios out, and all of them where hosts cannot run."""
    here = [item for item in items if "lifecycle/sandbox" in str(item.path)]
    reason = ""
    try:
        if here:
            require()
    except CannotRunHostsError as error:
        reason = str(error)
    for item in here:
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
        elif item.get_closest_marker("long_nodes") and not LONG:
            item.add_marker(pytest.mark.skip(reason="long: make nodes-test"))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Sandbox]:
    """A controller, a login node and four compute nodes in custom mode, their scripts run."""
    with Sandbox(Plan(groups=usual_groups(4), users=[ALICE, BOB], config=ACCOUNTS)) as sandbox:
        sandbox.up()
        sandbox.provision()
        sandbox.idle()
        yield sandbox
