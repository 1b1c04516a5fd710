"""Delete: only what the tags say is ours, as often as it takes."""

import math
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, FailedError, code_of, is_conflict, is_not_found
from ..event import Event
from ..log import log
from ..ownership import is_ours, missing_tag, read_tags
from ..patience import patiently
from .kind import D, Kind, L


def on_delete(kind: Kind[D, L], event: Event, aws: Aws) -> dict[str, Any]:
    """Ask for the deletion, and return at once; is_complete asks again while the thing is busy.

    Returns:
        The physical id that came in, and what is_complete needs: the key of what goes, and the physical ids
        under which a Create that has not answered yet may still make something.
    """
    named = candidates(kind, event, aws)
    key, answered = "", event.physical_id == kind.form.read_leniently(event.properties, aws).physical_id
    for physical_id in named:
        live = patiently(aws, lambda wanted=physical_id: delete_if_ours(kind, event, wanted, aws))
        if live is not None:
            # what the properties name is another thing than the one that CloudFormation wants to go
            key, answered = live.key, answered or physical_id == event.physical_id
            break
    log("deletion asked for" if key else "nothing of ours to delete", kind=kind.noun, key=key)
    handover = {
        "Since": int(aws.now()),
        "Going": [key] if key else [],
        "Unanswered": [] if answered else named,
    }
    return {"PhysicalResourceId": event.physical_id, "Handover": handover}


def candidates(kind: Kind[D, L], event: Event, aws: Aws) -> list[str]:
    """Give the physical ids by which a thing of ours may be found, the most certain first.

    CloudFormation makes up an id when a stack fails before a Create has answered, and then only the
    properties tell.
    """
    named = dict.fromkeys((event.physical_id, kind.form.read_leniently(event.properties, aws).physical_id))
    return [physical_id for physical_id in named if kind.is_id(aws, physical_id)]


def delete_if_ours(
    kind: Kind[D, L], event: Event, wanted: str, aws: Aws, *, made_until: float = math.inf
) -> L | None:
    """Ask for the deletion of a thing if the tags say that it is ours, and it is not going already.

    Args:
        kind: of the resource.
        event: whose it must be.
        wanted: its physical id, or its key.
        aws: the way to AWS.
        made_until: spare what was made later, in seconds since 1970.

    Returns:
        The thing while it is there and ours, whether or not it could be asked now; None otherwise.

    Raises:
        FailedError: on Delete, one of the tags that say that it is ours was taken away.
    """
    live = kind.find(aws, wanted)
    if live is None or live.made > made_until:
        return None
    try:
        if not _is_ours(kind, event, live, aws):
            return None
        if live.status != "Deleting":
            getattr(aws.sagemaker, kind.delete)(**{kind.key: live.key})
    except AWS_ERRORS as error:
        if is_not_found(error):
            return None
        if code_of(error) == "ValidationException":
            return _going(kind, live, error, aws)
        if not is_conflict(error):
            raise
        log("busy, deletion will be asked for again", kind=kind.noun, arn=live.arn, status=live.status)
    return live


def _is_ours(kind: Kind[D, L], event: Event, live: L, aws: Aws) -> bool:
    tags = read_tags(aws, live.arn)
    if is_ours(tags, event):
        return True
    missing = missing_tag(tags, event)
    if missing and event.kind == "Delete" and live.status != "Deleting":
        raise FailedError(
            f"{kind.noun} {live.name} is there, but its tag {missing} was taken away, and without it nothing "
            f"is deleted: delete the {kind.noun} by hand, or put the tag back and delete again ({live.arn})"
        )
    log("it is not ours and is not touched", kind=kind.noun, arn=live.arn)
    return False


def _going(kind: Kind[D, L], live: L, error: Exception, aws: Aws) -> L | None:
    """The thing if it is on its way out, None if it is gone; it was there a moment ago.

    ListTags calls what is gone an invalid request (github.com/aws/amazon-sagemaker-feedback/issues/108).
    """
    again = kind.find(aws, live.key)
    if again is not None and again.status != "Deleting":
        raise error
    return again
