"""Configurations that are looked at beside each other."""

from dataclasses import replace

import pytest

from hyperpod_cdk.rules.together import check_together
from hyperpod_cdk.spec import HyperPodSpec
from tests.unit.rules.specs import BASE, TEXT_TOKEN, changed

APART = {"stack_name": "dev", "cluster.cluster_name": "dev"}


@pytest.mark.parametrize(
    ("other", "paths"),
    [
        (BASE, ["stack_name"]),
        (changed({"cluster.cluster_name": "dev"}), ["stack_name"]),
        (changed({"stack_name": "dev"}), ["cluster.cluster_name"]),
        (changed({"stack_name": "dev", "region": None}), ["cluster.cluster_name"]),
        (changed({"region": "us-east-1"}), []),
        (changed(APART), []),
        (changed({**APART, "cluster.cluster_name": None}), []),
        (changed({"stack_name": TEXT_TOKEN, "cluster.cluster_name": TEXT_TOKEN}), []),
    ],
)
def test_what_two_files_share(other: HyperPodSpec, paths: list[str]) -> None:
    found = check_together(BASE, {"dev.yaml": other})
    assert [one.path for one in found] == paths
    assert all((one.code, one.message) == ("HP106", "is that of dev.yaml too") for one in found)


def test_names_that_both_leave_to_the_construct_are_not_shared() -> None:
    nameless = changed({"cluster.cluster_name": None})
    assert check_together(nameless, {"dev.yaml": replace(nameless, stack_name="dev")}) == []


def test_accounts_of_their_own_are_acknowledged() -> None:
    assert check_together(replace(BASE, acknowledge=("HP106",)), {"dev.yaml": BASE}) == []
    assert check_together(BASE, {"dev.yaml": BASE}, acknowledged=frozenset({"HP106"})) == []
