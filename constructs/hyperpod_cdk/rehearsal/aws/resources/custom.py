"""Custom resources: what CloudFormation sends to their functions, and what it makes of the answers."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any, Protocol

from moto.awslambda.utils import get_backend

from hyperpod_cdk.rehearsal.aws.resources.base import Call, Created, ResourceError
from hyperpod_cdk.rehearsal.aws.resources.mailbox import FUNCTION_SECONDS, Answer, Mailbox

SERVICE_TIMEOUT_SECONDS = 3600
"""CloudFormation waits this long for an answer unless the template says less:
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html
"""


class Invoke(Protocol):
    """Runs a function: (function as moto keeps it, event) -> its outcome."""

    def __call__(self, function: Any, event: Any) -> Any:
        """Run the function and wait for it."""


@dataclass
class _Pending:
    """A request that a function has yet to answer."""

    answered: Event = field(default_factory=Event)
    answer: Answer | None = None

    def receive(self, answer: Answer) -> None:
        """Take the first answer; further ones do not count, as with CloudFormation."""
        if self.answer is None:
            self.answer = answer
            self.answered.set()


class CustomResources:
    """Sends requests to the functions of custom resources and receives their answers.

    Args:
        mailbox: Gives the addresses that functions answer at.
        invoke: Runs a function.
        speed: How much faster than real time the embedded AWS runs; ServiceTimeout shrinks by it.
    """

    slow = True

    def __init__(self, *, mailbox: Mailbox, invoke: Invoke, speed: float) -> None:
        self._mailbox = mailbox
        self._invoke = invoke
        self._speed = speed

    def create(self, call: Call) -> Created:
        """Send Create and wait for the answer."""
        return self._send(call, "Create")

    def update(self, call: Call) -> Created:
        """Send Update; an answer with another physical id means that the resource was replaced."""
        old = {
            "OldResourceProperties": stringify(call.old_properties),
            "PhysicalResourceId": call.physical_id,
        }
        return self._send(call, "Update", **old)

    def delete(self, call: Call) -> None:
        """Send Delete and wait for the answer."""
        self._send(call, "Delete", PhysicalResourceId=call.physical_id)

    def _send(self, call: Call, request_type: str, **more: Any) -> Created:
        pending = _Pending()
        address = self._mailbox.open(pending.receive)
        event = {
            "RequestType": request_type,
            "ServiceToken": call.properties.get("ServiceToken"),
            "ResponseURL": address,
            "StackId": call.stack_id,
            "RequestId": str(uuid.uuid4()),
            "LogicalResourceId": call.logical_id,
            "ResourceType": call.type,
            "ResourceProperties": stringify(call.properties),
            **more,
        }
        try:
            self._run(call, event, pending)
            self._wait(call, pending)
        finally:
            self._mailbox.close(address)
        return _read(call, request_type, pending.answer or {})

    def _run(self, call: Call, event: Mapping[str, Any], pending: _Pending) -> None:
        try:
            backend = get_backend(call.aws.account_id, call.aws.region)
            function = backend.get_function(str(event["ServiceToken"]))
        except Exception as error:
            raise ResourceError(f"ServiceToken {event['ServiceToken']} is no function: {error}") from error

        def run() -> None:
            try:
                outcome = self._invoke(function, event)
            except Exception as error:  # whatever it was, the stack's events must tell
                _give_up(pending, f"{function.function_name} could not be run: {error!r}")
                return
            if outcome.failed:
                message = outcome.payload.get("errorMessage")
                _give_up(pending, f"{function.function_name} ended without an answer: {message}")

        Thread(target=run, name=f"custom-{call.logical_id}", daemon=True).start()

    def _wait(self, call: Call, pending: _Pending) -> None:
        limit = float(call.properties.get("ServiceTimeout", SERVICE_TIMEOUT_SECONDS))
        # Waits run faster than real time, the functions themselves do not.
        if not pending.answered.wait(max(limit / self._speed, min(limit, FUNCTION_SECONDS))):
            raise ResourceError(
                "CloudFormation did not receive a response from your Custom Resource. "
                f"Please check your logs. (ServiceTimeout {limit:.0f} s at {self._speed:g} times real time)"
            )


def _give_up(pending: _Pending, reason: str) -> None:
    """Fail at once where the real CloudFormation would wait out its hour for an answer that cannot come."""
    pending.receive({"Status": "FAILED", "Reason": reason})


def _read(call: Call, request_type: str, answer: Mapping[str, Any]) -> Created:
    physical_id = str(
        answer.get("PhysicalResourceId") or (call.existing.physical_id if call.existing else "")
    )
    if answer.get("Status") != "SUCCESS":
        # A failed creation is deleted by the id that its answer names.
        left = physical_id if request_type == "Create" else ""
        message = f"Message returned: {answer.get('Reason')}"
        raise ResourceError(
            f"Received response status [FAILED] from custom resource. {message}", physical_id=left
        )
    if not physical_id:
        raise ResourceError("Invalid PhysicalResourceId: the answer of the custom resource names none")
    return Created(physical_id=physical_id, attributes=answer.get("Data") or {})


def stringify(value: Any) -> Any:
    """Turn numbers and booleans into strings, as CloudFormation does with what it hands to functions."""
    if isinstance(value, list):
        return [stringify(item) for item in value]
    if isinstance(value, Mapping):
        return {key: stringify(item) for key, item in value.items()}
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value
