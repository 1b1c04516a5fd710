"""What may happen: to the stack, to the service, and behind the resource's back."""

from contextlib import suppress
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from hyperpod_cdk.rehearsal.hyperpod import NotYetListed, NotYetVisible
from hyperpod_cdk.rehearsal.hyperpod.errors import ServiceError
from hyperpod_cdk.rehearsal.hyperpod.governance import Governed
from tests.handler.comparison import OUTSIDE, OWN
from tests.handler.conftest import SHORTCUT
from tests.handler.lives.course import THEN, Course
from tests.handler.quota.lives import random_quotas as random
from tests.handler.quota.lives.life import QuotaLife, is_disowned, is_mine
from tests.handler.quota.samples import physical_id, there
from tests.handler.random_requests import is_mild
from tests.handler.samples import Request, properties

_UNSEEN = (NotYetListed, NotYetVisible)
teams = st.sampled_from((*random.TEAMS, *random.TEAMS, random.FOREIGN))


def _more(entry: Request) -> Request:
    """More of what the entry says; what it does not say is the service's."""
    part = next(name for name in entry if name != "InstanceType")
    value = entry[part]
    return {**entry, part: {**value, "Count": value["Count"] + 1} if isinstance(value, dict) else value + 1}


def meddling(what: str, one: Governed) -> tuple[str, Request]:
    """What somebody does to a quota, as an API call."""
    config = one.content["ComputeQuotaConfig"]
    entries = [_more(entry) for entry in config["ComputeQuotaResources"]]
    update = {"ComputeQuotaId": one.id, "TargetVersion": one.version}
    tag = {"Key": f"{OUTSIDE}note", "Value": "seen"}
    requests: dict[str, tuple[str, Request]] = {
        "delete": ("DeleteComputeQuota", {"ComputeQuotaId": one.id}),
        "change": (
            "UpdateComputeQuota",
            {**update, "ComputeQuotaConfig": {**config, "ComputeQuotaResources": entries}},
        ),
        "touch": ("UpdateComputeQuota", {**update, "ComputeQuotaTarget": one.content["ComputeQuotaTarget"]}),
        "tag": ("AddTags", {"ResourceArn": one.arn, "Tags": [tag]}),
        "disown": ("DeleteTags", {"ResourceArn": one.arn, "TagKeys": [f"{OWN}logical-id"]}),
    }
    return requests[what]


class QuotaLives(Course, QuotaLife):
    """From nothing to nothing, and perhaps again."""

    def _may_update(self) -> bool:
        idle = self._is_idle() and bool(self.stack.physical_id)
        return idle and self.stack.failed_update is None and not self.is_deleting

    def _is_taken(self, request: Request) -> bool:
        """Whether name or team is taken in the cluster, by whomever."""
        names = {request["Name"], request["ComputeQuotaTarget"]["TeamName"]}
        return any(
            one.cluster_arn == request["ClusterArn"] and {one.name, one.team} & names
            for one in there(self.service)
        )

    @precondition(lambda self: self._is_idle() and not self.stack.physical_id)
    @rule(team=teams, changes=random.edits, invocations=random.invocations, then=THEN)
    def create(self, team: str, changes: Any, invocations: int, then: str) -> None:
        """A first deployment; perhaps for a team that has a quota."""
        self._let_strays_pass()
        request = random.first_request(self.clusters[0], team, changes)
        expected = None if self._is_taken(request) else True
        flow = self.stack.creation(properties(request))
        is_foreign = team == random.FOREIGN
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
        """A deployment that changes the quota in place."""
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
        kind=st.sampled_from(("rename", "move", "nothing", "nothing", "fixed", "delete")),
        team=teams,
        changes=random.edits,
        refused=random.refused,
        overtaken=st.sampled_from((False, False, False, True)),
    )
    def deploy(self, kind: str, team: str, changes: Any, refused: Any, *, overtaken: bool) -> None:
        """Another deployment."""
        {
            "rename": lambda: self._replace(
                {"Name": team, "ComputeQuotaTarget": {"TeamName": team}}, changes, overtaken=overtaken
            ),
            "move": lambda: self._replace(
                {"ClusterArn": self._other_cluster()}, changes, overtaken=overtaken
            ),
            "nothing": lambda: self._change_nothing([("reorder", 0)], expected=True),
            "fixed": lambda: self._change_nothing([("tags", 5), refused], expected=False),
            "delete": self._delete,
        }[kind]()

    def _other_cluster(self) -> str:
        first, second = self.clusters
        return second if self.current["ClusterArn"] == first else first

    def _replace(self, members: Request, changes: Any, *, overtaken: bool) -> None:
        """A deployment that replaces the quota, or is none."""
        self._let_strays_pass()
        request = random.edited({**self.current, **members}, changes)
        expected = True if self._is_as_known() else None
        if physical_id(request) != self.stack.physical_id and self._is_taken(request):
            is_foreign = (request["ClusterArn"], request["Name"]) == (self.clusters[0], random.FOREIGN)
            expected = False if is_foreign else None
        self._begin(
            self.stack.updating(properties(request)),
            expected=expected,
            replaces=True,
            overtaken=overtaken and physical_id(request) != self.stack.physical_id,
        )

    def _change_nothing(self, changes: Any, *, expected: bool) -> None:
        """A deployment of the same quota in other words, or one that must be refused before any call."""
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
        live = self._live()
        can_be = live is not None and is_mine(live) and live.status in ("Created", "Updated")
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
        """Something goes wrong from here on; one thing at a time is not visible yet."""
        if isinstance(fault, _UNSEEN) and any(
            isinstance(one, _UNSEEN) for one in self.service.faults.active()
        ):
            return
        self.service.faults.add(fault)
        if not is_mild(fault):
            self.harm += 1
            self.expected = None if self.expected else self.expected

    @precondition(lambda self: self.harm < 3 and bool(self.mine()))
    @rule(
        what=st.sampled_from(("change", "change", "touch", "touch", "tag", "delete", "disown")),
        number=random.numbers,
    )
    def meddle(self, what: str, number: int) -> None:
        """Somebody changes a quota of ours behind the resource's back."""
        mine = self.mine()
        operation, request = meddling(what, mine[number % len(mine)])
        if what != "tag":
            self.harm += 1
            self.expected = None if self.expected else self.expected
            self.changes_nothing = False
        with suppress(ServiceError):
            SHORTCUT.answer(operation, request)

    @precondition(lambda self: self._is_idle() and bool(self.harm))
    @rule()
    def heal(self) -> None:
        """The bad day is over. A quota that lost a tag is deleted by hand, as its failed Delete asks."""
        self.service.faults.clear()
        self.service.settle(limit=4 * 3600)
        for lost in [one.id for one in there(self.service) if is_disowned(one)]:
            SHORTCUT.answer("DeleteComputeQuota", {"ComputeQuotaId": lost})
        self.service.settle(limit=4 * 3600)
        self.stray.clear()
        self.harm = 0
