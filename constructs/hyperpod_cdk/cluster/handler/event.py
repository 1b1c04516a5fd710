"""What CloudFormation asks for: the provider framework's event, whatever the resource."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import RefusedError

EVENT_BYTES = 262_144 - 8_192
"""What an event may take: the provider framework hands it to a state machine, with a signed address and what
on_event returned (262,144: Step Functions API reference, LambdaFunctionScheduledEventDetails, input)."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """A request of CloudFormation, as the provider framework hands it over.

    ``resource_type`` is ``Custom::…``. ``physical_id`` is empty on Create. ``handover`` is what on_event left
    for is_complete. ``size`` is the event's own, in bytes.
    """

    kind: str
    request_id: str
    stack_id: str
    logical_id: str
    physical_id: str
    properties: Mapping[str, Any]
    resource_type: str = ""
    old_properties: Mapping[str, Any] = field(default_factory=dict)
    handover: Mapping[str, Any] = field(default_factory=dict)
    size: int = 0


def event_of(raw: Mapping[str, Any]) -> Event:
    """Read the provider framework's event."""
    return Event(
        kind=raw["RequestType"],
        request_id=raw.get("RequestId", ""),
        stack_id=raw["StackId"],
        logical_id=raw["LogicalResourceId"],
        physical_id=raw.get("PhysicalResourceId", ""),
        properties=raw.get("ResourceProperties") or {},
        resource_type=raw.get("ResourceType", ""),
        old_properties=raw.get("OldResourceProperties") or {},
        handover=raw.get("Handover") or {},
        size=len(json.dumps(raw, ensure_ascii=False, separators=(",", ":"), default=str).encode()),
    )


def check_size(event: Event) -> None:
    """Refuse an event that on_event could answer, and nothing after it.

    The framework fails when it can not start its waiter, and would then forget a cluster that was made. What
    is made must also be updated one day, by an event with the request before beside the new one.

    Raises:
        RefusedError: the event is too long.
    """
    most = EVENT_BYTES // 2 if event.kind == "Create" else EVENT_BYTES
    if event.size > most:
        raise RefusedError(
            f"Request: {event.kind} of {event.size} bytes; CDK's provider framework takes {most}. "
            "Ask for fewer instance groups, or for fewer labels and taints"
        )
