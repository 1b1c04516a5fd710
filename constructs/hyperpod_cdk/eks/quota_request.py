"""From a team to the CreateComputeQuota request. Nothing else here knows the API's PascalCase."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.spec import ComputeQuotaResource, ResourceSharingConfig, Team


def create_compute_quota_request(team: Team, *, cluster_arn: str) -> dict[str, Any]:
    """The CreateComputeQuota request of a team, whose quota is called as the team.

    Args:
        team: the spec.
        cluster_arn: of the HyperPod cluster; tokens allowed.
    """
    sharing = team.resource_sharing_config
    request: dict[str, Any] = _without_none(
        {
            "Name": team.team_name,
            "Description": team.description,
            "ClusterArn": cluster_arn,
            "ComputeQuotaConfig": {
                "ComputeQuotaResources": [_resource(one) for one in team.compute_quota_resources],
                "ResourceSharingConfig": _sharing(sharing) if sharing else None,
                "PreemptTeamTasks": team.preempt_team_tasks,
            },
            "ComputeQuotaTarget": {
                "TeamName": team.team_name,
                "FairShareWeight": team.fair_share_weight,
            },
            "ActivationState": None if team.active else "Disabled",
            "Tags": [{"Key": key, "Value": value} for key, value in team.tags.items()] or None,
        }
    )
    return request


def _sharing(sharing: ResourceSharingConfig) -> dict[str, Any]:
    return {
        "Strategy": sharing.strategy,
        "BorrowLimit": sharing.borrow_limit,
        "AbsoluteBorrowLimits": [_resource(one) for one in sharing.absolute_borrow_limits] or None,
    }


def _resource(resource: ComputeQuotaResource) -> dict[str, Any]:
    partition = resource.accelerator_partition
    return {
        "InstanceType": resource.instance_type,
        "Count": resource.count,
        "Accelerators": resource.accelerators,
        "VCpu": resource.vcpu,
        "MemoryInGiB": resource.memory_in_gib,
        "AcceleratorPartition": partition and {"Type": partition.type, "Count": partition.count},
    }


def _without_none(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_none(inner) for key, inner in value.items() if inner is not None}
    if isinstance(value, list):
        return [_without_none(inner) for inner in value]
    return value
