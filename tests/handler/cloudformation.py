"""CloudFormation and CDK's provider framework, as far as a custom resource meets them.

Follows aws-cdk-lib 2.275.0, custom-resources/lib/provider-framework/runtime.
"""

import itertools
import json
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from handler import index

from tests.handler.samples import Request, properties, stringified

FAILED_CREATE = "AWSCDK::CustomResourceProviderFramework::CREATE_FAILED"
STACK_ID = "arn:aws:cloudformation:us-west-2:123456789012:stack/ml/6a1c0d60-0000-11ef-8000-0a5dcb1e0f00"
RESPONSE_URL = "https://cloudformation-custom-resource-response.example/?X-Amz-Signature=secret"
REQUEST_NUMBERS = itertools.count(1)
JS_STACK = "\n".join(
    f"    at {frame}"
    for frame in (
        "invokeUserFunction (/var/task/framework.js:2:6)",
        "process.processTicksAndRejections (node:internal/process/task_queues:105:5)",
        "async isComplete (/var/task/framework.js:1:2462)",
        "async /var/task/cfn-response.js:1:1884",
    )
)


@dataclass(frozen=True, kw_only=True)
class Response:
    """What CloudFormation is told."""

    status: str
    reason: str
    physical_id: str
    data: dict[str, str]
    polls: int

    @property
    def ok(self) -> bool:
        return self.status == "SUCCESS"


@dataclass(kw_only=True)
class Delivery:
    """A request on its way through the framework: on_event was called, is_complete is polled.

    Args:
        event: what is_complete is called with.
        response: None until there is one.
    """

    event: Request
    polls: int = 0
    response: Response | None = None


@dataclass(kw_only=True)
class Framework:
    """CDK's provider framework: calls on_event, then is_complete until it is done or time is up."""

    advance: Callable[[float], None]
    interval: float = 60
    timeout: float = 55 * 60
    before_poll: Callable[[int], None] = lambda number: None
    responses: list[Response] = field(default_factory=list)

    def run(self, event: Request) -> Response:
        """Take a request to its response."""
        return self._to_the_end(self.begin(event))

    def wait(self, event: Request) -> Response:
        """Poll from here on, as the waiter's state machine does."""
        return self._to_the_end(Delivery(event=event))

    def begin(self, event: Request, *, invocations: int = 1) -> Delivery:
        """Call on_event.

        Args:
            event: CloudFormation's.
            invocations: how often; the framework's client repeats a call whose answer it has not got, and
                the last answer counts.
        """
        delivery = Delivery(event=event)
        if event["RequestType"] == "Delete" and event["PhysicalResourceId"] == FAILED_CREATE:
            delivery.response = self._respond("SUCCESS", event)
            return delivery
        for number in range(invocations):
            try:
                result = self._call(index.on_event, event)
            except Exception as error:
                if number == invocations - 1:
                    delivery.response = self._failed(event, error)
                continue
            physical_id = (
                result.get("PhysicalResourceId") or event.get("PhysicalResourceId") or event["RequestId"]
            )
            if event["RequestType"] == "Delete":
                assert physical_id == event["PhysicalResourceId"], "the framework throws"
            delivery.event = {**event, **result, "PhysicalResourceId": physical_id}
        return delivery

    def poll(self, delivery: Delivery) -> None:
        """Call is_complete; the waiter does at once, and again after each interval."""
        delivery.polls += 1
        self.before_poll(delivery.polls)
        try:
            answer = self._call(index.is_complete, delivery.event)
        except Exception as error:
            delivery.response = self._failed(delivery.event, error, polls=delivery.polls)
            return
        if answer["IsComplete"]:
            data = {**delivery.event.get("Data", {}), **answer.get("Data", {})}
            delivery.response = self._respond("SUCCESS", delivery.event, data=data, polls=delivery.polls)
            return
        assert set(answer) == {"IsComplete"}, "Data with IsComplete false makes the framework throw"
        if delivery.polls > self.timeout / self.interval:  # the first try, and MaxAttempts more
            reason = "Operation timed out"
            delivery.response = self._respond("FAILED", delivery.event, reason=reason, polls=delivery.polls)

    def _to_the_end(self, delivery: Delivery) -> Response:
        while delivery.response is None:
            self.poll(delivery)
            if delivery.response is None:
                self.advance(self.interval)
        return delivery.response

    def _call(self, function: Callable[[Any, object], Any], event: Request) -> Any:
        sent = json.loads(json.dumps({**event, "ResponseURL": RESPONSE_URL}))
        return json.loads(json.dumps(function(sent, None)))

    def _failed(self, event: Request, error: Exception, *, polls: int = 0) -> Response:
        event = dict(event)
        if "PhysicalResourceId" not in event:
            event["PhysicalResourceId"] = FAILED_CREATE
        logs = "Logs: /aws/lambda/ml-ClusterProviderOnEvent1A2B3C4D-AbCdEfGhIjKl"
        reason = f"Error: {error}\n\n{logs}\n\n{JS_STACK}"
        return self._respond("FAILED", event, reason=reason, polls=polls)

    def _respond(
        self, status: str, event: Request, *, reason: str = "", data: Any = None, polls: int = 0
    ) -> Response:
        body = {
            "Status": status,
            "Reason": reason or status,
            **{
                key: event[key] for key in ("StackId", "RequestId", "LogicalResourceId", "PhysicalResourceId")
            },
            "Data": data or {},
        }
        size = len(json.dumps(body, ensure_ascii=False).encode())
        assert size <= 4096, f"Response object is too long: {size} bytes"
        response = Response(
            status=status,
            reason=reason,
            physical_id=event["PhysicalResourceId"],
            data=data or {},
            polls=polls,
        )
        self.responses.append(response)
        return response


Flow = Generator[Request, Response | None, None]
"""Requests of CloudFormation, each sent when the one before has its response; None for one given up."""


@dataclass(kw_only=True)
class Stack:
    """A stack with one custom resource, in which CloudFormation rolls back what fails.

    Args:
        framework: what the requests go to.
        stack_id: the stack's ARN.
        logical_id: of the resource.
        resource_type: of the resource.
        identity: what a request's resource is called, and CloudFormation knows it by.
        physical_id: what CloudFormation knows the resource by; empty without one.
        current: properties of the resource as it was last made or updated.
        failed_update: properties and physical id of an update whose rollback has not succeeded.
        abandoned: properties and physical ids whose Delete has failed.
    """

    framework: Framework
    stack_id: str = STACK_ID
    logical_id: str = "Cluster"
    resource_type: str = "Custom::HyperPodCluster"
    identity: Callable[[Request], str] = lambda request: str(request["ClusterName"])
    physical_id: str = ""
    current: Request = field(default_factory=dict)
    failed_update: tuple[Request, str] | None = None
    abandoned: list[tuple[Request, str]] = field(default_factory=list)

    def event(self, kind: str, new: Request, old: Request | None = None, physical_id: str = "") -> Request:
        event = {
            "RequestType": kind,
            "RequestId": f"00000000-0000-4000-8000-{next(REQUEST_NUMBERS):012d}",
            "StackId": self.stack_id,
            "LogicalResourceId": self.logical_id,
            "ResourceType": self.resource_type,
            "ResourceProperties": stringified(new),
        }
        if old is not None:
            event["OldResourceProperties"] = stringified(old)
        return {**event, "PhysicalResourceId": physical_id} if physical_id else event

    def create(self, request: Request, **further: Any) -> Response:
        """Create; a failure is followed by the Delete that CloudFormation sends."""
        return self._first(self.creation(properties(request, **further)))

    def update(self, request: Request, **further: Any) -> Response:
        """Update; a failure is rolled back, a replacement followed by the Delete of the old one."""
        return self._first(self.updating(properties(request, **further)))

    def roll_back(self, failed: Request, physical_id: str) -> Response:
        """The Update with old and new swapped, and the Delete of what a failed replacement made."""
        return self._first(self.rolling_back(failed, physical_id))

    def delete(self) -> Response:
        return self._first(self.deletion())

    def creation(self, new: Request) -> Flow:
        """What CloudFormation asks for to create the resource, request by request."""
        response = yield self.event("Create", new)
        if response is not None and response.ok:
            self.physical_id, self.current = response.physical_id, new
            return
        # an id that CloudFormation makes up when it gives up on a Create that has not answered
        known = response.physical_id if response is not None else f"{self.logical_id}-1ABCDEFGHIJKL"
        yield from self._remove(new, known)

    def updating(self, new: Request) -> Flow:
        """What CloudFormation asks for to update the resource."""
        before = self.physical_id
        response = yield self.event("Update", new, self.current, before)
        if response is None or not response.ok:
            # CloudFormation never hears of the new id of an update that it has cancelled
            yield from self.rolling_back(new, response.physical_id if response is not None else before)
            return
        old, self.current, self.physical_id = self.current, new, response.physical_id
        if response.physical_id != before:
            yield from self._remove(old, before)

    def rolling_back(self, failed: Request, physical_id: str) -> Flow:
        """What CloudFormation asks for to undo a failed update."""
        self.failed_update = (failed, physical_id)
        back = yield self.event("Update", self.current, failed, physical_id)
        if back is None or not back.ok:
            return
        self.failed_update = None
        self.physical_id = back.physical_id
        if back.physical_id != physical_id:
            yield from self._remove(failed, physical_id)

    def deletion(self) -> Flow:
        """What CloudFormation asks for to delete the resource, and what a failed update left of it.

        Of a replacement that was given up it knows nothing: only a rollback that succeeds deletes that.
        """
        if self.failed_update is not None:
            failed, physical_id = self.failed_update
            if physical_id != self.physical_id:
                yield from self._remove(failed, physical_id)
            elif self.identity(failed["Request"]) != physical_id:
                self.abandoned.append((failed, self.identity(failed["Request"])))
        response = yield self.event("Delete", self.current, physical_id=self.physical_id)
        if response is not None and response.ok:
            self.physical_id, self.current, self.failed_update = "", {}, None

    def cleaning_up(self) -> Flow:
        """The deletions that failed, once more."""
        for old, physical_id in tuple(self.abandoned):
            response = yield self.event("Delete", old, physical_id=physical_id)
            if response is not None and response.ok:
                self.abandoned.remove((old, physical_id))

    def _remove(self, old: Request, physical_id: str) -> Flow:
        response = yield self.event("Delete", old, physical_id=physical_id)
        if response is None or not response.ok:
            self.abandoned.append((old, physical_id))

    def _first(self, flow: Flow) -> Response:
        """Take a flow to its end; its first response is what the user's request came to."""
        first = response = self.framework.run(next(flow))
        with suppress(StopIteration):
            while True:
                response = self.framework.run(flow.send(response))
        return first

    @property
    def last(self) -> Response:
        """The last response, of a rollback's event if there was one."""
        return self.framework.responses[-1]
