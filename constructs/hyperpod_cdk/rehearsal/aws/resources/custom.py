"""Custom resources: what CloudFormation sends to their functions, and what it makes of the answers."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Protocol

from moto.awslambda.utils import get_backend

from hyperpod_cdk.rehearsal.aws.resources.base import Call, Created, ResourceError

#: Where functions answer, below the endpoint.
ANSWERS = "/cloudformation-answers/"
#: CloudFormation waits this long for an answer unless the template says less.
#: https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-cloudformation-customresource.html
SERVICE_TIMEOUT_SECONDS = 3600
#: Real seconds that functions get at least, however fast the embedded AWS runs.
FUNCTION_SECONDS = 120.0


class Invoke(Protocol):
    """Runs a function: (function as moto keeps it, event) -> its outcome."""

    def __call__(self, function: Any, event: Any) -> Any:
        """Run the function and wait for it."""


@dataclass
class _Pending:
    """A request that a function has yet to answer."""

    answered: Event
    answer: dict[str, Any] | None = None


class CustomResources:
    """Sends requests to the functions of custom resources and receives their answers.

    Args:
        endpoint: Where the embedded AWS listens, as the functions see it.
        invoke: Runs a function.
        speed: How much faster than real time the embedded AWS runs; ServiceTimeout shrinks by it.
    """

    slow = True

    def __init__(self, *, endpoint: Callable[[], str], invoke: Invoke, speed: float) -> None:
        self._endpoint = endpoint
        self._invoke = invoke
        self._speed = speed
        self._pending: dict[str, _Pending] = {}

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

    def receiver(self, path: str) -> Callable[[bytes], None] | None:
        """Give what takes the body of an answer sent to a path; None where nobody waits there."""
        pending = self._pending.get(path.removeprefix(ANSWERS)) if path.startswith(ANSWERS) else None
        if pending is None:
            return None

        def receive(body: bytes) -> None:
            # The first answer counts, as with CloudFormation's presigned addresses.
            if pending.answer is None:
                pending.answer = json.loads(body)
                pending.answered.set()

        return receive

    def _send(self, call: Call, request_type: str, **more: Any) -> Created:
        token = str(uuid.uuid4())
        pending = self._pending[token] = _Pending(answered=Event())
        event = {
            "RequestType": request_type,
            "ServiceToken": call.properties.get("ServiceToken"),
            "ResponseURL": f"{self._endpoint()}{ANSWERS}{token}",
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
            del self._pending[token]
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
    if pending.answer is None:
        pending.answer = {"Status": "FAILED", "Reason": reason}
        pending.answered.set()


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
