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

Not caught here, but by tests of their own: a repeated Create that can not read tags, a new cluster that is
not visible yet (test_create), a late poll of a Delete that meets a later cluster, and interfaces that are
waited for without end (test_delete).
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any

import pytest
from handler import index, log
from handler.clients import Aws, Clients
from handler.interfaces import NAMED_SECONDS
from handler.patience import PATIENCE_SECONDS
from hypothesis import HealthCheck, note, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from moto.backends import get_backend

from hyperpod_cdk.rehearsal.hyperpod import Durations, HyperPodService, NodeSetupResult
from hyperpod_cdk.rehearsal.hyperpod.errors import ServiceError
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, ClusterStatus
from tests.handler import random_requests as random
from tests.handler.cloudformation import STACK_ID, Delivery, Flow, Framework, Response, Stack
from tests.handler.comparison import OUTSIDE, OWN, differences, tags_of
from tests.handler.conftest import MUTATING, SHORTCUT
from tests.handler.samples import Request, cluster, properties

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

# A quarter of the usual, so that a life fits many operations; deletions are as slow as they are.
QUICK = Durations(
    prepare=15,
    launch=60,
    capacity_refused=30,
    ami_configuration=30,
    lifecycle_script=40,
    finish=15,
    roll_back=30,
    terminate=40,
    delete=80,
    root_volume=60,
    retry=60,
    min_count_timeout=1800,
    ready_timeout=900,
    deep_health_checks=MappingProxyType({"InstanceStress": 600, "InstanceConnectivity": 100}),
)
ON_EVENT_SECONDS, IS_COMPLETE_SECONDS = 14 * 60, 2 * 60
"""Timeouts of the two Lambda functions (hyperpod_cdk/cluster/provider.py)."""

CLOUDFORMATION_SECONDS = 60 * 60
"""CloudFormation waits no longer for a response."""

_clients: Clients
_vpc: Request


@pytest.fixture(scope="module")
def connected(clients: Clients) -> Iterator[None]:
    """The handler's clients, which every life shares."""
    global _clients, _vpc  # noqa: PLW0603 - hypothesis makes the machines, without arguments
    _clients = clients
    ec2 = get_backend("ec2")["123456789012"]["us-west-2"]
    vpc = ec2.create_vpc("10.0.0.0/16")
    subnet = ec2.create_subnet(vpc.id, "10.0.0.0/20", "us-west-2a")
    security_group = ec2.create_security_group("nodes", "nodes", vpc_id=vpc.id)
    _vpc = {"SecurityGroupIds": [security_group.id], "Subnets": [subnet.id]}
    SHORTCUT.watch = _watch
    SHORTCUT.connect_interfaces(clients.ec2)
    yield
    SHORTCUT.watch, SHORTCUT.service = (lambda operation, request: None), None


_life: "Lives"


def _watch(operation: str, request: Request) -> None:
    _life.watch(operation, request)


class _Stack(Stack):
    """Remembers what each request asks for, before CloudFormation makes text of it."""

    asked: dict[str, Request]

    def event(self, kind: str, new: Request, old: Request | None = None, physical_id: str = "") -> Request:
        event = super().event(kind, new, old, physical_id)
        self.asked[event["RequestId"]] = new["Request"]
        return event


class Lives(RuleBasedStateMachine):
    """One resource in one stack, from nothing to nothing, and perhaps again."""

    def __init__(self) -> None:
        super().__init__()
        global _life  # noqa: PLW0603
        _life = self
        self.service = SHORTCUT.service = _new_service()
        self.framework = Framework(advance=self.service.clock.advance, interval=20)
        self.stack = _Stack(framework=self.framework)
        self.stack.asked = {}
        self.calls: list[str] = []
        self.broken: list[str] = []
        self.flow: Flow | None = None
        self.delivery: Delivery | None = None
        self.stray: list[Delivery] = []
        self.begun = 0.0
        self.replaces = False
        self.first: Response | None = None
        self.is_first = self.was_repeated = False
        self.harm = 0
        self.expected: bool | None = None
        self.changes_nothing = False
        self.is_deleting = False
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(index, "_aws", self._aws)
        self._patch.setattr(log, "print", self._check_line, raising=False)

    def teardown(self) -> None:
        """Whatever was begun comes to an end; then leave nothing for the next life."""
        try:
            self._finish()
        finally:
            self._patch.undo()
            self.service.account.ec2.enis.clear()
            self.service.account.logs.groups.clear()

    # What the handler has, and what is seen of it.

    def _now(self) -> float:
        return self.service.clock.now().timestamp()

    def _aws(self) -> Aws:
        return Aws(clients=_clients, started=self._now(), sleep=self.service.clock.advance, now=self._now)

    def _check_line(self, line: str, **_: Any) -> None:
        if "X-Amz-Signature" in line:
            self.broken.append(f"a secret in the log: {line}")

    def watch(self, operation: str, request: Request) -> None:
        """A call that changes something goes to a cluster of ours, or makes one."""
        self.calls.append(operation)
        if operation == "CreateCluster" or not operation.startswith(MUTATING):
            return
        target = request.get("ClusterName") or request["ResourceArn"]
        found = [one for one in self.service.clusters.values() if target in (one.name, one.arn)]
        if not all(_is_mine(one) for one in found):
            self.broken.append(f"{operation} on another's cluster {target}")

    def mine(self) -> list[Cluster]:
        """The clusters of the resource."""
        return [one for one in self.service.clusters.values() if _is_mine(one)]

    @property
    def current(self) -> Request:
        """What the resource is, as CloudFormation knows it."""
        request: Request = self.stack.current["Request"]
        return request

    def _is_as_known(self) -> bool:
        """Whether the live cluster is what CloudFormation takes it for, and at rest."""
        self.service.catch_up()
        live = self.service.clusters.get(self.stack.physical_id)
        return (
            live is not None
            and _is_mine(live)
            and live.status is ClusterStatus.IN_SERVICE
            and not differences(self.current, live)
        )

    def _is_well(self) -> bool:
        """Whether nothing is left of a bad day."""
        if self.service.faults.active() or self.stray:
            return False
        if not self.stack.physical_id:
            return not self.mine()
        live = self.service.clusters.get(self.stack.physical_id)
        if live is None or not self._is_as_known():
            return False
        return all(len(live.up(group.name)) == group.target for group in live.groups.values())

    # CloudFormation and the provider framework.

    def _begin(
        self, flow: Flow, *, expected: bool | None = None, invocations: int = 1, replaces: bool = False
    ) -> None:
        """Begin what the user asks for.

        Args:
            flow: the requests that it takes.
            expected: whether it succeeds; None when either may happen.
            invocations: of on_event.
            replaces: whether two clusters may live meanwhile.
        """
        harmed = self.harm or not all(map(random.is_mild, self.service.faults.active()))
        self.expected = None if harmed and expected else expected
        self.flow, self.first, self.replaces = flow, None, replaces
        self.is_first = True
        self._send(next(flow), invocations)

    def _send(self, event: Request, invocations: int = 1) -> None:
        self.calls.clear()
        self.was_repeated = False
        note(f"{event['RequestType']} {event.get('PhysicalResourceId', '')}")
        self.begun = self.service.clock.elapsed()
        self.delivery = self.framework.begin(event, invocations=invocations)
        spent = self.service.clock.elapsed() - self.begun
        assert spent < ON_EVENT_SECONDS * invocations, f"on_event took {spent} s"
        self._take_response()

    def _take_response(self) -> None:
        assert self.delivery is not None
        response = self.delivery.response
        if response is None:
            return
        took = self.service.clock.elapsed() - self.begun
        assert took < CLOUDFORMATION_SECONDS, f"the response came after {took} s"
        note(f"{response.status} {response.physical_id} {response.reason[:400]}")
        self._check_response(self.delivery.event, response)
        self._go_on(response)

    def _go_on(self, response: Response | None) -> None:
        assert self.flow is not None
        if self.is_first:
            self.first = response
        self.is_first = self.changes_nothing = False
        try:
            event = self.flow.send(response)
        except StopIteration:
            self.flow = self.delivery = None
            self._check_end()
        else:
            self._send(event)

    def _poll(self) -> None:
        assert self.delivery is not None
        for delivery in [*self.stray, self.delivery]:
            started, before = self.service.clock.elapsed(), list(self.calls)
            self.framework.poll(delivery)
            if delivery is not self.delivery:
                self.calls = before
            spent = self.service.clock.elapsed() - started
            assert spent < IS_COMPLETE_SECONDS, f"is_complete took {spent} s"
        self.stray = [delivery for delivery in self.stray if delivery.response is None]
        self._take_response()
        self.service.clock.advance(self.framework.interval)

    def _finish(self) -> None:
        while self.delivery is not None and self.delivery.response is None:
            self._poll()

    # What must hold.

    def _check_response(self, event: Request, response: Response) -> None:
        self.service.catch_up()
        if self.changes_nothing:
            assert not [name for name in self.calls if name.startswith(MUTATING)]
        if not response.ok:
            return
        if event["RequestType"] == "Delete":
            self._check_deleted(event)
            return
        wanted = self.stack.asked[event["RequestId"]]
        live = self.service.clusters[response.physical_id]
        assert _is_mine(live)
        assert live.name == wanted["ClusterName"]
        assert live.status is ClusterStatus.IN_SERVICE
        assert differences(wanted, live) == []
        assert response.data["ClusterArn"] == live.arn
        target = f"sagemaker-cluster:{live.cluster_id}_controller-"
        assert response.data["ControllerSsmTarget"].startswith(target)

    def _check_deleted(self, event: Request) -> None:
        names = {event["PhysicalResourceId"], event["ResourceProperties"]["Request"].get("ClusterName")}
        names -= {name for _, name in self.stack.abandoned}
        assert not names & {one.name for one in self.mine()}
        if self.service.clock.elapsed() - self.begun >= NAMED_SECONDS:
            return
        living = {one.arn for one in self.service.clusters.values()}
        gone = set(event.get("Handover", {}).get("Clusters", ())) - living
        for interface in self.service.account.ec2.enis.values():
            assert not any(arn in interface.description for arn in gone), "it holds the security group"

    def _check_end(self) -> None:
        """CloudFormation is done: the one cluster is there that it knows of, and no other."""
        assert self.first is None or self.expected in (None, self.first.ok), self.first
        self.service.catch_up()
        self.is_deleting = self.is_deleting and bool(self.stack.physical_id)
        if self.stack.abandoned or self.stack.failed_update or self.is_deleting:
            return
        self.harm = 0 if self._is_well() else self.harm
        known = {self.stack.physical_id} - {""}
        assert {one.name for one in self.mine()} <= known

    @invariant()
    def nothing_is_broken(self) -> None:
        """What is seen while the handler runs, which would take an exception for AWS's."""
        assert self.broken == []

    @invariant()
    def never_two(self) -> None:
        """One cluster for one resource, but for the span of a replacement."""
        left = len(self.stack.abandoned) + 2 * (self.stack.failed_update is not None)
        assert len(self.mine()) <= 1 + self.replaces + left

    @invariant()
    def the_foreign_cluster_is_as_it_was(self) -> None:
        """Nothing of it, whatever happens."""
        if hasattr(self, "foreign"):
            assert self._foreign() == self.foreign

    def _foreign(self) -> Any:
        other = self.service.clusters[random.FOREIGN]
        return other.arn, other.status, other.request(), list(other.tags)

    # What may happen.

    @initialize(continuous=st.booleans(), with_vpc=st.booleans())
    def account(self, continuous: bool, with_vpc: bool) -> None:
        """A cluster of somebody else is there from the beginning."""
        self.continuous, self.vpc = continuous, _vpc if with_vpc else None
        self.service.call("CreateCluster", cluster(ClusterName=random.FOREIGN))
        self.service.settle()
        self.foreign = self._foreign()

    def _kind(self) -> str:
        return "" if self.delivery is None else str(self.delivery.event["RequestType"])

    def _is_idle(self) -> bool:
        return self.flow is None

    def _may_update(self) -> bool:
        idle = self._is_idle() and bool(self.stack.physical_id)
        return idle and self.stack.failed_update is None and not self.is_deleting

    @precondition(lambda self: self._is_idle() and not self.stack.physical_id)
    @rule(
        name=st.sampled_from((*random.NAMES, *random.NAMES, random.FOREIGN)),
        changes=random.edits,
        invocations=random.invocations,
        at_once=st.booleans(),
    )
    def create(self, name: str, changes: Any, invocations: int, at_once: bool) -> None:
        """A first deployment; perhaps over a name that is another's.

        Not within two minutes of a Delete that had no id and is still delivered twice: it would take the new
        cluster for the one that it was told to expect.
        """
        if self.stray:
            self.service.clock.advance(PATIENCE_SECONDS)
        request = random.first_request(name, continuous=self.continuous, vpc=self.vpc, changes=changes)
        expected = None if name in self.service.clusters else True
        flow = self.stack.creation(properties(request))
        is_foreign = name == random.FOREIGN
        self._begin(flow, expected=False if is_foreign else expected, invocations=invocations)
        if at_once:
            self._finish()

    @precondition(lambda self: self._may_update())
    @rule(changes=random.edits, invocations=random.invocations, at_once=st.booleans())
    def update(self, changes: Any, invocations: int, at_once: bool) -> None:
        """A deployment that changes the cluster in place."""
        request = random.edited(self.current, changes)
        expected = True if self._is_as_known() else None
        self._begin(self.stack.updating(properties(request)), expected=expected, invocations=invocations)
        if at_once:
            self._finish()

    @precondition(lambda self: self._may_update())
    @rule(
        kind=st.sampled_from(("rename", "nothing", "nothing", "fixed", "delete")),
        name=st.sampled_from((*random.NAMES, *random.NAMES, random.FOREIGN)),
        changes=random.edits,
        refused=random.refused,
        number=random.numbers,
    )
    def deploy(self, kind: str, name: str, changes: Any, refused: Any, number: int) -> None:
        """Another deployment."""
        {
            "rename": lambda: self._rename(name, changes),
            "nothing": lambda: self._change_nothing([("reorder", number)], expected=True),
            "fixed": lambda: self._change_nothing([("tags", number), refused], expected=False),
            "delete": self._delete,
        }[kind]()

    def _rename(self, name: str, changes: Any) -> None:
        """A deployment that replaces the cluster."""
        request = {**random.edited(self.current, changes), "ClusterName": name}
        flow = self.stack.updating(properties(request))
        expected = True if self._is_as_known() and name not in self.service.clusters else None
        self._begin(flow, expected=False if name == random.FOREIGN else expected, replaces=True)

    def _change_nothing(self, changes: Any, *, expected: bool) -> None:
        """A deployment of the same cluster in other words, or one that must be refused before any call."""
        request = random.edited(self.current, changes)
        self.changes_nothing = self._is_as_known()
        flow = self.stack.updating(properties(request))
        self._begin(flow, expected=expected if self.changes_nothing else None)

    def _delete(self) -> None:
        self.is_deleting = True
        self._begin(self.stack.deletion(), expected=True, replaces=True)

    @precondition(lambda self: self._is_idle() and (self.is_deleting or self.stack.failed_update is not None))
    @rule(invocations=random.invocations)
    def delete(self, invocations: int) -> None:
        """The end of a stack whose deletion or rollback has failed."""
        self.is_deleting = True
        self._begin(self.stack.deletion(), expected=True, invocations=invocations, replaces=True)

    @precondition(lambda self: self._is_idle() and self.stack.failed_update is not None)
    @rule()
    def continue_rollback(self) -> None:
        """What a user does about a rollback that has failed."""
        assert self.stack.failed_update is not None
        live = self.service.clusters.get(self.stack.physical_id)
        can_be = live is not None and _is_mine(live) and live.status is ClusterStatus.IN_SERVICE
        flow = self.stack.rolling_back(*self.stack.failed_update)
        self._begin(flow, expected=True if can_be else None, replaces=True)

    @precondition(lambda self: self._is_idle() and bool(self.stack.abandoned))
    @rule()
    def clean_up(self) -> None:
        """A deletion that failed is tried again."""
        self._begin(self.stack.cleaning_up(), expected=True)

    @precondition(lambda self: not self._is_idle())
    @rule(polls=st.integers(1, 4))
    def poll(self, polls: int) -> None:
        """Time goes on."""
        for _ in range(polls):
            if self.flow is not None:
                self._poll()

    @precondition(lambda self: not self._is_idle())
    @rule()
    def finish(self) -> None:
        """Time goes on until CloudFormation is done."""
        self._finish()

    @precondition(lambda self: self.delivery is not None and not self.was_repeated)
    @rule()
    def deliver_again(self) -> None:
        """The framework gets the same request a second time."""
        assert self.delivery is not None
        self.was_repeated = True
        again = self.framework.begin(self.delivery.event)
        if again.response is None:
            self.stray.append(again)

    @precondition(lambda self: self.is_first and self._kind() != "Delete" and not self.stack.failed_update)
    @rule()
    def give_up(self) -> None:
        """Another resource of the stack has failed, or the user cancels; the old waiter goes on."""
        assert self.delivery is not None
        note("given up")
        self.stray.append(self.delivery)
        self.expected = None
        self._go_on(None)

    @precondition(lambda self: self.harm < 3 and len(self.service.faults.active()) < 3)
    @rule(fault=random.faults)
    def fail(self, fault: Any) -> None:
        """Something goes wrong from here on."""
        self.service.faults.add(fault)
        if not random.is_mild(fault):
            self.harm += 1
            self.expected = None if self.expected else self.expected

    @precondition(lambda self: self.harm < 3 and bool(self.mine()))
    @rule(
        what=st.sampled_from(("scale", "scale", "tag", "tag", "patch", "patch", "delete", "disown")),
        number=random.numbers,
    )
    def meddle(self, what: str, number: int) -> None:
        """Somebody changes a cluster of ours behind the resource's back."""
        self.service.catch_up()
        mine = self.mine()
        if not mine:
            return
        one = mine[number % len(mine)]
        operation, request = _meddling(what, one)
        if what != "tag":
            self.harm += 1
            self.expected = None if self.expected else self.expected
            self.changes_nothing = False
        with suppress(ServiceError):
            SHORTCUT.answer(operation, request)

    @precondition(lambda self: self._is_idle() and bool(self.harm))
    @rule()
    def heal(self) -> None:
        """The bad day is over."""
        self.service.faults.clear()
        self.service.settle(limit=4 * 3600)
        self.stray.clear()
        self.harm = 0


def _is_mine(one: Cluster) -> bool:
    tags = tags_of(one)
    return (tags.get(f"{OWN}stack-id"), tags.get(f"{OWN}logical-id")) == (STACK_ID, "Cluster")


def _meddling(what: str, one: Cluster) -> tuple[str, Request]:
    """What somebody does to a cluster, as an API call."""
    groups = [dict(group.spec) for group in one.groups.values()]
    groups[-1]["InstanceCount"] += groups[-1]["InstanceGroupName"] != "controller"
    tag = {"Key": f"{OUTSIDE}note", "Value": "seen"}
    requests: dict[str, tuple[str, Request]] = {
        "delete": ("DeleteCluster", {"ClusterName": one.name}),
        "scale": ("UpdateCluster", {"ClusterName": one.name, "InstanceGroups": groups}),
        "tag": ("AddTags", {"ResourceArn": one.arn, "Tags": [tag]}),
        "disown": ("DeleteTags", {"ResourceArn": one.arn, "TagKeys": [f"{OWN}logical-id"]}),
        "patch": ("UpdateClusterSoftware", {"ClusterName": one.name}),
    }
    return requests[what]


def _new_service() -> HyperPodService:
    service = HyperPodService("123456789012", "us-west-2")
    service.clock.start = datetime(2026, 11, 30)
    service.check_references = False
    service.node_setup = lambda node: NodeSetupResult()
    service.durations = QUICK
    return service


@pytest.mark.usefixtures("connected")
def test_lives() -> None:
    run_state_machine_as_test(Lives, settings=SETTINGS)
