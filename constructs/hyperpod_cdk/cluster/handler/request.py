"""What is asked for: the cluster that the resource's properties describe."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from botocore.validate import ParamValidator

from .cast import cast
from .clients import Aws
from .errors import RefusedError

FORMATS = frozenset({"1"})
"""Every property format ever released; each must pass Delete and a rollback's Update for ever."""

PROPERTIES = frozenset(
    {
        "ServiceToken",
        "ServiceTimeout",
        "Format",
        "Request",
        "DeploymentConfig",
        "GroupByGroup",
        "ControllerGroup",
        "Wait",
        "Watch",
        "LogGroupRemoval",
    }
)


class Wait(StrEnum):
    """What a Create or Update waits for."""

    ACCEPTED = "Accepted"
    IN_SERVICE = "InService"
    MINIMUM_COUNTS = "MinimumCounts"


GROUP_LISTS = ("InstanceGroups", "RestrictedInstanceGroups")


@dataclass(frozen=True, kw_only=True)
class Desired:
    """The cluster that the properties describe.

    Args:
        request: for CreateCluster, in the API's types; without the ownership tags.
        deployment: the rolling policy of software updates; None leaves it to the group's
            ScheduledUpdateConfig and then to the service.
        group_by_group: whether software updates take one group after the other.
        controller_group: group that users log in through; None for the one whose node type is Controller.
        wait: what counts as done.
        watch: the StateMachine that goes on waiting, the Handle of the condition that it tells, and the
            Seconds that the condition waits.
        removes_logs: delete the log group of the cluster's nodes with the cluster.
    """

    request: Mapping[str, Any]
    deployment: Mapping[str, Any] | None = None
    group_by_group: bool = False
    controller_group: str | None = None
    wait: Wait = Wait.IN_SERVICE
    watch: Mapping[str, str] | None = None
    removes_logs: bool = False

    @property
    def name(self) -> str:
        """The cluster's name; empty when the properties have none."""
        return str(self.request.get("ClusterName", ""))

    @property
    def tags(self) -> dict[str, str]:
        """The user's tags."""
        return {tag["Key"]: tag.get("Value", "") for tag in self.request.get("Tags", ())}

    @property
    def security_groups(self) -> list[str]:
        """Every security group that the cluster's network interfaces may have."""
        configs = [self.request.get("VpcConfig", {})]
        configs += [
            group.get("OverrideVpcConfig", {}) for key in GROUP_LISTS for group in self.request.get(key, ())
        ]
        return sorted({group for config in configs for group in config.get("SecurityGroupIds", ())})


def desired_of(properties: Mapping[str, Any], aws: Aws) -> Desired:
    """Read and check ResourceProperties; makes no call.

    Raises:
        RefusedError: unknown format, property or member; a value of the wrong type; a required member that is
            missing; a range that is broken; no instance group at all.
    """
    known = properties.get("Format", "1")
    if known not in FORMATS:
        raise RefusedError(f"Format: this handler reads {', '.join(sorted(FORMATS))}, got: {known!r}")
    unknown = sorted(set(properties) - PROPERTIES)
    if unknown:
        raise RefusedError(f"{unknown[0]}: unknown property; allowed: {', '.join(sorted(PROPERTIES))}")
    allowed = [str(wait) for wait in Wait]
    if properties.get("Wait", Wait.IN_SERVICE) not in allowed:
        raise RefusedError(f"Wait: allowed: {', '.join(allowed)}, got: {properties['Wait']!r}")
    desired = _read(properties, aws, strict=True)
    report = ParamValidator().validate(dict(desired.request), aws.input_shape("CreateCluster"))
    if report.has_errors():
        raise RefusedError(f"Request: {report.generate_report()}")
    if not any(desired.request.get(key) for key in GROUP_LISTS):
        raise RefusedError("Request.InstanceGroups: a cluster needs at least one instance group, got none")
    return desired


def lenient_desired_of(properties: Mapping[str, Any], aws: Aws) -> Desired:
    """Read properties of the past, which another release may have written; never refuses.

    What can not be read counts as absent.
    """
    try:
        return _read(properties, aws, strict=False)
    except RefusedError:
        request = properties.get("Request")
        name = request.get("ClusterName") if isinstance(request, Mapping) else None
        return Desired(request={"ClusterName": name} if isinstance(name, str) else {})


def _read(properties: Mapping[str, Any], aws: Aws, *, strict: bool) -> Desired:
    request = cast(
        properties.get("Request") or {}, aws.input_shape("CreateCluster"), "Request", strict=strict
    )
    deployment_shape = aws.input_shape("UpdateClusterSoftware").members["DeploymentConfig"]
    deployment = properties.get("DeploymentConfig")
    return Desired(
        request=request,
        deployment=cast(deployment, deployment_shape, "DeploymentConfig", strict=strict)
        if deployment
        else None,
        group_by_group=properties.get("GroupByGroup") == "true",
        controller_group=properties.get("ControllerGroup") or None,
        wait=next((wait for wait in Wait if wait == properties.get("Wait")), Wait.IN_SERVICE),
        watch=properties.get("Watch") or None,
        removes_logs=properties.get("LogGroupRemoval") == "Delete",
    )
