"""Sending an update: tags and UpdateComputeQuota now, or a note on the quota that it must wait."""

from collections.abc import Mapping
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, RefusedError, code_of, is_conflict
from ..event import Event
from ..log import log
from ..ownership import send_tags
from ..patience import patiently
from ..pending import Pending, forget_pending, note_pending, pending_of
from .difference import changes
from .live import BUSY, NEVER_MADE, UPDATE_FAILED, Live, look
from .request import PARTS, Desired

UNSENT, NOTHING = -1, 0
"""What :func:`send` gives instead of a version: it must wait, or there is nothing to send."""

_TRIES = 5


def converge(
    aws: Aws, event: Event, *, desired: Desired, old: Desired | None, live: Live, tags: Mapping[str, str]
) -> dict[str, Any]:
    """Send the tags and what differs; note on the quota what must wait.

    Args:
        aws: the way to AWS.
        event: CloudFormation's.
        desired: what is asked for.
        old: what was asked for before; None of a quota that is taken over.
        live: what the service shows.
        tags: the quota's.

    Returns:
        The physical id and what is_complete needs.

    Raises:
        RefusedError: a change that is not made in place; nothing was changed.
    """
    _check(desired, live)
    # of a quota that is taken over nobody knows whose a tag is: it starts anew, with what is asked for
    before = {key for key in tags if not key.startswith("aws:")} if old is None else set(old.tags)
    send_tags(aws, live.arn, wanted=desired.tags, before=before, tags=tags)
    version = send(aws, desired=desired, old=old or as_asked_for(live), live=live, patient=True)
    now = int(aws.now())
    if version == UNSENT:
        note = Pending(request_id=event.request_id, step="", since=now)
        patiently(aws, note_pending, aws=aws, arn=live.arn, pending=note)
    elif pending_of(tags):
        patiently(aws, forget_pending, aws=aws, arn=live.arn)
    handover: dict[str, Any] = {
        "Since": now,
        "Quota": live.id,
        "Version": max(version, 0),
        "Pending": version == UNSENT,
        "TakenOver": old is None,
    }
    return {"PhysicalResourceId": desired.physical_id, "Handover": handover}


def as_asked_for(live: Live) -> Desired:
    """Give all of a quota as if it had been asked for, so that nothing of it stays that is not."""
    return Desired(request={name: live.description[name] for name in PARTS if name in live.description})


def send(aws: Aws, *, desired: Desired, old: Desired, live: Live, patient: bool) -> int:
    """Send what differs, of the version that lives; read it again when somebody else was faster.

    A call that took effect although its answer was lost is found out by what lives then.

    Args:
        aws: the way to AWS.
        desired: what is asked for.
        old: what was asked for before.
        live: what the service shows.
        patient: repeat the call while IAM or the network stands in the way; a poll has no time for that.

    Returns:
        The version that the update makes; UNSENT while the quota is busy, NOTHING when it is as asked for.

    Raises:
        RefusedError: the quota can take no more updates.
    """
    for _ in range(_TRIES):
        parts = changes(desired, old, live)
        if not parts and live.status in UPDATE_FAILED:
            # what failed may hold in part: the same once more
            parts = {name: desired.request[name] for name in PARTS if name in desired.request}
        if live.status in BUSY:
            return UNSENT
        if not parts:
            return NOTHING
        call = {"ComputeQuotaId": live.id, "TargetVersion": live.version, **parts}
        try:
            version = _call(aws, call, patient=patient)
        except AWS_ERRORS as error:
            if not is_conflict(error):
                raise
        else:
            log("update accepted", quota=live.id, version=version, members=sorted(parts))
            return version
        again = look(aws, live.id)
        log("quota has changed, it is read again", quota=live.id, version=again and again.version)
        if again is None or again.version == live.version:
            return UNSENT
        live = again
    return UNSENT


def _call(aws: Aws, call: Mapping[str, Any], *, patient: bool) -> int:
    update = aws.sagemaker.update_compute_quota
    try:
        answer = patiently(aws, update, **call) if patient else update(**call)
    except AWS_ERRORS as error:
        if code_of(error) == "ResourceLimitExceeded":
            raise RefusedError(
                f"the compute quota {call['ComputeQuotaId']} takes no further version (100 by default, "
                "L-D7137944): have the limit raised, or take the team out, deploy, and put it back, which "
                f"makes a new quota: {error}"
            ) from error
        raise
    return int(answer["ComputeQuotaVersion"])


def _check(desired: Desired, live: Live) -> None:
    if desired.team != live.team:
        raise RefusedError(
            f"ComputeQuotaTarget.TeamName can not change from {live.team} to {desired.team}: the team's "
            "namespace is named after it. Change Name as well: a new quota is then made, and this one "
            "deleted after it"
        )
    if live.status in NEVER_MADE:
        reason = live.description.get("FailureReason", "no reason was given")
        raise RefusedError(
            f"the compute quota {live.name} was never made ({live.status}: {reason}) and takes no update: "
            "take the team out, deploy, and put it back"
        )
