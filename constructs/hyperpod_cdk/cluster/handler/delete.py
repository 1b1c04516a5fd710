"""Delete: only what the tags say is ours, as often as it takes."""

import math
import re
from collections.abc import Mapping
from typing import Any

from .clients import Aws
from .errors import AWS_ERRORS, ClusterFailedError, code_of, is_conflict, is_not_found, is_transient
from .event import Event
from .live import Live, find
from .log import log
from .ownership import is_ours, missing_tag, read_tags
from .patience import patiently
from .request import lenient_desired_of


def on_delete(event: Event, aws: Aws) -> dict[str, Any]:
    """Ask for the deletion, and return at once; is_complete asks again while the cluster is busy.

    Returns:
        The physical id that came in, and what is_complete needs.
    """
    clusters = [
        live.arn
        for name in candidates(event, aws)
        if (live := patiently(aws, delete_if_ours, event=event, name=name, aws=aws)) is not None
    ]
    log("deletion asked for" if clusters else "nothing of ours to delete", clusters=clusters)
    return {
        "PhysicalResourceId": event.physical_id,
        "Handover": {"Since": int(aws.now()), "Clusters": clusters},
    }


def candidates(event: Event, aws: Aws) -> list[str]:
    """Give the names under which a cluster of ours may live.

    The physical id is the name; but CloudFormation makes up an id when a stack fails before a Create has
    answered, and then only the properties tell.
    """
    names = dict.fromkeys((event.physical_id, lenient_desired_of(event.properties, aws).name))
    rules = aws.input_shape("CreateCluster").members["ClusterName"].metadata
    return [name for name in names if len(name) <= rules["max"] and re.fullmatch(rules["pattern"], name)]


def delete_if_ours(event: Event, name: str, aws: Aws, *, made_until: float = math.inf) -> Live | None:
    """Ask for the deletion of a cluster if the tags say that it is ours, and it is not going already.

    Args:
        event: whose cluster it must be.
        name: the cluster's, or its ARN.
        aws: the way to AWS.
        made_until: spare a cluster that was made later, in seconds since 1970.

    Returns:
        The cluster while it is there and ours, whether or not it could be asked now; None otherwise.

    Raises:
        ClusterFailedError: on Delete, one of the tags that say that it is ours was taken away.
    """
    live = find(aws, name)
    if live is None or live.made > made_until:
        return None
    try:
        tags = read_tags(aws, live.arn)
        if not is_ours(tags, event):
            _check_nothing_was_taken(live, tags, event)
            log("cluster is not ours and is not touched", cluster=name, arn=live.arn)
            return None
        if live.status != "Deleting":
            aws.sagemaker.delete_cluster(ClusterName=live.arn)
    except AWS_ERRORS as error:
        if is_not_found(error):
            return None
        if code_of(error) == "ValidationException":
            return _going(live, error, aws)
        if not is_conflict(error):
            raise
        log("cluster is busy, deletion will be asked for again", cluster=name, status=live.status)
    return live


def _check_nothing_was_taken(live: Live, tags: Mapping[str, str], event: Event) -> None:
    missing = missing_tag(tags, event)
    if missing and event.kind == "Delete" and live.status != "Deleting":
        raise ClusterFailedError(
            f"cluster {live.name} is there, but its tag {missing} was taken away, and without it nothing is "
            f"deleted: delete the cluster by hand, or put the tag back and delete again ({live.arn})"
        )


def _going(live: Live, error: Exception, aws: Aws) -> Live | None:
    """The cluster if it is on its way out, None if it is gone; it was there a moment ago.

    ListTags calls what is gone an invalid request (github.com/aws/amazon-sagemaker-feedback/issues/108).
    """
    again = find(aws, live.arn)
    if again is not None and again.status != "Deleting":
        raise error
    return again


def delete_logs(event: Event, aws: Aws) -> None:
    """Delete the log groups of the clusters that this deletion took away, if they are still there."""
    name = lenient_desired_of(event.properties, aws).name or event.physical_id
    for arn in event.handover.get("Clusters", ()):
        group = f"/aws/sagemaker/Clusters/{name}/{arn.rsplit('/', 1)[-1]}"
        try:
            aws.logs.delete_log_group(logGroupName=group)
        except AWS_ERRORS as error:
            if is_transient(error):
                raise
            # The cluster is gone. Not to reach its logs is no reason to fail the deletion.
            log("log group is left", level="WARNING", log_group=group, code=code_of(error), reason=str(error))
            continue
        log("log group deleted", log_group=group)
