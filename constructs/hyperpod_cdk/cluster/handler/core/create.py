"""Create: every check first, the service's Create last, and nothing that can fail after it."""

from collections.abc import Callable
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, RefusedError, is_conflict, is_name_in_use, is_outcome_unknown
from ..event import Event, check_size
from ..log import log
from ..ownership import check_tags, creation_tags, is_made_by, is_ours, owner, read_tags, tag_list
from ..patience import patiently
from ..reason import shorten
from .converge import converge
from .kind import D, Kind, L

_DOUBT_BYTES = 1000


def on_create(kind: Kind[D, L], event: Event, aws: Aws) -> dict[str, Any]:
    """Make the thing, or take over the one that an earlier delivery of the same request made.

    Returns:
        The physical id, and what is_complete needs.

    Raises:
        RefusedError: the properties are wrong, or what they name is another's; nothing was made.
        ClientError, BotoCoreError: the service refused; nothing was made.
    """
    check_size(event)
    return make(kind, event, kind.form.read(event.properties, aws), aws)


def make(kind: Kind[D, L], event: Event, desired: D, aws: Aws) -> dict[str, Any]:
    """Make a thing for a Create, or for an Update that changes what it is called.

    Fails only when this request certainly made nothing. If it may have, is_complete fails in its place:
    CloudFormation then knows the physical id, and the framework does not swallow the Delete that follows.
    """
    check_tags(desired.tags)
    try:
        live = _find(kind, desired, aws) or kind.last_look(aws, desired)
    except AWS_ERRORS as error:
        return unsure(kind, desired, error, aws)
    if live is not None:
        return _adopt(kind, event, desired, live, aws)
    create = getattr(aws.sagemaker, kind.create)
    tags = tag_list({**desired.tags, **creation_tags(event)})
    try:
        answer = patiently(
            aws, create, also=_is_passing(kind, desired, aws), **{**desired.request, "Tags": tags}
        )
    except AWS_ERRORS as error:
        return _not_made(kind, event, desired, error, aws)
    return _made(desired, aws, str(answer[kind.answer]))


def unsure(kind: Kind[D, L], desired: D, error: Exception, aws: Aws) -> dict[str, Any]:
    """Let is_complete fail with this error, unless it finds what this request has made."""
    log(
        "failure is left to is_complete",
        level="WARNING",
        kind=kind.noun,
        physical_id=desired.physical_id,
        reason=str(error),
    )
    answer = _made(desired, aws)
    answer["Handover"]["Doubt"] = shorten(str(error), _DOUBT_BYTES)
    return answer


def _find(kind: Kind[D, L], desired: D, aws: Aws) -> L | None:
    return patiently(aws, lambda: kind.find(aws, desired.physical_id))


def _is_passing(kind: Kind[D, L], desired: D, aws: Aws) -> Callable[[Exception], bool]:
    """Tell a conflict with other work of the service from one with a thing of the name, such as our own."""

    def judge(error: Exception) -> bool:
        if not is_conflict(error):
            return False
        try:
            return kind.find(aws, desired.physical_id) is None
        except AWS_ERRORS:
            return True

    return judge


def _made(desired: D, aws: Aws, key: str = "") -> dict[str, Any]:
    handover = {"Since": int(aws.now()), "Made": key}
    return {"PhysicalResourceId": desired.physical_id, "Handover": handover}


def _not_made(kind: Kind[D, L], event: Event, desired: D, error: Exception, aws: Aws) -> dict[str, Any]:
    """The service's Create ended with an error; one of its attempts may have taken effect all the same."""
    try:
        live = _find(kind, desired, aws)
    except AWS_ERRORS:
        return unsure(kind, desired, error, aws)
    if live is not None:
        return _adopt(kind, event, desired, live, aws)
    if is_name_in_use(error):
        error = RefusedError(
            f"{kind.name}: {desired.physical_id} is in use, but no such {kind.noun} can be seen. Deploy "
            "again, or choose another name"
        )
        return unsure(kind, desired, error, aws)
    # a conflict may be with what this request has made, and the service does not show yet
    if is_outcome_unknown(error) or is_conflict(error):
        return unsure(kind, desired, error, aws)
    raise error


def _adopt(kind: Kind[D, L], event: Event, desired: D, live: L, aws: Aws) -> dict[str, Any]:
    try:
        tags = patiently(aws, read_tags, aws=aws, arn=live.arn)
    except AWS_ERRORS as error:
        return unsure(kind, desired, error, aws)
    if not is_ours(tags, event):
        raise RefusedError(
            f"{kind.name}: a {kind.noun} {live.name} exists{kind.where} and is not this stack's: "
            f"{owner(tags, kind.noun)}. Choose another name, or delete that {kind.noun} if it is left over: "
            f"it was not touched ({live.arn})"
        )
    if live.status == "Deleting":
        raise RefusedError(f"{kind.name}: {live.name} is still being deleted. Deploy again when it is gone")
    if is_made_by(tags, event):
        log("this request has made it already", kind=kind.noun, arn=live.arn, status=live.status)
        return _made(desired, aws, live.key)
    log("it exists and is ours: taken over", kind=kind.noun, arn=live.arn, status=live.status)
    try:
        return converge(kind, event, desired=desired, old=None, live=live, tags=tags, aws=aws)
    except AWS_ERRORS as error:
        # some of it may be done; and of what fails here, the framework swallows the Delete that follows
        return unsure(kind, desired, error, aws)
