"""One resource in one stack: what there is, and what can be seen of it."""

from typing import Any

import pytest
from handler import index, log
from handler.clients import Aws
from hypothesis.stateful import RuleBasedStateMachine

from hyperpod_cdk.rehearsal.hyperpod.state import ClusterStatus
from tests.handler.cloudformation import Delivery, Flow, Framework, Response, Stack
from tests.handler.comparison import differences
from tests.handler.conftest import MUTATING, SHORTCUT, is_mark
from tests.handler.lives.world import WORLD, is_mine, new_service
from tests.handler.samples import Request


class AskedStack(Stack):
    """Remembers what each request asks for, before CloudFormation makes text of it."""

    asked: dict[str, Request]

    def event(self, kind: str, new: Request, old: Request | None = None, physical_id: str = "") -> Request:
        event = super().event(kind, new, old, physical_id)
        self.asked[event["RequestId"]] = new["Request"]
        return event


class Life(RuleBasedStateMachine):
    """The service, the stack and the request that is on its way.

    Attributes:
        calls: operations that the request on its way has called.
        broken: what must not happen, seen while the handler ran, which would take an exception for AWS's.
        flow: what CloudFormation is about to ask for; None while it is idle.
        delivery: the request on its way.
        stray: requests that were delivered twice or given up, and are still polled.
        late: a request that was given up and may still make something, and when its function began.
        started: when the function that runs began; None for just now.
        expected: whether what the user asked for succeeds; None when either may happen.
        harm: how much went wrong that an operation may fail of.
    """

    def __init__(self) -> None:
        super().__init__()
        self.service = SHORTCUT.service = new_service()
        self.framework = Framework(advance=self.service.clock.advance, interval=20)
        self.stack = AskedStack(framework=self.framework)
        self.stack.asked = {}
        self.calls: list[str] = []
        self.broken: list[str] = []
        self.flow: Flow | None = None
        self.delivery: Delivery | None = None
        self.stray: list[Delivery] = []
        self.late: tuple[Request, float] | None = None
        self.started: float | None = None
        self.begun = 0.0
        self.replaces = False
        self.first: Response | None = None
        self.is_first = self.was_repeated = False
        self.harm = 0
        self.expected: bool | None = None
        self.changes_nothing = False
        self.is_deleting = False
        SHORTCUT.watch = self.watch
        self._patch = pytest.MonkeyPatch()
        self._patch.setattr(index, "_aws", self._aws)
        self._patch.setattr(log, "print", self._check_line, raising=False)

    def _now(self) -> float:
        return self.service.clock.now().timestamp()

    def _aws(self) -> Aws:
        started = self._now() if self.started is None else self.started
        return Aws(clients=WORLD.clients, started=started, sleep=self.service.clock.advance, now=self._now)

    def _check_line(self, line: str, **_: Any) -> None:
        if "X-Amz-Signature" in line:
            self.broken.append(f"a secret in the log: {line}")

    def watch(self, operation: str, request: Request) -> None:
        """A call that changes something goes to a cluster of ours, or makes one."""
        if not is_mark(operation, request):
            self.calls.append(operation)
        if operation == "CreateCluster" or not operation.startswith(MUTATING):
            return
        target = request.get("ClusterName") or request["ResourceArn"]
        found = [one for one in self.service.clusters.values() if target in (one.name, one.arn)]
        if not all(is_mine(one) for one in found):
            self.broken.append(f"{operation} on another's cluster {target}")

    def mine(self) -> list[Any]:
        """The clusters of the resource."""
        return [one for one in self.service.clusters.values() if is_mine(one)]

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
            and is_mine(live)
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
