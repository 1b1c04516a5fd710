"""The quota is at rest: is it what was asked for, and is anything left to send?"""

from typing import Any

from ..clients import Aws
from ..errors import QuotaFailedError
from ..event import Event
from ..log import log
from ..ownership import is_ours, read_tags
from ..pending import Pending, forget_pending, note_pending, pending_of
from .converge import NOTHING, UNSENT, as_asked_for, send
from .difference import changes, paths
from .live import UPDATE_FAILED, Live
from .request import desired_of, lenient_desired_of

NOT_COMPLETE: dict[str, Any] = {"IsComplete": False}


def settle(event: Event, live: Live, aws: Aws) -> dict[str, Any]:
    """Compare a quota at rest with the request; send what had to wait.

    Returns:
        As is_complete does.

    Raises:
        QuotaFailedError: the update failed, the service did not keep it, or the quota is another's.
        RefusedError: what had to wait can not be sent.
    """
    tags = read_tags(aws, live.arn)
    if not is_ours(tags, event):
        raise QuotaFailedError(
            f"the compute quota {live.name} is not this stack's ({live.arn}) and is not touched"
        )
    note = pending_of(tags)
    mine = note if note and note.request_id == event.request_id else None
    if note and not mine and event.handover.get("Pending"):
        raise QuotaFailedError(f"a newer update of compute quota {live.name} took the place of this one")
    desired = desired_of(event.properties, aws)
    version = _sent_version(event, mine)
    if mine and not version:
        taken_over = event.handover.get("TakenOver")
        old = as_asked_for(live) if taken_over else lenient_desired_of(event.old_properties, aws)
        version = send(aws, desired=desired, old=old, live=live, patient=False)
        if version != NOTHING:
            if version != UNSENT:
                sent = Pending(request_id=event.request_id, step=str(version), since=int(aws.now()))
                note_pending(aws, live.arn, sent)
            return NOT_COMPLETE
    elif live.version < version:
        return NOT_COMPLETE  # what was sent a moment ago is not shown yet
    if live.status in UPDATE_FAILED:
        raise _failed(event, live, aws, mine)
    wrong = changes(desired, desired, live)
    if wrong:
        raise _not_kept(event, live, paths(wrong), aws, mine)
    if mine:
        forget_pending(aws, live.arn)
    log("quota is what was asked for", operation=event.kind, quota=live.id, version=live.version)
    return {"IsComplete": True, "Data": attributes(live)}


def attributes(live: Live) -> dict[str, str]:
    """Give the custom resource's Data: always the same keys.

    Source of the names: DG sagemaker-hyperpod-eks-operate-console-ui-governance-cli.
    """
    namespace = f"hyperpod-ns-{live.team}"
    return {
        "ComputeQuotaArn": live.arn,
        "ComputeQuotaId": live.id,
        "TeamName": live.team,
        "Namespace": namespace,
        "QueueName": f"{namespace}-localqueue",
    }


def explain(live: Live, headline: str) -> str:
    """Say why a quota failed, in the service's words behind ours.

    Args:
        live: the quota.
        headline: what failed.
    """
    reason = live.description.get("FailureReason") or "the service gives no reason"
    return f"{headline} ({live.status}): {reason} ({live.arn})"


def _sent_version(event: Event, mine: Pending | None) -> int:
    """The version that this request's update makes; 0 while it has not been sent."""
    if mine and mine.step.isdigit():
        return int(mine.step)
    return int(event.handover.get("Version", 0))


def _failed(event: Event, live: Live, aws: Aws, mine: Pending | None) -> QuotaFailedError:
    if mine:
        forget_pending(aws, live.arn)
    return QuotaFailedError(explain(live, f"{event.kind} of compute quota {live.name} failed"))


def _not_kept(event: Event, live: Live, wrong: str, aws: Aws, mine: Pending | None) -> QuotaFailedError:
    if mine:
        forget_pending(aws, live.arn)
    return QuotaFailedError(
        f"{event.kind} of compute quota {live.name} failed: version {live.version} of it has another "
        f"{wrong}. The service did not keep what was sent, or somebody changed it since ({live.arn})"
    )
