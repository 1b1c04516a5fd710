"""Delete: only what the tags say is ours, as often as it takes."""

import math
import re
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, QuotaFailedError, is_conflict, is_not_found
from ..event import Event
from ..log import log
from ..ownership import is_ours, missing_tag, read_tags
from ..patience import patiently
from .live import Live, find, look
from .request import lenient_desired_of

_PHYSICAL_ID = re.compile(r"[a-z0-9]{12}/[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}")


def on_delete(event: Event, aws: Aws) -> dict[str, Any]:
    """Ask for the deletion, and return at once; is_complete asks again while the quota is busy.

    Returns:
        The physical id that came in, and what is_complete needs.
    """
    quotas = [
        live.id
        for wanted in candidates(event, aws)
        if (live := patiently(aws, delete_if_ours, event=event, wanted=wanted, aws=aws)) is not None
    ]
    log("deletion asked for" if quotas else "nothing of ours to delete", quotas=quotas)
    return {
        "PhysicalResourceId": event.physical_id,
        "Handover": {"Since": int(aws.now()), "Quotas": quotas},
    }


def candidates(event: Event, aws: Aws) -> list[str]:
    """Give the physical ids under which a quota of ours may live.

    CloudFormation makes up an id when a stack fails before a Create has answered, and then only the
    properties tell.
    """
    ids = dict.fromkeys((event.physical_id, lenient_desired_of(event.properties, aws).physical_id))
    return [one for one in ids if _PHYSICAL_ID.fullmatch(one)]


def delete_if_ours(event: Event, wanted: str, aws: Aws, *, made_until: float = math.inf) -> Live | None:
    """Ask for the deletion of a quota if the tags say that it is ours, and it is not going already.

    Args:
        event: whose quota it must be.
        wanted: the quota's physical id, or the service's own.
        aws: the way to AWS.
        made_until: spare a quota that was made later, in seconds since 1970.

    Returns:
        The quota while it is there and ours, whether or not it could be asked now; None otherwise.

    Raises:
        QuotaFailedError: on Delete, one of the tags that say that it is ours was taken away.
    """
    live = find(aws, wanted) if "/" in wanted else look(aws, wanted)
    if live is None or live.made > made_until:
        return None
    try:
        tags = read_tags(aws, live.arn)
        if not is_ours(tags, event):
            missing = missing_tag(tags, event)
            if missing and event.kind == "Delete" and live.status != "Deleting":
                raise QuotaFailedError(
                    f"compute quota {live.name} is there, but its tag {missing} was taken away, and without "
                    "it nothing is deleted: delete the quota by hand, or put the tag back and delete again "
                    f"({live.arn})"
                )
            log("quota is not ours and is not touched", quota=wanted, arn=live.arn)
            return None
        if live.status != "Deleting":
            aws.sagemaker.delete_compute_quota(ComputeQuotaId=live.id)
    except AWS_ERRORS as error:
        if is_not_found(error):
            return None
        if not is_conflict(error):
            raise
        log("quota is busy, deletion will be asked for again", quota=wanted, status=live.status)
    return live
