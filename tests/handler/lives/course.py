"""How time goes on: CloudFormation asks, the provider framework calls and polls."""

from typing import Any

import pytest
from handler.patience import PATIENCE_SECONDS, UNANSWERED_SECONDS
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from tests.handler import random_requests as random
from tests.handler.cloudformation import Delivery, Flow, Framework, Response
from tests.handler.conftest import CALLS, MARK, MUTATING
from tests.handler.samples import Request

ON_EVENT_SECONDS, IS_COMPLETE_SECONDS = 14 * 60, 5 * 60
"""Timeouts of the two Lambda functions (hyperpod_cdk/cluster/provider.py)."""

THEN = st.sampled_from(("slowly", "slowly", "at once", "at once", "overtaken"))
"""How a creation goes on."""

CLOUDFORMATION_SECONDS = 60 * 60
"""CloudFormation waits no longer for a response."""


class Course(RuleBasedStateMachine):
    """Requests, each sent when the one before has its response; for a life to be mixed with."""

    _check_response: Any
    _check_end: Any
    # of the life that it is mixed with
    service: Any
    framework: Framework
    harm: int
    calls: list[str]
    stack: Any
    stray: list[Delivery]
    late: tuple[Request, float] | None
    started: float | None
    mine: Any
    _now: Any
    delivery: Delivery | None
    flow: Flow | None
    first: Response | None
    _patch: pytest.MonkeyPatch

    def teardown(self) -> None:
        """Whatever was begun comes to an end; then leave nothing for the next life."""
        try:
            self._finish()
        finally:
            self._patch.undo()
            self.service.account.ec2.enis.clear()
            self.service.account.logs.groups.clear()
            CALLS.clear()

    def _begin(
        self,
        flow: Flow,
        *,
        expected: bool | None = None,
        invocations: int = 1,
        replaces: bool = False,
        overtaken: bool = False,
    ) -> None:
        """Begin what the user asks for.

        Args:
            flow: the requests that it takes.
            expected: whether it succeeds; None when either may happen.
            invocations: of on_event.
            replaces: whether two clusters may live meanwhile.
            overtaken: the request is given up before its function has done anything.
        """
        harmed = self.harm or not all(map(random.is_mild, self.service.faults.active()))
        self.expected = None if harmed and expected else expected
        self.flow, self.first, self.replaces = flow, None, replaces
        self.is_first = True
        if overtaken:
            note("given up at once")
            self.expected = None
            self.late = (next(flow), self._now())
            self.service.clock.advance(1)
            self._go_on(None)
        else:
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

    def _let_strays_pass(self) -> None:
        """A request that was given up, or is polled twice, would take what is new for what it waits for."""
        if self.stray:
            self.service.clock.advance(UNANSWERED_SECONDS)

    def _kind(self) -> str:
        return "" if self.delivery is None else str(self.delivery.event["RequestType"])

    def _is_idle(self) -> bool:
        return self.flow is None

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
        event = {**self.delivery.event, "PhysicalResourceId": self.stack.physical_id}
        if self.stack.identity(self.stack.asked[event["RequestId"]]) != self.stack.physical_id:
            self.late = (event, self._now())
        self.expected = None
        self._go_on(None)

    @precondition(lambda self: self.late is not None and (not self._is_idle() or self._is_late_in_place()))
    @rule()
    def straggle(self) -> None:
        """The function of a request that was given up still runs, and makes what it was asked for.

        An update in place that sees the mark of a newer one makes nothing.
        """
        assert self.late is not None
        event, since = self.late
        is_overtaken = self._is_late_in_place() and self._is_marked(event, since)
        self.late = None
        if self._now() - since >= UNANSWERED_SECONDS - PATIENCE_SECONDS:
            return
        note("made late")
        before, self.calls, self.started = self.calls, [], since
        again = self.framework.begin(event)
        made, self.calls, self.started = self.calls, before, None
        assert not (is_overtaken and [name for name in made if name.startswith(MUTATING)]), made
        if again.response is None:
            self.stray.append(again)

    def _is_late_in_place(self) -> bool:
        assert self.late is not None
        event, _ = self.late
        asked = self.stack.identity(self.stack.asked[event["RequestId"]])
        return bool(asked == event.get("PhysicalResourceId"))

    def _is_marked(self, event: Request, since: float) -> bool:
        """Whether a newer update has left its mark on what the resource has."""
        marks = [tag["Value"].split("/") for one in self.mine() for tag in one.tags if tag["Key"] == MARK]
        return any(request != event["RequestId"] and int(begun) > since for request, begun in marks)
