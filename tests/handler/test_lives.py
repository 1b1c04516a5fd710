"""Random lives of a cluster: whatever is asked for and whatever fails, none is lost, leaked or lied about.

hypothesis plays CloudFormation, the user, the service's bad days and somebody else with the same account, in
small steps: begin a create, update or delete; poll; deliver a request twice; give up on it; put a fault in
force; change or delete the cluster behind the resource's back. What must hold is checked after every step.

``python -m pytest tests/handler/test_lives.py`` runs 500 lives of up to 50 steps, the same ones each time;
``make fuzz`` runs 10,000 new ones. A life that breaks is printed as the shortest program that breaks it.

Each invariant was seen to hold something: the handler's code was broken by hand, once for each line, and the
500 lives run again (November 2026).

==============================================================  ============================================
what was broken                                                 what caught it
==============================================================  ============================================
an update makes a second cluster beside the first               never_two
a rollback forgets what the failed replacement made             _check_end: two clusters, one known
it does not wait for what a cancelled one makes late            never_two
Delete looks for the physical id only                           _check_deleted: one is left
an error of CreateCluster fails on_event, whatever it did       _check_deleted: one is left
a deletion counts as done when it was asked for                 _check_deleted: one is left
a deletion that failed, or met a busy cluster, is not repeated  _check_end: a Delete that must succeed fails
every cluster counts as ours                                    nothing_is_broken: AddTags on another's
a poll does not ask whose the cluster is                        _check_response: success on another's
what the service did not keep counts as success                 _check_response: differences
what is not shown counts as kept, whatever failed               _check_response: differences
Failed or Updating counts as done                               _check_response: status
tags are not sent or taken away, groups not taken away          _check_response: differences
only the first call of an update is sent                        _check_end: an update that must succeed fails
the note of a pending update stays                              _check_response: differences
the poller of a cancelled update goes on sending                _check_response: differences
the order of a set counts; tags or a note are sent every time   _check_response: a no-op makes calls
tags are sent before a refusal                                  _check_response: a refused update makes calls
patience of an hour                                             _check_end: no time is left to succeed
a reason of any length                                          Framework: more than 4096 bytes
Update or Delete answers with another id                        _check_response, Framework
Data while not complete                                         Framework
a throttled poll, or a conflict, fails                          _check_end: what must succeed fails
interfaces are not waited for                                   _check_deleted: one is left
properties are logged                                           nothing_is_broken: the response's address
==============================================================  ============================================

Not caught here, but by tests of their own, each seen to fail when the code was broken:

==============================================================  ============================================
what was broken                                                 what caught it
==============================================================  ============================================
a repeated Create that can not read tags fails                  test_create
a new cluster that is not visible yet counts as gone            test_create
a late poll of a Delete takes a later cluster                   test_delete
interfaces are waited for without end                           test_delete
a cluster that lost a tag of ours is left behind in silence     test_delete
tags that went before their cluster fail the deletion           test_delete
tags of ours in an update take a cluster from us                test_update
an event that the framework can not wait for makes a cluster    test_update
a condition runs out of time, or waits for what was given up    test_watch
a watch that can look no more says nothing                      test_watch
==============================================================  ============================================
"""

import os
from collections.abc import Iterator

import pytest
from handler.clients import Clients
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from moto.backends import get_backend

from tests.handler.conftest import SHORTCUT
from tests.handler.lives.events import Lives
from tests.handler.lives.world import WORLD

LIVES = int(os.environ.get("HYPERPOD_CDK_LIVES", "0"))
"""How many new lives to run; by default 500, the same each time."""

SETTINGS = settings(
    max_examples=LIVES or 500,
    derandomize=not LIVES,
    stateful_step_count=50,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def connected(clients: Clients) -> Iterator[None]:
    """The handler's clients and a network, which every life shares."""
    ec2 = get_backend("ec2")["123456789012"]["us-west-2"]
    vpc = ec2.create_vpc("10.0.0.0/16")
    subnet = ec2.create_subnet(vpc.id, "10.0.0.0/20", "us-west-2a")
    security_group = ec2.create_security_group("nodes", "nodes", vpc_id=vpc.id)
    WORLD.clients = clients
    WORLD.vpc = {"SecurityGroupIds": [security_group.id], "Subnets": [subnet.id]}
    SHORTCUT.connect_interfaces(clients.ec2)
    yield
    SHORTCUT.watch, SHORTCUT.service = (lambda operation, request: None), None


@pytest.mark.usefixtures("connected")
def test_lives() -> None:
    run_state_machine_as_test(Lives, settings=SETTINGS)
