"""Autoscaling that an operation turns on: the service may still set it up in a cluster that is in service."""

from typing import Any

from .clients import Aws
from .errors import ClusterFailedError
from .event import Event
from .live import Live
from .request import Desired, lenient_desired_of


def is_up(event: Event, live: Live, desired: Desired, aws: Aws) -> bool:
    """Say whether autoscaling is there, as far as this operation has turned it on.

    What was on before may fail at any time, and fails no operation: a rollback could not pass either.

    Raises:
        ClusterFailedError: the service could not set it up; with the service's reason.
    """
    if not _is_turned_on(event, desired, aws):
        return True
    shown: dict[str, Any] = live.description.get("AutoScaling") or {}
    if shown.get("Status") == "Failed":
        reason = shown.get("FailureMessage") or "the service gives no reason"
        raise ClusterFailedError(
            f"{event.kind} of cluster {live.name} failed: autoscaling could not be set up: {reason}"
        )
    return shown.get("Status") != "Creating"


def _is_turned_on(event: Event, desired: Desired, aws: Aws) -> bool:
    before = event.kind == "Update" and _is_on(lenient_desired_of(event.old_properties, aws))
    return _is_on(desired) and not before


def _is_on(desired: Desired) -> bool:
    return bool(desired.request.get("AutoScaling", {}).get("Mode") == "Enable")
