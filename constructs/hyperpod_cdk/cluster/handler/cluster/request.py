"""What is asked for: the cluster that the resource's properties describe."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..cast import cast
from ..clients import Aws
from ..core import thing
from ..core.form import Form
from ..errors import RefusedError


class Wait(StrEnum):
    """What a Create or Update waits for."""

    ACCEPTED = "Accepted"
    IN_SERVICE = "InService"
    MINIMUM_COUNTS = "MinimumCounts"


GROUP_LISTS = ("InstanceGroups", "RestrictedInstanceGroups")


@dataclass(frozen=True, kw_only=True)
class Desired(thing.Desired):
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
    def physical_id(self) -> str:
        """The cluster's name."""
        return self.name

    @property
    def security_groups(self) -> list[str]:
        """Every security group that the cluster's network interfaces may have."""
        configs = [self.request.get("VpcConfig", {})]
        configs += [
            group.get("OverrideVpcConfig", {}) for key in GROUP_LISTS for group in self.request.get(key, ())
        ]
        return sorted({group for config in configs for group in config.get("SecurityGroupIds", ())})


def _build(request: Mapping[str, Any], properties: Mapping[str, Any], aws: Aws, strict: bool) -> Desired:
    shape = aws.input_shape("UpdateClusterSoftware").members["DeploymentConfig"]
    deployment = properties.get("DeploymentConfig")
    return Desired(
        request=request,
        deployment=cast(deployment, shape, "DeploymentConfig", strict=strict) if deployment else None,
        group_by_group=properties.get("GroupByGroup") == "true",
        controller_group=properties.get("ControllerGroup") or None,
        wait=next((wait for wait in Wait if wait == properties.get("Wait")), Wait.IN_SERVICE),
        watch=properties.get("Watch") or None,
        removes_logs=properties.get("LogGroupRemoval") == "Delete",
    )


def _check(properties: Mapping[str, Any], desired: Desired) -> None:
    if properties.get("Wait", desired.wait) != desired.wait:
        raise RefusedError(f"Wait: allowed: {', '.join(Wait)}, got: {properties['Wait']!r}")
    if not any(desired.request.get(key) for key in GROUP_LISTS):
        raise RefusedError("Request.InstanceGroups: a cluster needs at least one instance group, got none")


FORM = Form(
    operation="CreateCluster",
    formats=frozenset({"1"}),
    properties=frozenset(
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
    ),
    names=("ClusterName",),
    build=_build,
    check=_check,
)
"""Of the resource's properties."""
