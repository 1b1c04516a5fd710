"""Network interfaces that outlive their cluster, and with them its security groups and subnets."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, code_of, is_transient
from ..log import log

NAMED_SECONDS = 40 * 60
"""How long a deletion waits for interfaces that name the cluster, of the 55 minutes that it may take."""

UNNAMED_SECONDS = 10 * 60
"""How long it waits for interfaces of SageMaker that name no cluster, and may be another resource's."""

_VALUES = 100
"""Values of one filter; EC2 takes some 200 and no page says how many."""

_SAGEMAKER = re.compile(r"sagemaker|hyperpod", re.IGNORECASE)


def lingers(aws: Aws, *, security_groups: Sequence[str], names: Sequence[str], waited: float) -> bool:
    """Whether an interface of a deleted cluster still holds a security group.

    SageMaker removes them some time after the cluster is gone, and until then neither the security groups nor
    the subnets can be deleted. Interfaces of others in the same security groups do not count.

    Args:
        aws: the way to AWS.
        security_groups: ids of the groups that the cluster used.
        names: what an interface's description or tags call the cluster: its name, id and ARN.
        waited: seconds since the deletion began.
    """
    if not security_groups or waited >= NAMED_SECONDS:
        return False
    named = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?![\w-])" for name in names if name))
    try:
        texts = [_text(interface) for interface in _interfaces(aws, security_groups)]
    except AWS_ERRORS as error:
        if is_transient(error):
            raise
        # The cluster is gone. Not to see its interfaces is no reason to fail the deletion.
        log("network interfaces can not be seen", level="WARNING", code=code_of(error), reason=str(error))
        return False
    ours = [text for text in texts if named.search(text)]
    unnamed = [text for text in texts if not named.search(text) and _SAGEMAKER.search(text)]
    if ours or unnamed:
        log("network interfaces linger", named=len(ours), unnamed=len(unnamed), waited=waited)
    return bool(ours) or (bool(unnamed) and waited < UNNAMED_SECONDS)


def _interfaces(aws: Aws, security_groups: Sequence[str]) -> Iterator[dict[str, Any]]:
    for start in range(0, len(security_groups), _VALUES):
        yield from _interfaces_of(aws, security_groups[start : start + _VALUES])


def _interfaces_of(aws: Aws, security_groups: Sequence[str]) -> Iterator[dict[str, Any]]:
    page: dict[str, Any] = {}
    while True:
        answer = aws.ec2.describe_network_interfaces(
            Filters=[{"Name": "group-id", "Values": list(security_groups)}], **page
        )
        yield from answer["NetworkInterfaces"]
        if not answer.get("NextToken"):
            return
        page = {"NextToken": answer["NextToken"]}


def _text(interface: dict[str, Any]) -> str:
    tags = [f"{tag['Key']}={tag['Value']}" for tag in interface.get("TagSet", ())]
    return " ".join([interface.get("Description", ""), interface.get("InterfaceType", ""), *tags])
