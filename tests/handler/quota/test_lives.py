"""Random lives of a compute quota: whatever is asked for and whatever fails, none is lost or lied about.

As ``test_lives`` does for the cluster: hypothesis plays CloudFormation, the user, the service's bad days and
somebody else with the same account, in small steps, and what must hold is checked after every step.

Each was seen to hold something: the handler's code was broken by hand, once for each line (November 2026).

==============================================================  ============================================
what was broken                                                 what caught it
==============================================================  ============================================
a poll does not ask whose the quota is                          _check_response: success on another's
UpdateFailed counts as done                                     _check_response: status
Delete does not ask whose the quota is                          nothing_is_broken: a call on another's
a deletion counts as done when it was asked for                 _check_response: one is left
a rollback forgets what the failed replacement made             _check_end: two quotas, one known
it does not wait for what a cancelled one makes late            never_two
a Create that finds its own quota unseen fails on_event         _check_response: one is left
a list that lags hides what a replacement made                  _check_end: two quotas, one known
Describe that does not know a quota yet makes it gone           _check_response: one is left
what a list tells alone is compared                             _check_response: a no-op makes calls
==============================================================  ============================================

The last five were the handler's own faults. Not caught here, but by tests of their own, each seen to fail
when the code was broken: CreateFailed is no failure; TargetVersion is another; a conflict is not read
again; a team or name of another is taken; a version of before is believed; no note, or one that stays; an
unknown outcome fails on_event; what is taken away, or taken over, stays; what the service did not keep
counts; fractions stay text; parts that follow from others are differences; a renamed quota is a second one;
what failed is not sent again; tags are sent before a refusal; a deletion is asked for without end.
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
