"""Update: from the living cluster to the one asked for, with as few calls as it takes.

CloudFormation also sends an Update to roll back, while the cluster may still be busy with the update that
failed. Waiting for it here would hold a Lambda function for longer than it lives, and give up on the very
updates that take longest. So what can not be sent now is noted on the cluster and sent by is_complete, poll
by poll. The note names the request: a poller of a cancelled update finds a newer one and sends nothing.
"""

from typing import Any

from .clients import Aws
from .converge import converge
from .create import make, unsure
from .delete import delete_if_ours
from .errors import AWS_ERRORS, ClusterFailedError, RefusedError
from .event import Event, check_size
from .live import find
from .ownership import check_tags, is_ours, owner, read_tags
from .patience import patiently
from .request import Desired, desired_of, lenient_desired_of


def on_update(event: Event, aws: Aws) -> dict[str, Any]:
    """Send what the cluster lacks; nothing when it lacks nothing.

    Returns:
        The physical id: the one that came in, or a new cluster's when ClusterName changed.

    Raises:
        RefusedError: the properties are wrong, or the service fixes what they change; nothing was changed.
        ClusterFailedError: the cluster is gone, or not ours.
        ClientError, BotoCoreError: the service refused.
    """
    check_size(event)
    desired = desired_of(event.properties, aws)
    check_tags(desired.tags)
    old = lenient_desired_of(event.old_properties, aws)
    if desired.name != event.physical_id:
        return make(event, desired, aws)
    if old.name in ("", desired.name):
        return _in_place(event, desired, old, aws)
    return _back(event, desired, old, aws)


def _in_place(event: Event, desired: Desired, old: Desired, aws: Aws) -> dict[str, Any]:
    live = patiently(aws, find, aws=aws, name=desired.name)
    if live is None or live.status == "Deleting":
        raise ClusterFailedError(
            f"cluster {desired.name} is gone: it was deleted outside of CloudFormation. Change ClusterName "
            "to make it anew. If a rollback ends here: continue-update-rollback, with this resource skipped"
        )
    tags = patiently(aws, read_tags, aws=aws, arn=live.arn)
    if not is_ours(tags, event):
        raise RefusedError(
            f"ClusterName: cluster {desired.name} is not this stack's any more: {owner(tags)} ({live.arn})"
        )
    return converge(aws, event, desired=desired, old=old, live=live, tags=tags)


def _back(event: Event, desired: Desired, old: Desired, aws: Aws) -> dict[str, Any]:
    """A replacement failed and CloudFormation goes back to the cluster whose id it kept.

    It may never send a Delete for the new one, so is_complete deletes it, and only then succeeds or fails.
    """
    leftover = _leftover(event, old, aws)
    try:
        result = _in_place(event, desired, old, aws)
    except (RefusedError, ClusterFailedError, *AWS_ERRORS) as error:
        result = unsure(desired, error, aws)
    if leftover:
        result["Handover"]["Leftover"] = leftover
    return result


def _leftover(event: Event, old: Desired, aws: Aws) -> str:
    """The ARN of what the replacement made: a poll must not find a later cluster of the same name."""
    try:
        live = patiently(aws, delete_if_ours, event=event, name=old.name, aws=aws)
    except AWS_ERRORS:
        return old.name
    return live.arn if live is not None else ""
