"""Update: from the living quota to the one asked for.

CloudFormation also sends an Update to roll back, while the quota may still be busy with the update that
failed. What can not be sent now is noted on the quota and sent by is_complete, as for a cluster.
"""

from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, QuotaFailedError, RefusedError, is_not_found
from ..event import Event
from ..ownership import check_tags, is_ours, owner, read_tags
from ..patience import patiently
from .converge import converge
from .create import make, unsure
from .delete import delete_if_ours
from .live import Live, find
from .request import Desired, desired_of, lenient_desired_of


def on_update(event: Event, aws: Aws) -> dict[str, Any]:
    """Send what the quota lacks; nothing when it lacks nothing.

    Returns:
        The physical id: the one that came in, or a new quota's when Name or ClusterArn changed.

    Raises:
        RefusedError: the properties are wrong, or change what is fixed; nothing was changed.
        QuotaFailedError: the quota is gone.
        ClientError, BotoCoreError: the service refused.
    """
    desired = desired_of(event.properties, aws)
    check_tags(desired.tags)
    old = lenient_desired_of(event.old_properties, aws)
    if desired.physical_id != event.physical_id:
        _refuse_second_quota(desired, old)
        return make(event, desired, aws)
    if old.physical_id in ("", desired.physical_id):
        return _in_place(event, desired, old, aws)
    return _back(event, desired, old, aws)


def _refuse_second_quota(desired: Desired, old: Desired) -> None:
    """A new quota is made before the old one goes, and a team has one."""
    if desired.cluster_arn == old.cluster_arn and desired.team == old.team:
        raise RefusedError(
            f"Name can not change from {old.name} to {desired.name} while it is the quota of team "
            f"{desired.team}, which can not have two at once: keep the name, or change the team as well"
        )


def _in_place(event: Event, desired: Desired, old: Desired, aws: Aws) -> dict[str, Any]:
    live = _find(desired, aws)
    if live is None or live.status == "Deleting":
        raise QuotaFailedError(
            f"compute quota {desired.name} is gone: it was deleted outside of CloudFormation. Take the team "
            "out, deploy, and put it back. If a rollback ends here: continue-update-rollback, with this "
            "resource skipped"
        )
    tags = patiently(aws, read_tags, aws=aws, arn=live.arn)
    if not is_ours(tags, event):
        whose = owner(tags, "compute quota")
        raise RefusedError(
            f"Name: compute quota {desired.name} is not this stack's any more: {whose} ({live.arn})"
        )
    return converge(aws, event, desired=desired, old=old, live=live, tags=tags)


def _find(desired: Desired, aws: Aws) -> Live | None:
    """The whole quota: of what a list tells alone, nobody knows what differs."""
    try:
        return patiently(aws, find, also=is_not_found, aws=aws, physical_id=desired.physical_id, whole=True)
    except AWS_ERRORS as error:
        if is_not_found(error):
            return None
        raise


def _back(event: Event, desired: Desired, old: Desired, aws: Aws) -> dict[str, Any]:
    """A replacement failed and CloudFormation goes back to the quota whose id it kept.

    It may never send a Delete for the new one, so is_complete deletes it, and only then succeeds or fails.
    """
    leftover = _leftover(event, old, aws)
    try:
        result = _in_place(event, desired, old, aws)
    except (RefusedError, QuotaFailedError, *AWS_ERRORS) as error:
        result = unsure(desired, error, aws)
    result["Handover"]["Leftover"] = leftover
    return result


def _leftover(event: Event, old: Desired, aws: Aws) -> str:
    """The id of what the replacement made, or its name: a list may not show yet what is there."""
    try:
        live = patiently(aws, delete_if_ours, event=event, wanted=old.physical_id, aws=aws)
    except AWS_ERRORS:
        return old.physical_id
    return live.id if live is not None else old.physical_id
