"""What may happen: to the stack, to the service, and behind the resource's back."""

from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from hyperpod_cdk.rehearsal.hyperpod.errors import ServiceError
from hyperpod_cdk.rehearsal.hyperpod.state import ClusterStatus
from tests.handler import random_requests as random
from tests.handler.conftest import SHORTCUT
from tests.handler.lives.course import THEN, Course
from tests.handler.lives.promises import Promises
from tests.handler.lives.world import WORLD, is_disowned, is_mine, meddling
from tests.handler.samples import cluster, properties


class Lives(Course, Promises):
    """From nothing to nothing, and perhaps again."""

    @initialize(continuous=st.booleans(), with_vpc=st.booleans())
    def account(self, continuous: bool, with_vpc: bool) -> None:
        """A cluster of somebody else is there from the beginning."""
        self.continuous, self.vpc = continuous, WORLD.vpc if with_vpc else None
        self.service.call("CreateCluster", cluster(ClusterName=random.FOREIGN))
        self.service.settle()
        self.foreign = self._foreign()

    def _may_update(self) -> bool:
        idle = self._is_idle() and bool(self.stack.physical_id)
        return idle and self.stack.failed_update is None and not self.is_deleting

    @precondition(lambda self: self._is_idle() and not self.stack.physical_id)
    @rule(
        name=st.sampled_from((*random.NAMES, *random.NAMES, random.FOREIGN)),
        changes=random.edits,
        invocations=random.invocations,
        then=THEN,
    )
    def create(self, name: str, changes: Any, invocations: int, then: str) -> None:
        """A first deployment; perhaps over a name that is another's."""
        self._let_strays_pass()
        request = random.first_request(name, continuous=self.continuous, vpc=self.vpc, changes=changes)
        expected = None if name in self.service.clusters else True
        flow = self.stack.creation(properties(request))
        is_foreign = name == random.FOREIGN
        self._begin(
            flow,
            expected=False if is_foreign else expected,
            invocations=invocations,
            overtaken=then == "overtaken",
        )
        if then == "at once":
            self._finish()

    @precondition(lambda self: self._may_update())
    @rule(changes=random.edits, invocations=random.invocations, then=THEN)
    def update(self, changes: Any, invocations: int, then: str) -> None:
        """A deployment that changes the cluster in place."""
        request = random.edited(self.current, changes)
        expected = True if self._is_as_known() else None
        self._begin(
            self.stack.updating(properties(request)),
            expected=expected,
            invocations=invocations,
            overtaken=then == "overtaken",
        )
        if then == "at once":
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
            "rename": lambda: self._rename(name, changes, overtaken=number % 4 == 3),
            "nothing": lambda: self._change_nothing([("reorder", number)], expected=True),
            "fixed": lambda: self._change_nothing([("tags", number), refused], expected=False),
            "delete": self._delete,
        }[kind]()

    def _rename(self, name: str, changes: Any, *, overtaken: bool) -> None:
        """A deployment that replaces the cluster."""
        self._let_strays_pass()
        request = {**random.edited(self.current, changes), "ClusterName": name}
        flow = self.stack.updating(properties(request))
        expected = True if self._is_as_known() and name not in self.service.clusters else None
        expected = False if name == random.FOREIGN else expected
        self._begin(
            flow, expected=expected, replaces=True, overtaken=overtaken and name != self.stack.physical_id
        )

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
        can_be = live is not None and is_mine(live) and live.status is ClusterStatus.IN_SERVICE
        flow = self.stack.rolling_back(*self.stack.failed_update)
        self._begin(flow, expected=True if can_be else None, replaces=True)

    @precondition(lambda self: self._is_idle() and bool(self.stack.abandoned))
    @rule()
    def clean_up(self) -> None:
        """A deletion that failed is tried again."""
        self._begin(self.stack.cleaning_up(), expected=True)

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
        operation, request = meddling(what, one)
        if what != "tag":
            self.harm += 1
            self.expected = None if self.expected else self.expected
            self.changes_nothing = False
        with suppress(ServiceError):
            SHORTCUT.answer(operation, request)

    @precondition(lambda self: self._is_idle() and bool(self.harm))
    @rule()
    def heal(self) -> None:
        """The bad day is over. A cluster that lost a tag is deleted by hand, as its failed Delete asks."""
        self.service.faults.clear()
        self.service.settle(limit=4 * 3600)
        for lost in [one.name for one in self.service.clusters.values() if is_disowned(one)]:
            SHORTCUT.answer("DeleteCluster", {"ClusterName": lost})
        self.service.settle(limit=4 * 3600)
        self.stray.clear()
        self.harm = 0
