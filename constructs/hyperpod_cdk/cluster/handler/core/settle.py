"""The thing is at rest: is it what was asked for, and is anything left to send?"""

import math
from typing import Any

from ..clients import Aws
from ..errors import FailedError
from ..event import Event
from ..log import log
from ..newest import refuse_overtaken
from ..ownership import is_ours, read_tags
from ..pending import Pending, pending_of, put_note
from .kind import D, Kind, L, Turn

NOT_COMPLETE: dict[str, Any] = {"IsComplete": False}


def settle(kind: Kind[D, L], event: Event, live: L, aws: Aws) -> dict[str, Any]:
    """Let the kind compare what lives with the request; note what it sends, and what comes to an end.

    Returns:
        As is_complete does.

    Raises:
        FailedError: it did not become what was asked for, or it is another's.
        RefusedError: what had to wait can not be sent.
    """
    tags = read_tags(aws, live.arn)
    if not is_ours(tags, event):
        raise FailedError(f"the {kind.noun} {live.name} is not this stack's ({live.arn}) and is not touched")
    refuse_overtaken(tags, event, event.handover.get("Begun", math.inf), f"{kind.noun} {live.name}")
    note = pending_of(tags)
    mine = note if note and note.request_id == event.request_id else None
    if note and not mine and event.handover.get("Pending"):
        raise FailedError(f"a newer update of {kind.noun} {live.name} took the place of this one")
    verdict = kind.judge(_turn(kind, event, live, mine, aws), aws)
    if verdict.sent:
        sent = Pending(request_id=event.request_id, step=verdict.sent, since=int(aws.now()))
        put_note(aws, live.arn, sent, over=tags)
    if not verdict.lost and verdict.data is None:
        return NOT_COMPLETE
    if mine:
        put_note(aws, live.arn, None, over=tags)
    if verdict.lost:
        raise FailedError(verdict.lost)
    log("it is what was asked for", kind=kind.noun, operation=event.kind, arn=live.arn)
    return {"IsComplete": True, "Data": verdict.data}


def _turn(kind: Kind[D, L], event: Event, live: L, mine: Pending | None, aws: Aws) -> Turn[D, L]:
    taken_over = event.handover.get("TakenOver")
    return Turn(
        event=event,
        desired=kind.form.read(event.properties, aws),
        old=None if taken_over else kind.form.read_leniently(event.old_properties, aws),
        live=live,
        step=mine.step if mine else event.handover.get("Sent", ""),
        waits=mine is not None,
        since=mine.since if mine else event.handover["Since"],
    )
