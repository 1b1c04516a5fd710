"""The service's answers about clusters, groups and nodes, in the output shapes of the API."""

from typing import Any

from hyperpod_cdk.rehearsal.hyperpod import autoscaling
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Event, Group, Node, Spec

_GROUP_MEMBERS = (
    "InstanceGroupName",
    "InstanceType",
    "LifeCycleConfig",
    "ExecutionRole",
    "ThreadsPerCore",
    "InstanceStorageConfigs",
    "OnStartDeepHealthChecks",
    "TrainingPlanArn",
    "OverrideVpcConfig",
    "ScheduledUpdateConfig",
    "CapacityRequirements",
    "SlurmConfig",
    "NetworkInterface",
)
"""Members of a group that DescribeCluster gives as they were asked for."""

_SETTINGS = (
    "VpcConfig",
    "Orchestrator",
    "TieredStorageConfig",
    "NodeRecovery",
    "NodeProvisioningMode",
    "ClusterRole",
)
"""Members of a cluster that DescribeCluster gives as they were asked for."""


def cluster(sim: Simulation, described: Cluster) -> Spec:
    """Give DescribeClusterResponse.

    Args:
        sim: the simulation, which knows the newest image.
        described: the cluster.
    """
    groups = list(described.groups.values())
    plain = [_group(sim, described, group) for group in groups if not group.restricted]
    restricted = [_restricted_group(described, group) for group in groups if group.restricted]
    answer: Spec = {
        "ClusterArn": described.arn,
        "ClusterName": described.name,
        "ClusterStatus": described.status.value,
        "CreationTime": described.created_at,
        "FailureMessage": described.failure_message,
        "InstanceGroups": plain,
        **_picked(described.settings, _SETTINGS),
        **autoscaling.describe(described),
    }
    if restricted:
        answer["RestrictedInstanceGroups"] = restricted
    shared = described.settings.get("RestrictedInstanceGroupsConfig", {}).get("SharedEnvironmentConfig")
    if shared:
        answer["RestrictedInstanceGroupsConfig"] = {"SharedEnvironmentConfig": _twice(shared)}
    return answer


def cluster_summary(sim: Simulation, listed: Cluster) -> Spec:
    """Give an entry of ListClusters."""
    summary: Spec = {
        "ClusterArn": listed.arn,
        "ClusterName": listed.name,
        "CreationTime": listed.created_at,
        "ClusterStatus": listed.status.value,
        "ImageVersionStatus": _image_status(
            sim, *(node.image_release for node in listed.nodes if node.image_id == "default")
        ),
    }
    plans = training_plans(listed)
    if plans:
        summary["TrainingPlanArns"] = plans
    return summary


def training_plans(listed: Cluster) -> list[str]:
    """Give the training plans that a cluster's groups use."""
    specs = [group.spec for group in listed.groups.values()]
    return sorted({spec["TrainingPlanArn"] for spec in specs if "TrainingPlanArn" in spec})


def node(sim: Simulation, owner: Cluster, described: Node) -> Spec:
    """Give ClusterNodeDetails."""
    group = owner.groups[described.group_name]
    place = described.placement
    details: Spec = {
        **_node_basics(sim, described),
        "NodeLogicalId": described.logical_id,
        "PrivatePrimaryIp": place.private_ip,
        "Placement": {"AvailabilityZone": place.zone, "AvailabilityZoneId": place.zone_id},
        "CurrentImageId": described.image_id,
        "DesiredImageId": group.image_id,
        "DesiredImageReleaseVersion": group.image_release,
        "CapacityType": "Spot" if "Spot" in group.spec.get("CapacityRequirements", {}) else "OnDemand",
        **_picked(
            group.spec, ("OverrideVpcConfig", "ThreadsPerCore", "InstanceStorageConfigs", "NetworkInterface")
        ),
    }
    if described.life_cycle_config:
        details["LifeCycleConfig"] = described.life_cycle_config
    if "KubernetesConfig" in group.spec:
        details["KubernetesConfig"] = _twice(group.spec["KubernetesConfig"])
    return details


def node_summary(sim: Simulation, listed: Node, *, with_logical_id: bool) -> Spec:
    """Give an entry of ListClusterNodes."""
    summary = _node_basics(sim, listed)
    return {**summary, "NodeLogicalId": listed.logical_id} if with_logical_id else summary


def event_summary(owner: Cluster, event: Event) -> Spec:
    """Give an entry of ListClusterEvents."""
    summary: Spec = {
        "EventId": event.event_id,
        "ClusterArn": owner.arn,
        "ClusterName": owner.name,
        "ResourceType": event.resource_type,
        "EventTime": event.time,
        "Description": event.description,
        "EventLevel": event.level,
    }
    if event.group_name:
        summary["InstanceGroupName"] = event.group_name
    if event.instance_id:
        summary["InstanceId"] = event.instance_id
    return summary


def event_details(owner: Cluster, event: Event) -> Spec:
    """Give ClusterEventDetail."""
    return {**event_summary(owner, event), "EventDetails": {"EventMetadata": event.metadata}}


def _group(sim: Simulation, owner: Cluster, group: Group) -> Spec:
    details: Spec = {
        **_picked(group.spec, _GROUP_MEMBERS),
        **_counts(owner, group),
        "CurrentImageId": group.image_id,
        "DesiredImageId": group.image_id,
        "CurrentImageReleaseVersion": group.image_release,
        "DesiredImageReleaseVersion": group.image_release,
        "ImageVersionStatus": _image_status(sim, group.image_release),
    }
    if owner.is_continuous:
        details["MinCount"] = group.minimum
        details["TargetStateCount"] = group.target
    if group.software_update:
        details["SoftwareUpdateStatus"] = group.software_update
    if "InstanceRequirements" in group.spec:
        details.update(_flexible_types(owner, group))
    if "KubernetesConfig" in group.spec:
        details["KubernetesConfig"] = _twice(group.spec["KubernetesConfig"])
    if "AutoPatchConfig" in group.spec:
        details["AutoPatchConfig"] = _auto_patch(group.spec["AutoPatchConfig"])
    if "TrainingPlanArn" in group.spec:
        details["TrainingPlanStatus"] = "Active"
    return details


def _restricted_group(owner: Cluster, group: Group) -> Spec:
    asked_for = {member: value for member, value in group.spec.items() if member != "InstanceCount"}
    return {**asked_for, **_counts(owner, group)}


def _counts(owner: Cluster, group: Group) -> dict[str, Any]:
    return {
        "CurrentCount": len(owner.up(group.name)),
        "TargetCount": group.target,
        "Status": group.status.value,
    }


def _flexible_types(owner: Cluster, group: Group) -> Spec:
    found = [node.instance_type for node in owner.nodes_of(group.name)]
    requirements = {"DesiredInstanceTypes": group.instance_types}
    if found:
        requirements["CurrentInstanceTypes"] = sorted(set(found))
    return {
        "InstanceRequirements": requirements,
        "InstanceTypeDetails": [
            {
                "InstanceType": instance_type,
                "CurrentCount": found.count(instance_type),
                **_picked(group.spec, ("ThreadsPerCore",)),
            }
            for instance_type in group.instance_types
        ],
    }


def _auto_patch(config: Spec) -> Spec:
    details = {member: value for member, value in config.items() if member != "PatchSchedule"}
    schedule = config.get("PatchSchedule")
    if schedule:
        details["CurrentPatchSchedule"] = details["DesiredPatchSchedule"] = schedule
    return details


def _node_basics(sim: Simulation, described: Node) -> Spec:
    status: Spec = {"Status": described.status.value}
    if described.message:
        status["Message"] = described.message
    dashed = described.placement.private_ip.replace(".", "-")
    basics: Spec = {
        "InstanceGroupName": described.group_name,
        "InstanceId": described.instance_id,
        "InstanceType": described.instance_type,
        "LaunchTime": described.launched_at,
        "InstanceStatus": status,
        "PrivateDnsHostname": f"ip-{dashed}.{sim.account.region}.compute.internal",
        "CurrentImageReleaseVersion": described.image_release,
        "ImageVersionStatus": _image_status(sim, described.image_release),
    }
    if described.software_updated_at:
        basics["LastSoftwareUpdateTime"] = described.software_updated_at
    return basics


def _image_status(sim: Simulation, *releases: str) -> str:
    return "UpToDate" if all(release == sim.image_release for release in releases) else "UpdateAvailable"


def _picked(spec: Spec, members: tuple[str, ...]) -> Spec:
    return {member: spec[member] for member in members if member in spec}


def _twice(config: Spec) -> Spec:
    return {f"{when}{member}": value for when in ("Current", "Desired") for member, value in config.items()}
