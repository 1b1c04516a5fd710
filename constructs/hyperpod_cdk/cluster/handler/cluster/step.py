"""One mutating call of an update."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..clients import Aws
from ..errors import AWS_ERRORS, is_conflict
from ..log import log


@dataclass(frozen=True, kw_only=True)
class Step:
    """A call that is planned.

    Args:
        key: tells the steps of an update apart.
        operation: the client's method.
        arguments: of the call, without ClusterName.
    """

    key: str
    operation: str
    arguments: Mapping[str, Any]


def send(aws: Aws, name: str, step: Step) -> bool:
    """Make the call; False when the cluster is busy and it must be made later.

    A call that took effect although its answer was lost is found busy when it is repeated.

    Args:
        aws: the way to AWS.
        name: the cluster's.
        step: what to send.
    """
    try:
        getattr(aws.sagemaker, step.operation)(ClusterName=name, **step.arguments)
    except AWS_ERRORS as error:
        if not is_conflict(error):
            raise
        log("cluster is busy, the call is left for later", cluster=name, step=step.key)
        return False
    log("call accepted", cluster=name, step=step.key, members=sorted(step.arguments))
    return True
