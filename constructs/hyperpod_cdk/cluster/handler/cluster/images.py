"""Images that a new cluster is to start with: what EC2 says of them, before CreateCluster.

Of what a preflight looks at, this and whose the cluster's name is are all that the handler's own permissions
allow. It only ever spares a doomed CreateCluster: what can not be looked at does not stop the creation.
"""

from collections.abc import Mapping
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, RefusedError, code_of
from ..log import log
from .request import GROUP_LISTS, Desired

_SLURM_SINCE = "2026-01-01"
"""Images before it know no SlurmConfig (developer guide, sagemaker-hyperpod-slurm-api-config-migration.html,
2026-10). Only a doubt: a date is not a release."""
_LOOKS = 3
_PAUSE_SECONDS = 5.0
"""EC2 may show an image some seconds after it was made."""


def refuse_unusable_images(aws: Aws, desired: Desired) -> None:
    """Refuse images that are not there or not available.

    Args:
        aws: the way to AWS.
        desired: the cluster that is to be made.

    Raises:
        RefusedError: EC2 answers that an image can not be used; all of them are named.
    """
    wanted = _images(desired.request)
    if not wanted:
        return
    try:
        faults = _faults(wanted, aws)
    except AWS_ERRORS as error:
        # CreateCluster itself will tell
        log("images can not be looked at", level="WARNING", code=code_of(error), reason=str(error))
        return
    if faults:
        raise RefusedError("; ".join(faults))


def _faults(wanted: Mapping[str, str], aws: Aws) -> list[str]:
    for look in range(_LOOKS):
        known = _described(list(wanted), aws)
        if look == _LOOKS - 1 or all(image in known for image in wanted):
            break
        aws.sleep(_PAUSE_SECONDS)
    old = [image for image, shown in known.items() if shown.get("CreationDate", _SLURM_SINCE) < _SLURM_SINCE]
    if old:
        log("images may be too old for SlurmConfig", level="WARNING", images=old, since=_SLURM_SINCE)
    states = {image: shown["State"] for image, shown in known.items()}
    return [
        f"{path}: image {image} {_fault(states.get(image))}"
        for image, path in wanted.items()
        if states.get(image) != "available"
    ]


def _fault(state: str | None) -> str:
    if state is None:
        return "is not there. Use an image of this account and Region"
    return f"is {state}, not available. Deploy again when it is, or use another image"


def _described(images: list[str], aws: Aws) -> dict[str, dict[str, Any]]:
    answer = aws.ec2.describe_images(Filters=[{"Name": "image-id", "Values": images}])
    return {image["ImageId"]: image for image in answer["Images"]}


def _images(request: Mapping[str, Any]) -> dict[str, str]:
    """Where each image is named first."""
    found: dict[str, str] = {}
    for key in GROUP_LISTS:
        for group in request.get(key, ()):
            image = str(group.get("ImageId", ""))
            if image.startswith("ami-"):
                found.setdefault(image, f"{key}[{group['InstanceGroupName']}].ImageId")
    return found
