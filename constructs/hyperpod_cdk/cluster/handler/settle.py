"""The cluster is in service: is it what was asked for, and is anything left to send?"""

from typing import Any

from .autoscaling import is_up
from .clients import Aws
from .errors import ClusterFailedError, RefusedError
from .event import Event
from .failure import explain
from .live import Live, as_request
from .log import log
from .ownership import is_ours, read_tags
from .pending import Pending, forget_pending, note_pending, pending_of
from .plan import Plan, make_plan
from .request import Desired, desired_of, lenient_desired_of
from .result import attributes
from .step import send

GRACE_SECONDS = 60
"""How long after an update is sent the cluster may still show the state before it."""

NOT_COMPLETE: dict[str, Any] = {"IsComplete": False}


def settle(event: Event, live: Live, aws: Aws) -> dict[str, Any]:
    """Compare a cluster in service with the request; send what had to wait.

    Returns:
        As is_complete does.

    Raises:
        ClusterFailedError: the service did not keep what was sent, or could not set autoscaling up, or the
            cluster is another's.
        RefusedError: what had to wait can not be sent.
    """
    tags = read_tags(aws, live.arn)
    if not is_ours(tags, event):
        raise ClusterFailedError(
            f"the cluster {live.name} is not this stack's ({live.arn}) and is not touched"
        )
    if live.is_losing_groups:
        return NOT_COMPLETE
    note = pending_of(tags)
    mine = note if note and note.request_id == event.request_id else None
    if note and not mine and event.handover.get("Pending"):
        raise ClusterFailedError(f"a newer update of cluster {live.name} took the place of this one")
    desired = desired_of(event.properties, aws)
    plan = make_plan(
        aws, desired=desired, old=_before(event, live, desired, mine, aws), live=as_request(aws, live)
    )
    if plan.refusals:
        raise RefusedError("\n".join(plan.refusals))
    if mine and plan.steps and plan.steps[0].key != mine.step:
        if send(aws, live.name, plan.steps[0], patient=False):
            sent = Pending(request_id=event.request_id, step=plan.steps[0].key, since=int(aws.now()))
            note_pending(aws, live.arn, sent)
        return NOT_COMPLETE
    lost = _lost(event, plan)
    if lost:
        return _not_kept(event, live, lost, mine, aws)
    if not is_up(event, live, desired, aws):
        return NOT_COMPLETE
    return _complete(event, live, desired, mine, aws)


def _before(event: Event, live: Live, desired: Desired, mine: Pending | None, aws: Aws) -> Desired:
    """The request that tells what the service does not show.

    Until something is sent it is the last one. Then it is the one asked for: what was sent counts as kept,
    unless the service says that something has failed.
    """
    failed = "Sent" in event.handover and live.description.get("FailureMessage")
    sent = mine is None or mine.step
    return desired if sent and not failed else lenient_desired_of(event.old_properties, aws)


def _lost(event: Event, plan: Plan) -> list[str]:
    """What the cluster should have and has not.

    Of a cluster just made only the groups and their counts can be lost, when the service gave up on nodes.
    Any other difference is the service's spelling of what it was given.
    """
    if "Sent" in event.handover:
        return plan.summary if plan.steps else []
    return [
        change.path for change in plan.changes if change.name == "InstanceCount" or change.path.endswith("]")
    ]


def _not_kept(event: Event, live: Live, lost: list[str], mine: Pending | None, aws: Aws) -> dict[str, Any]:
    since = mine.since if mine else event.handover["Since"]
    if aws.now() - since < GRACE_SECONDS:
        return NOT_COMPLETE
    headline = (
        f"{event.kind} of cluster {live.name} failed: in service again, but the service did not keep "
        f"{', '.join(lost)}"
    )
    if mine:
        forget_pending(aws, live.arn)
    raise ClusterFailedError(explain(aws, live, headline))


def _complete(event: Event, live: Live, desired: Desired, mine: Pending | None, aws: Aws) -> dict[str, Any]:
    data = attributes(aws, live, desired)
    if mine:
        forget_pending(aws, live.arn)
    log("cluster is what was asked for", operation=event.kind, cluster=live.name)
    return {"IsComplete": True, "Data": data}
