"""is_complete: what each status means for each operation.

Polls only read, but for two calls that are sent again: a deletion that the cluster was too busy for, and an
update that had to wait for its turn (see ``update``).
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from .clients import Aws
from .delete import candidates, delete_if_ours, delete_logs
from .errors import AWS_ERRORS, ClusterFailedError, code_of, is_permission_delay, is_transient
from .event import Event
from .failure import explain
from .interfaces import lingers
from .live import find
from .log import log
from .ownership import is_made_by, read_tags
from .patience import PATIENCE_SECONDS
from .request import Desired, lenient_desired_of
from .settle import NOT_COMPLETE, settle
from .watch import hand_over, released

GIVE_UP_SECONDS = 53 * 60
"""When to give up with a reason, before the provider framework does without one (after 55 minutes)."""


class Outcome(StrEnum):
    """What a poll does about a status."""

    WAIT = "wait"
    CHECK = "check"
    FAIL = "fail"


OUTCOMES: Mapping[str, Outcome] = {
    "Creating": Outcome.WAIT,
    "Updating": Outcome.WAIT,
    "SystemUpdating": Outcome.WAIT,
    "RollingBack": Outcome.WAIT,
    "InService": Outcome.CHECK,
    "Failed": Outcome.FAIL,
    "Deleting": Outcome.FAIL,
}
"""By ClusterStatus, for Create and Update. A deletion asks again in every status but Deleting."""


def is_complete(event: Event, aws: Aws) -> dict[str, Any]:
    """Say whether the operation is done.

    Returns:
        ``{"IsComplete": False}``, or that it is, with the attributes in Data.

    Raises:
        ClusterFailedError: it will not succeed; with the reason.
    """
    answer = _poll(event, aws)
    waited = aws.now() - event.handover["Since"]
    if not answer["IsComplete"] and waited > GIVE_UP_SECONDS:
        raise ClusterFailedError(_overdue(event, aws))
    return answer


def _poll(event: Event, aws: Aws) -> dict[str, Any]:
    try:
        if event.kind == "Delete":
            return _delete(event, aws)
        answer = _made_or_updated(event, aws)
        if answer["IsComplete"]:
            hand_over(event, lenient_desired_of(event.properties, aws), aws)
        return answer
    except AWS_ERRORS as error:
        if is_transient(error) or (_is_young(event, aws) and is_permission_delay(error)):
            log("poll failed, the next one may not", level="WARNING", code=code_of(error), reason=str(error))
            return NOT_COMPLETE
        raise


def _overdue(event: Event, aws: Aws) -> str:
    """Say what an operation was waiting for when its time ran out."""
    late = f"{event.kind} took longer than the {GIVE_UP_SECONDS // 60} minutes that CloudFormation leaves it"
    name = lenient_desired_of(event.properties, aws).name or event.physical_id
    leftover = event.handover.get("Leftover")
    try:
        left = find(aws, leftover) if leftover else None
        live = left or find(aws, name)
    except AWS_ERRORS as error:
        return f"{late}; the cluster {name} can not be seen: {error}"
    if left is not None:
        return (
            f"{late}; the cluster {left.name} of the failed replacement is still there ({left.status}). "
            "Continue the rollback: it deletes that cluster, which the deletion of the stack would not"
        )
    if live is None:
        return f"{late}; the cluster {name} is gone, but network interfaces still hold its security groups"
    return explain(aws, live, f"{late}: cluster {name} is {live.status}")


def _made_or_updated(event: Event, aws: Aws) -> dict[str, Any]:
    leftover = event.handover.get("Leftover")
    if leftover and delete_if_ours(event, leftover, aws) is not None:
        return NOT_COMPLETE
    live = find(aws, event.physical_id)
    if live is None and _is_young(event, aws):
        return NOT_COMPLETE  # made a moment ago, it may not be visible yet
    doubt = event.handover.get("Doubt")
    if doubt and (live is None or not is_made_by(read_tags(aws, live.arn), event)):
        raise ClusterFailedError(doubt)
    if live is None:
        raise ClusterFailedError(
            f"cluster {event.physical_id} is gone: it was deleted outside of CloudFormation"
        )
    log("cluster polled", operation=event.kind, cluster=live.name, status=live.status)
    outcome = OUTCOMES.get(live.status, Outcome.WAIT)
    if outcome is Outcome.FAIL:
        raise ClusterFailedError(
            explain(aws, live, f"{event.kind} of cluster {live.name} failed: its status is {live.status}")
        )
    if outcome is Outcome.CHECK:
        return settle(event, live, aws)
    data = released(event, lenient_desired_of(event.properties, aws), aws)
    return {"IsComplete": True, "Data": data} if data else NOT_COMPLETE


def _is_young(event: Event, aws: Aws) -> bool:
    return bool(aws.now() - event.handover["Since"] < PATIENCE_SECONDS)


def _delete(event: Event, aws: Aws) -> dict[str, Any]:
    desired = lenient_desired_of(event.properties, aws)
    unanswered = event.physical_id != desired.name
    left = _left_unanswered(event, aws) if unanswered else _left(event, aws)
    # A Create that has not answered yet may be asking for its cluster for as long as its patience lasts.
    if left or (unanswered and _is_young(event, aws)):
        log("cluster polled", operation=event.kind, clusters=left)
        return NOT_COMPLETE
    waited = aws.now() - event.handover["Since"]
    names = _names_on_interfaces(event, desired, aws)
    if names and lingers(aws, security_groups=desired.security_groups, names=names, waited=waited):
        return NOT_COMPLETE
    if desired.removes_logs:
        delete_logs(event, aws)
    return {"IsComplete": True}


def _left(event: Event, aws: Aws) -> list[str]:
    """By ARN where it is known: a poll that outlives its request must spare a later cluster of that name."""
    clusters = event.handover.get("Clusters", candidates(event, aws))
    return [cluster for cluster in clusters if delete_if_ours(event, cluster, aws) is not None]


def _left_unanswered(event: Event, aws: Aws) -> list[str]:
    """By name, since the cluster may come after the Delete, but no longer than a Create goes on asking."""
    until = event.handover["Since"] + PATIENCE_SECONDS
    return [
        name
        for name in candidates(event, aws)
        if delete_if_ours(event, name, aws, made_until=until) is not None
    ]


def _names_on_interfaces(event: Event, desired: Desired, aws: Aws) -> list[str]:
    """What our interfaces call the cluster: its ARN and id, or its name if it was gone before we saw it.

    A name that is another's now is nothing to wait for.
    """
    arns = event.handover.get("Clusters", ())
    if arns:
        return [part for arn in arns for part in (arn, arn.rsplit("/", 1)[-1])]
    return [desired.name] if desired.name and find(aws, desired.name) is None else []
