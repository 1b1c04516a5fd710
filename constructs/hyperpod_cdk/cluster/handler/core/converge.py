"""Sending an update: tags and the first call now, the rest noted on the thing for is_complete to send.

CloudFormation also sends an Update to roll back, while the thing may still be busy with the update that
failed. Waiting for it here would hold a Lambda function for longer than it lives, and give up on the very
updates that take longest. So what can not be sent now is noted on it and sent by is_complete, poll by poll.
The note names the request: a poller of a cancelled update finds a newer one and sends nothing.

An update that goes on asking after CloudFormation has cancelled it would undo the rollback that overtook it.
Each therefore leaves its mark first (see ``newest``), and looks for a newer one's before whatever it repeats.
What changes more than tags is called once and never repeated here: the polls do that, which look at the note.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, code_of, is_permission_delay, is_transient
from ..event import Event
from ..log import log
from ..newest import claim
from ..ownership import send_tags
from ..patience import patiently
from ..pending import Pending, pending_of, put_note
from .kind import D, Kind, L, Sent


def converge(
    kind: Kind[D, L],
    event: Event,
    *,
    desired: D,
    old: D | None,
    live: L,
    tags: Mapping[str, str],
    aws: Aws,
) -> dict[str, Any]:
    """Send the tags, and what may be sent now; note on the thing whatever must wait.

    Args:
        kind: of the resource.
        event: CloudFormation's.
        desired: what is asked for.
        old: what was asked for before; None of what is taken over.
        live: what the service shows.
        tags: the thing's.
        aws: the way to AWS.

    Returns:
        The physical id and what is_complete needs.

    Raises:
        RefusedError: a change that the service does not make; nothing was changed.
    """
    send = kind.plan(aws, desired, old, live)
    claimed = partial(claim, aws, live.arn, event, f"{kind.noun} {live.name}")
    patiently(aws, claimed)
    # of what is taken over nobody knows whose a tag is: it starts anew, with what is asked for
    before = {key for key in tags if not key.startswith("aws:")} if old is None else set(old.tags)
    patiently(aws, lambda: send_tags(aws, live.arn, wanted=desired.tags, before=before, tags=claimed()))
    try:
        sent = send()
    except AWS_ERRORS as error:
        if not is_transient(error) and not is_permission_delay(error):
            raise
        log("call is left to is_complete", level="WARNING", code=code_of(error), reason=str(error))
        sent = Sent(more=True)
    now = int(aws.now())
    note = Pending(request_id=event.request_id, step=sent.step, since=now) if sent.more else None
    if note or pending_of(tags):
        patiently(aws, lambda: put_note(aws, live.arn, note, over=claimed()))
    handover = {
        "Since": now,
        "Begun": int(aws.started),
        "Made": live.key,
        "Pending": sent.more,
        "Sent": sent.step,
        "TakenOver": old is None,
    }
    return {"PhysicalResourceId": desired.physical_id, "Handover": handover}
