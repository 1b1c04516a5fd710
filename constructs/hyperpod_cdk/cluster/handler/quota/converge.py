"""How an update of a quota is sent: what differs, of the version that lives."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..clients import Aws
from ..core.kind import Sent
from ..errors import AWS_ERRORS, RefusedError, code_of, is_conflict
from ..log import log
from .difference import changes
from .live import BUSY, NEVER_MADE, UPDATE_FAILED, Live, look
from .request import PARTS, Desired

_TRIES = 5


def plan(aws: Aws, desired: Desired, old: Desired | None, live: Live) -> Callable[[], Sent]:
    """Give what sends the update; as :class:`~.core.kind.Kind` says."""
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
    return partial(send, aws, desired, old, live)


def send(aws: Aws, desired: Desired, old: Desired | None, live: Live) -> Sent:
    """Send what differs, of the version that lives; read it again when somebody else was faster.

    A call that took effect although its answer was lost is found out by what lives then.

    Args:
        aws: the way to AWS.
        desired: what is asked for.
        old: what was asked for before; None of what was taken over: all that lives counts as asked for, so
            that nothing of it stays that is not.
        live: what the service shows.

    Returns:
        The version that the update makes, as its step; that it must wait, while the quota is busy.

    Raises:
        RefusedError: the quota can take no more updates.
    """
    shown = {name: live.description[name] for name in PARTS if name in live.description}
    before = old or Desired(request=shown)
    for _ in range(_TRIES):
        parts = changes(desired, before, live)
        if not parts and live.status in UPDATE_FAILED:
            # what failed may hold in part: the same once more
            parts = {name: desired.request[name] for name in PARTS if name in desired.request}
        if live.status in BUSY:
            return Sent(more=True)
        if not parts:
            return Sent()
        try:
            version = _call(aws, {"ComputeQuotaId": live.key, "TargetVersion": live.version, **parts})
        except AWS_ERRORS as error:
            if not is_conflict(error):
                raise
        else:
            log("update accepted", quota=live.key, version=version, members=sorted(parts))
            return Sent(step=str(version))
        again = look(aws, live.key)
        log("quota has changed, it is read again", quota=live.key, version=again and again.version)
        if again is None or again.version == live.version:
            break
        live = again
    return Sent(more=True)


def _call(aws: Aws, call: Mapping[str, Any]) -> int:
    try:
        return int(aws.sagemaker.update_compute_quota(**call)["ComputeQuotaVersion"])
    except AWS_ERRORS as error:
        if code_of(error) == "ResourceLimitExceeded":
            raise RefusedError(
                f"the compute quota {call['ComputeQuotaId']} takes no further version (100 by default, "
                "L-D7137944): have the limit raised, or take the team out, deploy, and put it back, which "
                f"makes a new quota: {error}"
            ) from error
        raise
