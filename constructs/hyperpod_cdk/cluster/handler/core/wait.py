"""is_complete: what each status means for each operation.

Polls only read, but for two calls that are sent again: a deletion that the thing was too busy for, and an
update that had to wait for its turn (see ``converge``).
"""

import math
from collections.abc import Iterable
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, FailedError, code_of, is_not_found, is_permission_delay, is_transient
from ..event import Event
from ..log import log
from ..ownership import is_made_by, read_tags
from ..patience import PATIENCE_SECONDS, UNANSWERED_SECONDS
from .delete import candidates, delete_if_ours
from .kind import D, Kind, L, Outcome
from .settle import NOT_COMPLETE, settle

GIVE_UP_SECONDS = 53 * 60
"""When to give up with a reason, before the provider framework does without one (after 55 minutes)."""

DELETE_SECONDS = 10 * 60
"""How long a deletion that failed is asked for again, before its reason is told."""


def is_complete(kind: Kind[D, L], event: Event, aws: Aws) -> dict[str, Any]:
    """Say whether the operation is done.

    Returns:
        ``{"IsComplete": False}``, or that it is, with the attributes in Data.

    Raises:
        FailedError: it will not succeed; with the reason.
    """
    answer = _poll(kind, event, aws)
    if not answer["IsComplete"] and _waited(event, aws) > GIVE_UP_SECONDS:
        raise FailedError(_overdue(kind, event, aws))
    return answer


def _poll(kind: Kind[D, L], event: Event, aws: Aws) -> dict[str, Any]:
    try:
        if event.kind == "Delete":
            return _deleted(kind, event, aws)
        answer = _made_or_updated(kind, event, aws)
        if answer["IsComplete"]:
            kind.done(event, aws)
        return answer
    except AWS_ERRORS as error:
        young = _waited(event, aws) < PATIENCE_SECONDS
        if is_transient(error) or (young and is_permission_delay(error)):
            log("poll failed, the next one may not", level="WARNING", code=code_of(error), reason=str(error))
            return NOT_COMPLETE
        raise


def _waited(event: Event, aws: Aws) -> float:
    return float(aws.now() - event.handover["Since"])


def _overdue(kind: Kind[D, L], event: Event, aws: Aws) -> str:
    """Say what an operation was waiting for when its time ran out."""
    late = f"{event.kind} took longer than the {GIVE_UP_SECONDS // 60} minutes that CloudFormation leaves it"
    name = kind.form.read_leniently(event.properties, aws).physical_id or event.physical_id
    leftover = event.handover.get("Leftover")
    try:
        left = kind.find(aws, leftover) if leftover else None
        live = left or kind.find(aws, name)
    except AWS_ERRORS as error:
        return f"{late}; the {kind.noun} {name} can not be seen: {error}"
    if left is not None:
        return (
            f"{late}; the {kind.noun} {left.name} of the failed replacement is still there ({left.status}). "
            f"Continue the rollback: it deletes that {kind.noun}, which the deletion of the stack would not"
        )
    if live is None:
        return f"{late}; the {kind.noun} {name} is gone{kind.holds}"
    return kind.explain(aws, live, f"{late}: {kind.noun} {live.name} is {live.status}")


def _made_or_updated(kind: Kind[D, L], event: Event, aws: Aws) -> dict[str, Any]:
    if _leaves(kind, event, aws):
        return NOT_COMPLETE
    live = _find(kind, event, aws)
    if live is None and _waited(event, aws) < PATIENCE_SECONDS:
        return NOT_COMPLETE  # made a moment ago, it may not be visible yet
    doubt = event.handover.get("Doubt")
    if doubt and (live is None or not is_made_by(read_tags(aws, live.arn), event)):
        raise FailedError(doubt)
    if live is None:
        raise FailedError(
            f"{kind.noun} {event.physical_id} is gone: it was deleted outside of CloudFormation"
        )
    log("polled", kind=kind.noun, operation=event.kind, arn=live.arn, status=live.status)
    outcome = kind.outcomes.get(live.status, Outcome.WAIT)
    if outcome is Outcome.FAIL:
        headline = f"{event.kind} of {kind.noun} {live.name} failed: its status is {live.status}"
        raise FailedError(kind.explain(aws, live, headline))
    if outcome is Outcome.CHECK:
        return settle(kind, event, live, aws)
    data = kind.early(event, live, aws)
    return {"IsComplete": True, "Data": data} if data else NOT_COMPLETE


def _find(kind: Kind[D, L], event: Event, aws: Aws) -> L | None:
    made = event.handover.get("Made")
    try:
        return kind.find(aws, made) if made else kind.whole(aws, event.physical_id)
    except AWS_ERRORS as error:
        if is_not_found(error):
            return None
        raise


def _leaves(kind: Kind[D, L], event: Event, aws: Aws) -> bool:
    """Whether what a failed replacement made is there, or may still come; asks for its deletion.

    By name, since the update that makes it was cancelled before it had answered, and may go on asking; but
    only what it can have made.
    """
    leftover = event.handover.get("Leftover")
    if not leftover:
        return False
    until = event.handover["Since"] + UNANSWERED_SECONDS
    return delete_if_ours(kind, event, leftover, aws, made_until=until) is not None or aws.now() < until


def _deleted(kind: Kind[D, L], event: Event, aws: Aws) -> dict[str, Any]:
    left, waited = _left(kind, event, aws), _waited(event, aws)
    failed = [live for live in left if live.status in kind.delete_failed]
    if failed and waited > DELETE_SECONDS:
        headline = f"{kind.noun} {failed[0].name} can not be deleted: its status is {failed[0].status}"
        raise FailedError(kind.explain(aws, failed[0], headline))
    asking = event.handover.get("Unanswered") and waited < UNANSWERED_SECONDS
    unlisted = not event.handover.get("Going") and waited < kind.unlisted_seconds
    if left or asking or unlisted:
        log("polled", kind=kind.noun, operation=event.kind, keys=[live.key for live in left])
        return NOT_COMPLETE
    return {"IsComplete": True} if kind.gone(event, aws) else NOT_COMPLETE


def _left(kind: Kind[D, L], event: Event, aws: Aws) -> list[L]:
    """What is still there of what must go; asks once more for its deletion.

    By key where it is known: a poll that outlives its request must spare a later thing of that name. By name
    where a Create may still be asking, but only what it can have made.
    """
    unanswered, since = event.handover.get("Unanswered"), event.handover["Since"]
    going = event.handover.get("Going")
    if unanswered:
        return _asked(kind, event, unanswered, aws, made_until=since + UNANSWERED_SECONDS)
    if not going:
        return _asked(kind, event, candidates(kind, event, aws), aws, made_until=since)
    return _asked(kind, event, going, aws) or kind.remains(aws, event, going)


def _asked(
    kind: Kind[D, L], event: Event, wanted: Iterable[str], aws: Aws, *, made_until: float = math.inf
) -> list[L]:
    found = [delete_if_ours(kind, event, one, aws, made_until=made_until) for one in wanted]
    return [live for live in found if live is not None]
