"""Create: every check first, CreateCluster last, and nothing that can fail after it."""

from typing import Any

from .clients import Aws
from .converge import converge
from .errors import AWS_ERRORS, RefusedError, is_name_in_use, is_outcome_unknown
from .event import Event, check_size
from .images import refuse_unusable_images
from .live import Live, find
from .log import log
from .ownership import check_tags, creation_tags, is_made_by, is_ours, owner, read_tags, tag_list
from .patience import patiently
from .reason import shorten
from .request import Desired, desired_of

_DOUBT_BYTES = 1000
_IN_USE = (
    "ClusterName: {name} is in use, but no such cluster can be seen. Deploy again, or choose another name"
)


def on_create(event: Event, aws: Aws) -> dict[str, Any]:
    """Make the cluster, or take over the one that an earlier delivery of the same request made.

    Returns:
        The physical id, which is the cluster's name, and what is_complete needs.

    Raises:
        RefusedError: the properties are wrong, or the name is another's; nothing was made.
        ClientError, BotoCoreError: the service refused; nothing was made.
    """
    check_size(event)
    return make(event, desired_of(event.properties, aws), aws)


def make(event: Event, desired: Desired, aws: Aws) -> dict[str, Any]:
    """Make a cluster for a Create, or for an Update that changes the name.

    Fails only when this request certainly made no cluster. If it may have, is_complete fails in its place:
    CloudFormation then knows the physical id, and the framework does not swallow the Delete that follows.
    """
    check_tags(desired.tags)
    try:
        live = patiently(aws, find, aws=aws, name=desired.name)
    except AWS_ERRORS as error:
        return unsure(desired, error, aws)
    if live is not None:
        return _adopt(event, desired, live, aws)
    refuse_unusable_images(desired, aws)
    tags = tag_list({**desired.tags, **creation_tags(event)})
    try:
        patiently(aws, aws.sagemaker.create_cluster, **{**desired.request, "Tags": tags})
    except AWS_ERRORS as error:
        return _not_made(event, desired, error, aws)
    return _made(desired, aws)


def _made(desired: Desired, aws: Aws) -> dict[str, Any]:
    return {"PhysicalResourceId": desired.name, "Handover": {"Since": int(aws.now())}}


def unsure(desired: Desired, error: Exception, aws: Aws) -> dict[str, Any]:
    """Let is_complete fail with this error, unless it finds a cluster that this request has made."""
    log("failure is left to is_complete", level="WARNING", cluster=desired.name, reason=str(error))
    answer = _made(desired, aws)
    answer["Handover"]["Doubt"] = shorten(str(error), _DOUBT_BYTES)
    return answer


def _not_made(event: Event, desired: Desired, error: Exception, aws: Aws) -> dict[str, Any]:
    """CreateCluster ended with an error; one of its attempts may have taken effect all the same."""
    try:
        live = patiently(aws, find, aws=aws, name=desired.name)
    except AWS_ERRORS:
        return unsure(desired, error, aws)
    if live is not None:
        return _adopt(event, desired, live, aws)
    if is_name_in_use(error):
        return unsure(desired, RefusedError(_IN_USE.format(name=desired.name)), aws)
    if is_outcome_unknown(error):
        return unsure(desired, error, aws)
    raise error


def _adopt(event: Event, desired: Desired, live: Live, aws: Aws) -> dict[str, Any]:
    try:
        tags = patiently(aws, read_tags, aws=aws, arn=live.arn)
    except AWS_ERRORS as error:
        return unsure(desired, error, aws)
    if not is_ours(tags, event):
        raise RefusedError(
            f"ClusterName: a cluster {desired.name} exists and is not this stack's: {owner(tags)}. Choose "
            f"another name, or delete that cluster if it is left over: it was not touched ({live.arn})"
        )
    if live.status == "Deleting":
        raise RefusedError(
            f"ClusterName: {desired.name} is still being deleted. Deploy again when it is gone"
        )
    if is_made_by(tags, event):
        log("this request has made the cluster already", cluster=desired.name, status=live.status)
        return _made(desired, aws)
    log("cluster exists and is ours: taken over", cluster=desired.name, status=live.status)
    try:
        return converge(aws, event, desired=desired, old=Desired(request={}), live=live, tags=tags)
    except AWS_ERRORS as error:
        # some of it may be done; and of what fails here, the framework swallows the Delete that follows
        return unsure(desired, error, aws)
