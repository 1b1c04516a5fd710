"""One mutating call of an update."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .clients import Aws
from .errors import AWS_ERRORS, is_conflict
from .log import log
from .patience import patiently


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


def send(aws: Aws, name: str, step: Step, *, patient: bool) -> bool:
    """Make the call; False when the cluster is busy and it must be made later.

    A call that took effect although its answer was lost is found busy when it is repeated.

    Args:
        aws: the way to AWS.
        name: the cluster's.
        step: what to send.
        patient: repeat the call while IAM or the network stands in the way; a poll has no time for that.
    """
    call = getattr(aws.sagemaker, step.operation)
    arguments = {"ClusterName": name, **step.arguments}
    try:
        patiently(aws, call, **arguments) if patient else call(**arguments)
    except AWS_ERRORS as error:
        if not is_conflict(error):
            raise
        log("cluster is busy, the call is left for later", cluster=name, step=step.key)
        return False
    log("call accepted", cluster=name, step=step.key, members=sorted(step.arguments))
    return True
