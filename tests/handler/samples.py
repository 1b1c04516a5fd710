"""Requests for clusters, as the custom resource's properties have them."""

import copy
from collections.abc import Callable
from typing import Any

Request = dict[str, Any]

ROLE = "arn:aws:iam::123456789012:role/node"
OTHER_ROLE = "arn:aws:iam::123456789012:role/other"
SCRIPTS = "s3://sagemaker-scripts/scripts/0a1b2c"
NEW_SCRIPTS = "s3://sagemaker-scripts/scripts/9f8e7d"


def group(name: str, kind: str = "Compute", *, count: int = 1, **members: Any) -> Request:
    """An instance group of a Slurm cluster."""
    slurm: Request = {"NodeType": kind}
    if kind == "Compute":
        slurm["PartitionNames"] = [name]
    return {
        "InstanceGroupName": name,
        "InstanceType": "ml.c5.large",
        "InstanceCount": count,
        "ExecutionRole": ROLE,
        "LifeCycleConfig": {"SourceS3Uri": SCRIPTS, "OnCreate": "on_create.sh"},
        "SlurmConfig": slurm,
        **members,
    }


def cluster(*groups: Request, continuous: bool = False, **members: Any) -> Request:
    """A Slurm cluster; without groups it has a controller and two compute nodes."""
    slurm: Request = {} if continuous else {"SlurmConfigStrategy": "Managed"}
    mode: Request = {"NodeProvisioningMode": "Continuous"} if continuous else {}
    return {
        "ClusterName": "ml",
        "InstanceGroups": list(groups) or [group("controller", "Controller"), group("compute", count=2)],
        "Orchestrator": {"Slurm": slurm},
        **mode,
        **members,
    }


def properties(request: Request, **further: Any) -> Request:
    """The custom resource's properties for a request."""
    return {"ServiceToken": "arn:aws:lambda:::function:f", "Format": "1", "Request": request, **further}


def changed(request: Request, change: Callable[[Request], Any]) -> Request:
    """A copy of a request with something changed in it."""
    copied = copy.deepcopy(request)
    change(copied)
    return copied


def regroup(request: Request, name: str, **members: Any) -> Request:
    """A copy of a request with members of one group replaced; None takes a member away."""

    def change(copied: Request) -> None:
        for entry in copied["InstanceGroups"]:
            if entry["InstanceGroupName"] == name:
                entry.update(members)
                for member in [key for key, value in members.items() if value is None]:
                    del entry[member]

    return changed(request, change)


def stringified(value: Any) -> Any:
    """What CloudFormation makes of property values on the way to a custom resource."""
    if isinstance(value, dict):
        return {key: stringified(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [stringified(item) for item in value]
    return str(value).lower() if isinstance(value, bool) else str(value)
