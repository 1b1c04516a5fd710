"""What a deleted cluster leaves behind: network interfaces, which are waited for, and its nodes' logs."""

from ..clients import Aws
from ..errors import AWS_ERRORS, code_of, is_transient
from ..event import Event
from ..log import log
from .interfaces import lingers
from .live import find
from .request import FORM, Desired


def is_all_gone(event: Event, aws: Aws) -> bool:
    """Whether nothing holds the security groups any more; the logs go last, if they are to go."""
    desired = FORM.read_leniently(event.properties, aws)
    waited = aws.now() - event.handover["Since"]
    names = _names_on_interfaces(event, desired, aws)
    if names and lingers(aws, security_groups=desired.security_groups, names=names, waited=waited):
        return False
    if desired.removes_logs:
        _delete_logs(event, desired.name or event.physical_id, aws)
    return True


def _names_on_interfaces(event: Event, desired: Desired, aws: Aws) -> list[str]:
    """What our interfaces call the cluster: its ARN and id, or its name if it was gone before we saw it.

    A name that is another's now is nothing to wait for.
    """
    arns = event.handover.get("Going", ())
    if arns:
        return [part for arn in arns for part in (arn, arn.rsplit("/", 1)[-1])]
    return [desired.name] if desired.name and find(aws, desired.name) is None else []


def _delete_logs(event: Event, name: str, aws: Aws) -> None:
    """Delete the log groups of the clusters that this deletion took away, if they are still there."""
    for arn in event.handover.get("Going", ()):
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
