"""Update: in place where it can be, a second thing where it can not, and back again."""

from contextlib import suppress
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, FailedError, RefusedError, is_not_found
from ..event import Event, check_size
from ..ownership import check_tags, is_ours, owner, read_tags
from ..patience import patiently
from .converge import converge
from .create import make, unsure
from .delete import delete_if_ours
from .kind import D, Kind, L


def on_update(kind: Kind[D, L], event: Event, aws: Aws) -> dict[str, Any]:
    """Send what the thing lacks; nothing when it lacks nothing.

    Returns:
        The physical id: the one that came in, or a new thing's when it is to be called otherwise.

    Raises:
        RefusedError: the properties are wrong, or the service fixes what they change; nothing was changed.
        FailedError: the thing is gone, or not ours.
        ClientError, BotoCoreError: the service refused.
    """
    check_size(event)
    desired = kind.form.read(event.properties, aws)
    check_tags(desired.tags)
    old = kind.form.read_leniently(event.old_properties, aws)
    if desired.physical_id != event.physical_id:
        kind.refuse(desired, old)
        return make(kind, event, desired, aws)
    if old.physical_id in ("", desired.physical_id):
        return _in_place(kind, event, desired, old, aws)
    return _back(kind, event, desired, old, aws)


def _in_place(kind: Kind[D, L], event: Event, desired: D, old: D, aws: Aws) -> dict[str, Any]:
    live = _find(kind, desired, aws)
    if live is None or live.status == "Deleting":
        raise FailedError(
            f"{kind.noun} {desired.physical_id} is gone: it was deleted outside of CloudFormation. "
            f"{kind.anew}. If a rollback ends here: continue-update-rollback, with this resource skipped"
        )
    tags = patiently(aws, read_tags, aws=aws, arn=live.arn)
    if not is_ours(tags, event):
        raise RefusedError(
            f"{kind.name}: {kind.noun} {live.name} is not this stack's any more: {owner(tags, kind.noun)} "
            f"({live.arn})"
        )
    return converge(kind, event, desired=desired, old=old, live=live, tags=tags, aws=aws)


def _find(kind: Kind[D, L], desired: D, aws: Aws) -> L | None:
    """The whole thing: of what a list tells alone, nobody knows what differs."""
    try:
        return patiently(aws, lambda: kind.whole(aws, desired.physical_id), also=is_not_found)
    except AWS_ERRORS as error:
        if is_not_found(error):
            return None
        raise


def _back(kind: Kind[D, L], event: Event, desired: D, old: D, aws: Aws) -> dict[str, Any]:
    """A replacement failed and CloudFormation goes back to the thing whose id it kept.

    It never heard of the new one, and will never send a Delete for it: is_complete deletes it, also when it
    is still to come, and only then succeeds or fails.
    """
    with suppress(*AWS_ERRORS):
        patiently(aws, lambda: delete_if_ours(kind, event, old.physical_id, aws))
    try:
        result = _in_place(kind, event, desired, old, aws)
    except (RefusedError, FailedError, *AWS_ERRORS) as error:
        result = unsure(kind, desired, error, aws)
    result["Handover"]["Leftover"] = old.physical_id
    return result
