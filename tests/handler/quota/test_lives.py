"""Random lives of a compute quota: whatever is asked for and whatever fails, none is lost or lied about.

As ``test_lives`` does for the cluster: hypothesis plays CloudFormation, the user, the service's bad days and
somebody else with the same account, in small steps, and what must hold is checked after every step.
"""

import os
from collections.abc import Iterator

import pytest
from handler.clients import Clients
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.handler.conftest import SHORTCUT
from tests.handler.lives.world import WORLD
from tests.handler.quota.lives.events import QuotaLives

LIVES = int(os.environ.get("HYPERPOD_CDK_LIVES", "0"))
"""How many new lives to run; by default 150, the same each time."""

SETTINGS = settings(
    max_examples=LIVES or 150,
    derandomize=not LIVES,
    stateful_step_count=50,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def connected(clients: Clients) -> Iterator[None]:
    """The handler's clients, which every life shares."""
    WORLD.clients = clients
    yield
    SHORTCUT.watch, SHORTCUT.service = (lambda operation, request: None), None


@pytest.mark.usefixtures("connected")
def test_lives() -> None:
    run_state_machine_as_test(QuotaLives, settings=SETTINGS)
