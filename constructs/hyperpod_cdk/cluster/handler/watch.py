"""Waiting otherwise than until the cluster is in service: less long, or longer than CloudFormation's hour.

A custom resource has an hour, a WaitCondition up to 12. When the custom resource answers, a state machine
goes on asking in its place, and tells the condition.
"""

import hashlib
import json
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from .clients import Aws
from .failure import explain
from .live import Live, find
from .log import log
from .ownership import pending_of, read_tags
from .reason import REASON_BYTES, shorten
from .request import Desired, Event, Wait
from .result import attributes

HAND_OVER_SECONDS = 45 * 60
"""When a cluster that is not in service yet is left to the state machine; below the handler's own limit."""

_UNDER_WAY = frozenset({"Creating", "Updating", "SystemUpdating"})
_LOST = frozenset({"Failed", "Deleting"})


def released(event: Event, desired: Desired, aws: Aws) -> dict[str, Any] | None:
    """Answer for a cluster that is still on its way, if that is what was asked for.

    Returns:
        The attributes, or None while there is more to wait for or to send.
    """
    waited = aws.now() - event.handover["Since"]
    if desired.wait is Wait.IN_SERVICE or (desired.watch and waited < HAND_OVER_SECONDS):
        return None
    live = find(aws, event.physical_id)
    if live is None or live.status not in _UNDER_WAY:
        return None
    note = pending_of(read_tags(aws, live.arn))
    if note and note.request_id == event.request_id:
        return None
    return attributes(aws, live, desired)


def hand_over(event: Event, desired: Desired, aws: Aws) -> None:
    """Let the state machine go on waiting; a second call for the same condition changes nothing."""
    if not desired.watch:
        return
    handle = desired.watch["Handle"]
    name = hashlib.sha256(handle.encode()).hexdigest()[:40]
    watched = {"ClusterName": event.physical_id, "Minimum": minimum_counts(desired), "Handle": handle}
    try:
        aws.states.start_execution(
            stateMachineArn=desired.watch["StateMachine"], name=name, input=json.dumps(watched)
        )
    except aws.states.exceptions.ExecutionAlreadyExists:
        log("cluster is watched already", cluster=event.physical_id, execution=name)
        return
    log("cluster is watched from now on", cluster=event.physical_id, execution=name)


def minimum_counts(desired: Desired) -> dict[str, int]:
    """Nodes that each group must have, by the group's name.

    Continuous provisioning: MinInstanceCount, whose default is 1 for controller and login and else 0
    (https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html, 2026-10). All at
    once: every node.
    """
    continuous = desired.request.get("NodeProvisioningMode") == "Continuous"
    return {
        group["InstanceGroupName"]: _minimum(group) if continuous else group["InstanceCount"]
        for group in desired.request.get("InstanceGroups", ())
    }


def _minimum(group: Mapping[str, Any]) -> int:
    if "MinInstanceCount" in group:
        return int(group["MinInstanceCount"])
    serves = group.get("SlurmConfig", {}).get("NodeType") in ("Controller", "Login")
    return min(int(serves), int(group["InstanceCount"]))


def look(
    watched: Mapping[str, Any], aws: Aws, *, put: Callable[[str, dict[str, str]], None] | None = None
) -> dict[str, bool]:
    """Ask once; tell the condition when there is something to tell.

    Args:
        watched: what :func:`hand_over` left.
        aws: the way to AWS.
        put: sends the signal. Default: to the condition's address.

    Returns:
        ``Done``, by which the state machine goes on or ends.
    """
    live = find(aws, watched["ClusterName"])
    verdict = _verdict(watched, live, aws)
    if verdict is None:
        return {"Done": False}
    status, reason = verdict
    log("condition is told", cluster=watched["ClusterName"], status=status, reason=reason)
    (put or _put)(
        watched["Handle"],
        {"Status": status, "UniqueId": watched["ClusterName"], "Reason": reason, "Data": reason},
    )
    return {"Done": True}


def _verdict(watched: Mapping[str, Any], live: Live | None, aws: Aws) -> tuple[str, str] | None:
    if live is None:
        return "FAILURE", f"cluster {watched['ClusterName']} is gone"
    if live.status in _LOST:
        headline = f"cluster {live.name} did not come up: its status is {live.status}"
        return "FAILURE", shorten(explain(aws, live, headline), REASON_BYTES)
    counts = {
        group["InstanceGroupName"]: group.get("CurrentCount", 0)
        for group in live.description.get("InstanceGroups", ())
    }
    missing = {
        name: f"{counts.get(name, 0)} of {wanted}"
        for name, wanted in watched["Minimum"].items()
        if counts.get(name, 0) < wanted
    }
    if live.status == "InService" and not missing:
        return "SUCCESS", "every instance group has its minimum of nodes"
    log("cluster watched", cluster=live.name, status=live.status, missing=missing)
    return None


def _put(address: str, signal: dict[str, str]) -> None:
    # the address is signed for an empty content type
    request = urllib.request.Request(
        address, data=json.dumps(signal).encode(), method="PUT", headers={"Content-Type": ""}
    )
    with urllib.request.urlopen(request, timeout=30):
        return
