"""Autoscaling that an operation turns on: the service may still set it up in a cluster that is in service."""

from typing import Any

from ..core.kind import Turn, Verdict
from .live import Live
from .request import Desired


def judge_autoscaling(turn: Turn[Desired, Live]) -> Verdict | None:
    """Tell that autoscaling is still to come, or could not be set up; None when it is there.

    As far as this operation has turned it on: what was on before may fail at any time, and fails no update,
    or a rollback could not pass either.
    """
    if not _is_on(turn.desired) or (turn.event.kind == "Update" and turn.old and _is_on(turn.old)):
        return None
    shown: dict[str, Any] = turn.live.description.get("AutoScaling") or {}
    if shown.get("Status") == "Failed":
        reason = shown.get("FailureMessage") or "the service gives no reason"
        headline = f"{turn.event.kind} of cluster {turn.live.name} failed: autoscaling could not be set up"
        return Verdict(lost=f"{headline}: {reason}")
    return Verdict() if shown.get("Status") == "Creating" else None


def _is_on(desired: Desired) -> bool:
    return bool(desired.request.get("AutoScaling", {}).get("Mode") == "Enable")
