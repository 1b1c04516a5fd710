"""is_complete: what each status means for each operation."""

import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, QuotaFailedError, code_of, is_permission_delay, is_transient
from ..event import Event
from ..log import log
from ..ownership import is_made_by, read_tags
from ..patience import PATIENCE_SECONDS
from .delete import candidates, delete_if_ours
from .live import DELETE_FAILED, Live, find, look, summaries
from .request import lenient_desired_of
from .settle import NOT_COMPLETE, explain, settle

GIVE_UP_SECONDS = 53 * 60
"""When to give up with a reason, before the provider framework does without one (after 55 minutes)."""

DELETE_SECONDS = 10 * 60
"""How long a deletion that failed is asked for again, before its reason is told."""


LISTED_SECONDS = 30
"""How long after a Delete that found nothing a list may still come to show what was there before it."""


class Outcome(StrEnum):
    """What a poll does about a status."""

    WAIT = "wait"
    CHECK = "check"
    FAIL = "fail"


OUTCOMES: Mapping[str, Outcome] = {
    "Creating": Outcome.WAIT,
    "CreateFailed": Outcome.FAIL,
    "CreateRollbackFailed": Outcome.FAIL,
    "Created": Outcome.CHECK,
    "Updating": Outcome.WAIT,
    # an update that waits for its turn may follow one that failed
    "UpdateFailed": Outcome.CHECK,
    "UpdateRollbackFailed": Outcome.CHECK,
    "Updated": Outcome.CHECK,
    "Deleting": Outcome.FAIL,
    "DeleteFailed": Outcome.FAIL,
    "DeleteRollbackFailed": Outcome.FAIL,
}
"""By SchedulerResourceStatus, for Create and Update; what is Deleted counts as gone."""


def is_complete(event: Event, aws: Aws) -> dict[str, Any]:
    """Say whether the operation is done.

    Returns:
        ``{"IsComplete": False}``, or that it is, with the attributes in Data.

    Raises:
        QuotaFailedError: it will not succeed; with the reason.
    """
    answer = _poll(event, aws)
    if not answer["IsComplete"] and aws.now() - event.handover["Since"] > GIVE_UP_SECONDS:
        raise QuotaFailedError(_overdue(event, aws))
    return answer


def _poll(event: Event, aws: Aws) -> dict[str, Any]:
    try:
        return _delete(event, aws) if event.kind == "Delete" else _made_or_updated(event, aws)
    except AWS_ERRORS as error:
        if is_transient(error) or (_is_young(event, aws) and is_permission_delay(error)):
            log("poll failed, the next one may not", level="WARNING", code=code_of(error), reason=str(error))
            return NOT_COMPLETE
        raise


def _overdue(event: Event, aws: Aws) -> str:
    late = f"{event.kind} took longer than the {GIVE_UP_SECONDS // 60} minutes that CloudFormation leaves it"
    name = lenient_desired_of(event.properties, aws).name or event.physical_id
    try:
        live = _find(event, aws)
    except AWS_ERRORS as error:
        return f"{late}; the compute quota {name} can not be seen: {error}"
    if live is None:
        return f"{late}; the compute quota {name} is gone"
    return explain(live, f"{late}: compute quota {name}")


def _find(event: Event, aws: Aws) -> Live | None:
    quota_id = event.handover.get("Quota")
    return look(aws, quota_id) if quota_id else find(aws, event.physical_id)


def _made_or_updated(event: Event, aws: Aws) -> dict[str, Any]:
    if _leaves(event, aws):
        return NOT_COMPLETE
    live = _find(event, aws)
    if live is None and _is_young(event, aws):
        return NOT_COMPLETE  # made a moment ago, it may not be visible yet
    doubt = event.handover.get("Doubt")
    if doubt and (live is None or not is_made_by(read_tags(aws, live.arn), event)):
        raise QuotaFailedError(doubt)
    if live is None:
        raise QuotaFailedError(
            f"compute quota {event.physical_id} is gone: it was deleted outside of CloudFormation"
        )
    log("quota polled", operation=event.kind, quota=live.id, status=live.status, version=live.version)
    outcome = OUTCOMES.get(live.status, Outcome.WAIT)
    if outcome is Outcome.FAIL:
        raise QuotaFailedError(explain(live, f"{event.kind} of compute quota {live.name} failed"))
    return settle(event, live, aws) if outcome is Outcome.CHECK else NOT_COMPLETE


def _leaves(event: Event, aws: Aws) -> bool:
    """Whether what a failed replacement made may still be there; asks for its deletion."""
    leftover, since = event.handover.get("Leftover"), event.handover["Since"]
    if not leftover:
        return False
    unlisted = "/" in leftover
    live = delete_if_ours(event, leftover, aws, made_until=since if unlisted else math.inf)
    return live is not None or (unlisted and aws.now() - since < LISTED_SECONDS)


def _is_young(event: Event, aws: Aws) -> bool:
    return bool(aws.now() - event.handover["Since"] < PATIENCE_SECONDS)


def _delete(event: Event, aws: Aws) -> dict[str, Any]:
    desired = lenient_desired_of(event.properties, aws)
    unanswered = event.physical_id != desired.physical_id
    left = _left_unanswered(event, aws) if unanswered else _left(event, aws)
    waited = aws.now() - event.handover["Since"]
    failed = [live for live in left if live.status in DELETE_FAILED]
    if failed and waited > DELETE_SECONDS:
        raise QuotaFailedError(explain(failed[0], f"compute quota {failed[0].name} can not be deleted"))
    # A Create that has not answered yet may be asking for its quota for as long as its patience lasts.
    asking = unanswered and _is_young(event, aws)
    unlisted = not event.handover.get("Quotas") and waited < LISTED_SECONDS
    if left or asking or unlisted:
        log("quota polled", operation=event.kind, quotas=[live.id for live in left])
        return NOT_COMPLETE
    return {"IsComplete": True}


def _left(event: Event, aws: Aws) -> list[Live]:
    """By id where it is known: a poll that outlives its request must spare a later quota of that name."""
    quotas = event.handover.get("Quotas")
    if not quotas:
        return _asked(event, candidates(event, aws), aws, made_until=event.handover["Since"])
    return _asked(event, quotas, aws) or _listed(event, quotas, aws)


def _listed(event: Event, quotas: Iterable[str], aws: Aws) -> list[Live]:
    """What a list still shows: Describe may not know yet what was made a moment ago."""
    names = [one.partition("/")[-1] for one in candidates(event, aws)]
    shown = (summary for name in names for summary in summaries(aws, NameContains=name))
    return [Live(description=summary) for summary in shown if summary["ComputeQuotaId"] in quotas]


def _left_unanswered(event: Event, aws: Aws) -> list[Live]:
    """By name, since the quota may come after the Delete, but no longer than a Create goes on asking."""
    until = event.handover["Since"] + PATIENCE_SECONDS
    return _asked(event, candidates(event, aws), aws, made_until=until)


def _asked(event: Event, wanted: Iterable[str], aws: Aws, *, made_until: float = math.inf) -> list[Live]:
    found = [delete_if_ours(event, one, aws, made_until=made_until) for one in wanted]
    return [live for live in found if live is not None]
