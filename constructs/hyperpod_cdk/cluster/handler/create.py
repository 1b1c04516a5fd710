"""Create: every check first, CreateCluster last, and nothing that can fail after it."""

from typing import Any

from .clients import Aws
from .converge import converge
from .errors import AWS_ERRORS, RefusedError, is_name_in_use, is_outcome_unknown
from .live import Live, find
from .log import log
from .ownership import (
    MAX_USER_TAGS,
    OWN_TAGS,
    creation_tags,
    is_made_by,
    is_ours,
    read_tags,
    tag_list,
)
from .patience import patiently
from .request import Desired, Event, desired_of


def on_create(event: Event, aws: Aws) -> dict[str, Any]:
    """Make the cluster, or take over the one that an earlier delivery of the same request made.

    Returns:
        The physical id, which is the cluster's name, and what is_complete needs.

    Raises:
        RefusedError: the properties are wrong, or the name is another's; nothing was made.
        ClientError, BotoCoreError: the service refused; nothing was made.
    """
    return make(event, desired_of(event.properties, aws), aws)


def make(event: Event, desired: Desired, aws: Aws) -> dict[str, Any]:
    """Make a cluster for a Create, or for an Update that changes the name.

    When the answer to CreateCluster is lost and nothing can be found out, the cluster counts as made: the id
    that this returns is what lets CloudFormation delete it again.
    """
    _check_tags(desired)
    live = patiently(aws, find, aws=aws, name=desired.name)
    if live is not None:
        return _adopt(event, desired, live, aws)
    tags = tag_list({**desired.tags, **creation_tags(event)})
    try:
        patiently(aws, aws.sagemaker.create_cluster, **{**desired.request, "Tags": tags})
    except AWS_ERRORS as error:
        if is_name_in_use(error):
            return _adopt(event, desired, _taken(desired, aws), aws)
        if not is_outcome_unknown(error):
            raise
        log("answer of CreateCluster was lost", level="WARNING", cluster=desired.name, reason=str(error))
    return _made(desired, aws)


def _made(desired: Desired, aws: Aws) -> dict[str, Any]:
    return {"PhysicalResourceId": desired.name, "Handover": {"Since": int(aws.now())}}


def _adopt(event: Event, desired: Desired, live: Live, aws: Aws) -> dict[str, Any]:
    tags = patiently(aws, read_tags, aws=aws, arn=live.arn)
    if not is_ours(tags, event):
        raise RefusedError(
            f"ClusterName: a cluster {desired.name} exists and is not this stack's ({live.arn}). "
            "Choose another name; that cluster was not touched"
        )
    if live.status == "Deleting":
        raise RefusedError(
            f"ClusterName: {desired.name} is still being deleted. Deploy again when it is gone"
        )
    if is_made_by(tags, event):
        log("this request has made the cluster already", cluster=desired.name, status=live.status)
        return _made(desired, aws)
    log("cluster exists and is ours: taken over", cluster=desired.name, status=live.status)
    return converge(aws, event, desired=desired, old=Desired(request={}), live=live, tags=tags)


def _taken(desired: Desired, aws: Aws) -> Live:
    live = patiently(aws, find, aws=aws, name=desired.name)
    if live is None:
        raise RefusedError(
            f"ClusterName: {desired.name} is in use, but no such cluster can be seen. Deploy again, or "
            "choose another name"
        )
    return live


def _check_tags(desired: Desired) -> None:
    own = sorted(OWN_TAGS & set(desired.tags))
    if own:
        raise RefusedError(f"Request.Tags[{own[0]}]: the name is kept for this resource; choose another")
    if len(desired.tags) > MAX_USER_TAGS:
        raise RefusedError(
            f"Request.Tags: at most {MAX_USER_TAGS} of the 50 tags of a cluster are free, "
            f"got {len(desired.tags)}"
        )
