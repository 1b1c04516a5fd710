"""Create: every check first, CreateComputeQuota last, and nothing that can fail after it."""

from collections.abc import Callable
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, RefusedError, is_conflict, is_outcome_unknown
from ..event import Event
from ..log import log
from ..ownership import check_tags, creation_tags, is_made_by, is_ours, owner, read_tags, tag_list
from ..patience import patiently
from ..reason import shorten
from .converge import converge
from .live import Live, find, of_team
from .request import Desired, desired_of

_DOUBT_BYTES = 1000
_NOUN = "compute quota"


def on_create(event: Event, aws: Aws) -> dict[str, Any]:
    """Make the quota, or take over the one that an earlier delivery of the same request made.

    Returns:
        The physical id, ``<cluster id>/<name>``, and what is_complete needs.

    Raises:
        RefusedError: the properties are wrong, or the name or the team is another's; nothing was made.
        ClientError, BotoCoreError: the service refused; nothing was made.
    """
    return make(event, desired_of(event.properties, aws), aws)


def make(event: Event, desired: Desired, aws: Aws) -> dict[str, Any]:
    """Make a quota for a Create, or for an Update that changes what it is called.

    Fails only when this request certainly made no quota. If it may have, is_complete fails in its place:
    CloudFormation then knows the physical id, and the framework does not swallow the Delete that follows.
    """
    check_tags(desired.tags)
    try:
        live = patiently(aws, find, aws=aws, physical_id=desired.physical_id)
        # a list that lags may show a moment later what an earlier delivery of this request has made
        live = live or patiently(aws, of_team, aws=aws, cluster_arn=desired.cluster_arn, team=desired.team)
        if live is not None and live.name == desired.name:
            return _adopt(event, desired, live, aws)
        if live is not None:
            _refuse_team_of(live, aws)
    except AWS_ERRORS as error:
        return unsure(desired, error, aws)
    tags = tag_list({**desired.tags, **creation_tags(event)})
    request = {**desired.request, "Tags": tags}
    try:
        answer = patiently(
            aws, aws.sagemaker.create_compute_quota, also=_is_passing_conflict(desired, aws), **request
        )
    except AWS_ERRORS as error:
        return _not_made(event, desired, error, aws)
    return _made(desired, aws, str(answer["ComputeQuotaId"]))


def _refuse_team_of(other: Live, aws: Aws) -> None:
    whose = owner(patiently(aws, read_tags, aws=aws, arn=other.arn), _NOUN)
    raise RefusedError(
        f"ComputeQuotaTarget.TeamName: team {other.team} has the quota {other.name} in this cluster: "
        f"{whose}. Choose another team, or delete that quota: it was not touched ({other.arn})"
    )


def _is_passing_conflict(desired: Desired, aws: Aws) -> Callable[[Exception], bool]:
    """Tell a conflict with other work on the cluster from one with a quota of the name, such as our own."""

    def judge(error: Exception) -> bool:
        if not is_conflict(error):
            return False
        try:
            return find(aws, desired.physical_id) is None
        except AWS_ERRORS:
            return True

    return judge


def _made(desired: Desired, aws: Aws, quota_id: str = "") -> dict[str, Any]:
    handover: dict[str, Any] = {"Since": int(aws.now())}
    if quota_id:
        handover["Quota"] = quota_id
    return {"PhysicalResourceId": desired.physical_id, "Handover": handover}


def unsure(desired: Desired, error: Exception, aws: Aws) -> dict[str, Any]:
    """Let is_complete fail with this error, unless it finds a quota that this request has made."""
    log("failure is left to is_complete", level="WARNING", quota=desired.physical_id, reason=str(error))
    answer = _made(desired, aws)
    answer["Handover"]["Doubt"] = shorten(str(error), _DOUBT_BYTES)
    return answer


def _not_made(event: Event, desired: Desired, error: Exception, aws: Aws) -> dict[str, Any]:
    """CreateComputeQuota ended with an error; one of its attempts may have taken effect all the same."""
    try:
        live = patiently(aws, find, aws=aws, physical_id=desired.physical_id)
    except AWS_ERRORS:
        return unsure(desired, error, aws)
    if live is not None:
        return _adopt(event, desired, live, aws)
    # a conflict may be with what this request has made, and a list does not show yet
    if is_outcome_unknown(error) or is_conflict(error):
        return unsure(desired, error, aws)
    raise error


def _adopt(event: Event, desired: Desired, live: Live, aws: Aws) -> dict[str, Any]:
    try:
        tags = patiently(aws, read_tags, aws=aws, arn=live.arn)
    except AWS_ERRORS as error:
        return unsure(desired, error, aws)
    if not is_ours(tags, event):
        raise RefusedError(
            f"Name: a compute quota {desired.name} exists in this cluster and is not this stack's: "
            f"{owner(tags, _NOUN)}. Choose another name, or delete that quota if it is left over: it was not "
            f"touched ({live.arn})"
        )
    if live.status == "Deleting":
        raise RefusedError(f"Name: {desired.name} is still being deleted. Deploy again when it is gone")
    if is_made_by(tags, event):
        log("this request has made the quota already", quota=desired.physical_id, status=live.status)
        return _made(desired, aws, live.id)
    log("quota exists and is ours: taken over", quota=desired.physical_id, status=live.status)
    try:
        return converge(aws, event, desired=desired, old=None, live=live, tags=tags)
    except AWS_ERRORS as error:
        # some of it may be done; and of what fails here, the framework swallows the Delete that follows
        return unsure(desired, error, aws)
