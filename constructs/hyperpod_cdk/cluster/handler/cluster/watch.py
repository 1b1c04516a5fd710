"""Waiting otherwise than until the cluster is in service: less long, or longer than CloudFormation's hour.

A custom resource has an hour, a WaitCondition up to 12. When the custom resource answers, a state machine
goes on asking in its place, and tells the condition.
"""

import hashlib
import json
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from ..clients import Aws
from ..event import Event
from ..log import log
from ..ownership import read_tags
from ..pending import pending_of
from ..reason import REASON_BYTES, shorten
from .live import Live, find
from .reasons import explain
from .request import FORM, Desired, Wait
from .result import attributes

HAND_OVER_SECONDS = 45 * 60
"""When a cluster that is not in service yet is left to the state machine; below the handler's own limit."""

_SPARE_SECONDS = 5 * 60
"""How long before the condition runs out of time it is told so: what runs out by itself tells no reason."""

_UNDER_WAY = frozenset({"Creating", "Updating", "SystemUpdating"})
_LOST = frozenset({"Failed", "Deleting"})


def released(event: Event, live: Live, aws: Aws) -> dict[str, str] | None:
    """Answer for a cluster that is still on its way, if that is what was asked for.

    Returns:
        The attributes, or None while there is more to wait for or to send.
    """
    desired = FORM.read_leniently(event.properties, aws)
    waited = aws.now() - event.handover["Since"]
    if desired.wait is Wait.IN_SERVICE or (desired.watch and waited < HAND_OVER_SECONDS):
        return None
    if live.status not in _UNDER_WAY:
        return None
    note = pending_of(read_tags(aws, live.arn))
    if note and note.request_id == event.request_id:
        return None
    return attributes(aws, live, desired)


def hand_over(event: Event, aws: Aws) -> None:
    """Let the state machine go on waiting; a second call for the same condition changes nothing."""
    desired = FORM.read_leniently(event.properties, aws)
    if not desired.watch:
        return
    handle = desired.watch["Handle"]
    name = hashlib.sha256(handle.encode()).hexdigest()[:40]
    watched = {
        "ClusterName": event.physical_id,
        "Minimum": minimum_counts(desired),
        "Handle": handle,
        "Until": int(aws.now() + float(desired.watch["Seconds"]) - _SPARE_SECONDS),
    }
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
        watched: what :func:`hand_over` left, and the state machine's Error when it can look no more.
        aws: the way to AWS.
        put: sends the signal. Default: to the condition's address.

    Returns:
        ``Done``, by which the state machine goes on or ends.
    """
    verdict = _unseen(watched) or _verdict(watched, find(aws, watched["ClusterName"]), aws)
    if verdict is None:
        return {"Done": False}
    status, reason = verdict
    log("condition is told", cluster=watched["ClusterName"], status=status, reason=reason)
    (put or _put)(
        watched["Handle"],
        {"Status": status, "UniqueId": watched["ClusterName"], "Reason": reason, "Data": reason},
    )
    return {"Done": True}


def _unseen(watched: Mapping[str, Any]) -> tuple[str, str] | None:
    """The state machine gives up: each of its looks has failed."""
    error = watched.get("Error")
    if error is None:
        return None
    reason = (
        f"cluster {watched['ClusterName']} can not be watched: {error.get('Error')}: {error.get('Cause')}"
    )
    return "FAILURE", shorten(reason, REASON_BYTES)


def _verdict(watched: Mapping[str, Any], live: Live | None, aws: Aws) -> tuple[str, str] | None:
    if live is None:
        return "FAILURE", f"cluster {watched['ClusterName']} is gone"
    if live.status in _LOST:
        headline = f"cluster {live.name} did not come up: its status is {live.status}"
        return "FAILURE", explain(aws, live, headline)
    missing = _missing(watched["Minimum"], live, "CurrentCount")
    if live.status == "InService" and not missing:
        return "SUCCESS", "every instance group has its minimum of nodes"
    given_up = _missing(watched["Minimum"], live, "TargetCount") if live.status == "InService" else {}
    if given_up:
        headline = f"the service gave up on nodes, or somebody lowered the counts: {_told(given_up)}"
        return "FAILURE", explain(aws, live, headline)
    if aws.now() >= watched["Until"]:
        headline = f"time ran out: cluster {live.name} is {live.status}, and has of {_told(missing)}"
        return "FAILURE", explain(aws, live, headline)
    log("cluster watched", cluster=live.name, status=live.status, missing=missing)
    return None


def _missing(minimum: Mapping[str, int], live: Live, member: str) -> dict[str, str]:
    """The groups that are below their minimum in a count that DescribeCluster shows."""
    shown = {
        group["InstanceGroupName"]: group.get(member, 0)
        for group in live.description.get("InstanceGroups", ())
    }
    return {
        name: f"{shown.get(name, 0)} of {least}"
        for name, least in minimum.items()
        if shown.get(name, 0) < least
    }


def _told(counts: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())


def _put(address: str, signal: dict[str, str]) -> None:
    # the address is signed for an empty content type
    request = urllib.request.Request(
        address, data=json.dumps(signal).encode(), method="PUT", headers={"Content-Type": ""}
    )
    with urllib.request.urlopen(request, timeout=30):
        return
