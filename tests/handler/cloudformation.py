"""CloudFormation and CDK's provider framework, as far as a custom resource meets them.

Follows aws-cdk-lib 2.275.0, custom-resources/lib/provider-framework/runtime.
"""

import itertools
import json
from collections.abc import Callable
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
class Framework:
    """CDK's provider framework: calls on_event, then is_complete until it is done or time is up."""

    advance: Callable[[float], None]
    interval: float = 60
    timeout: float = 55 * 60
    before_poll: Callable[[int], None] = lambda number: None
    responses: list[Response] = field(default_factory=list)

    def run(self, event: Request) -> Response:
        if event["RequestType"] == "Delete" and event["PhysicalResourceId"] == FAILED_CREATE:
            return self._respond("SUCCESS", event)
        try:
            result = self._call(index.on_event, event)
        except Exception as error:
            return self._failed(event, error)
        physical_id = (
            result.get("PhysicalResourceId") or event.get("PhysicalResourceId") or event["RequestId"]
        )
        if event["RequestType"] == "Delete":
            assert physical_id == event["PhysicalResourceId"]
        return self.wait({**event, **result, "PhysicalResourceId": physical_id})

    def wait(self, event: Request) -> Response:
        """Poll, as the waiter's state machine does."""
        polls = int(self.timeout / self.interval)
        for number in range(1, polls + 1):
            self.before_poll(number)
            try:
                answer = self._call(index.is_complete, event)
            except Exception as error:
                return self._failed(event, error, polls=number)
            if answer["IsComplete"]:
                return self._respond("SUCCESS", event, data=answer.get("Data", {}), polls=number)
            assert set(answer) == {"IsComplete"}, "Data with IsComplete false makes the framework throw"
            self.advance(self.interval)
        return self._respond("FAILED", event, reason="Operation timed out", polls=polls)

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


@dataclass(kw_only=True)
class Stack:
    """A stack with one custom resource, in which CloudFormation rolls back what fails."""

    framework: Framework
    stack_id: str = STACK_ID
    logical_id: str = "Cluster"
    physical_id: str = ""
    current: Request = field(default_factory=dict)

    def event(self, kind: str, new: Request, old: Request | None = None, physical_id: str = "") -> Request:
        event = {
            "RequestType": kind,
            "RequestId": f"00000000-0000-4000-8000-{next(REQUEST_NUMBERS):012d}",
            "StackId": self.stack_id,
            "LogicalResourceId": self.logical_id,
            "ResourceType": "Custom::HyperPodCluster",
            "ResourceProperties": stringified(new),
        }
        if old is not None:
            event["OldResourceProperties"] = stringified(old)
        return {**event, "PhysicalResourceId": physical_id} if physical_id else event

    def create(self, request: Request, **further: Any) -> Response:
        """Create; a failure is followed by the Delete that CloudFormation sends."""
        new = properties(request, **further)
        response = self.framework.run(self.event("Create", new))
        if response.ok:
            self.physical_id, self.current = response.physical_id, new
        else:
            self.framework.run(self.event("Delete", new, physical_id=response.physical_id))
        return response

    def update(self, request: Request, **further: Any) -> Response:
        """Update; a failure is rolled back, a replacement followed by the Delete of the old one."""
        new = properties(request, **further)
        before = self.physical_id
        response = self.framework.run(self.event("Update", new, self.current, before))
        if not response.ok:
            self.roll_back(new, response.physical_id)
        elif response.physical_id != before:
            self.framework.run(self.event("Delete", self.current, physical_id=before))
            self.physical_id, self.current = response.physical_id, new
        else:
            self.current = new
        return response

    def roll_back(self, failed: Request, physical_id: str) -> Response:
        """The Update with old and new swapped, and the Delete of what a failed replacement made."""
        back = self.framework.run(self.event("Update", self.current, failed, physical_id))
        if back.ok and back.physical_id != physical_id:
            self.framework.run(self.event("Delete", failed, physical_id=physical_id))
        return back

    def delete(self) -> Response:
        response = self.framework.run(self.event("Delete", self.current, physical_id=self.physical_id))
        if response.ok:
            self.physical_id, self.current = "", {}
        return response

    @property
    def last(self) -> Response:
        """The last response, of a rollback's event if there was one."""
        return self.framework.responses[-1]
