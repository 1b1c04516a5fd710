"""Where each member of the CreateCluster request comes from in a spec."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StringShape

from hyperpod_cdk.spec import ExistingSubnet, Taint, TaintEffect
from tests.api_shapes import input_shape, walk
from tests.unit.rules.specs import BASE

_GROUP = "InstanceGroups[]"
_STORAGE = f"{_GROUP}.InstanceStorageConfigs[]"
_UPDATE = f"{_GROUP}.ScheduledUpdateConfig"
_ROLLING = f"{_UPDATE}.DeploymentConfig.RollingUpdatePolicy"
_POLICY = "compute.scheduled_update_config.deployment_config.rolling_update_policy"

CARRIED: Mapping[str, str] = {
    "ClusterName": "cluster.cluster_name",
    "InstanceGroups": "cluster.instance_groups",
    f"{_GROUP}.InstanceCount": "compute.instance_count",
    f"{_GROUP}.MinInstanceCount": "compute.min_instance_count",
    f"{_GROUP}.InstanceGroupName": "compute.instance_group_name",
    f"{_GROUP}.InstanceType": "compute.instance_type",
    f"{_GROUP}.LifeCycleConfig.SourceS3Uri": "compute.life_cycle_config.source_s3_uri",
    f"{_GROUP}.LifeCycleConfig.OnCreate": "login.life_cycle_config.on_create",
    f"{_GROUP}.LifeCycleConfig.OnInitComplete": "compute.life_cycle_config.on_init_complete",
    f"{_GROUP}.ExecutionRole": "compute.execution_role_arn",
    f"{_GROUP}.ThreadsPerCore": "compute.threads_per_core",
    f"{_STORAGE}.EbsVolumeConfig.VolumeSizeInGB": "compute.secondary_volume.volume_size_in_gb",
    f"{_STORAGE}.EbsVolumeConfig.VolumeKmsKeyId": "compute.root_volume.volume_kms_key_id",
    f"{_STORAGE}.FsxLustreConfig.DnsName": "compute.mounts[0].dns_name",
    f"{_STORAGE}.FsxLustreConfig.MountName": "compute.mounts[0].mount_name",
    f"{_STORAGE}.FsxLustreConfig.MountPath": "compute.mounts[0].mount_path",
    f"{_STORAGE}.FsxOpenZfsConfig.DnsName": "compute.mounts[1].dns_name",
    f"{_STORAGE}.FsxOpenZfsConfig.MountPath": "compute.mounts[1].mount_path",
    f"{_GROUP}.OnStartDeepHealthChecks": "compute.on_start_deep_health_checks",
    f"{_GROUP}.TrainingPlanArn": "compute.training_plan_arn",
    f"{_GROUP}.OverrideVpcConfig.SecurityGroupIds": "compute.override_vpc_config.security_group_ids",
    f"{_GROUP}.OverrideVpcConfig.Subnets": "compute.override_vpc_config.subnet_ids",
    f"{_UPDATE}.ScheduleExpression": "compute.scheduled_update_config.schedule_expression",
    f"{_ROLLING}.MaximumBatchSize.Type": f"{_POLICY}.maximum_batch_size.type",
    f"{_ROLLING}.MaximumBatchSize.Value": f"{_POLICY}.maximum_batch_size.value",
    f"{_ROLLING}.RollbackMaximumBatchSize.Type": f"{_POLICY}.rollback_maximum_batch_size.type",
    f"{_ROLLING}.RollbackMaximumBatchSize.Value": f"{_POLICY}.rollback_maximum_batch_size.value",
    f"{_UPDATE}.DeploymentConfig.WaitIntervalInSeconds": (
        "compute.scheduled_update_config.deployment_config.wait_interval_in_seconds"
    ),
    f"{_UPDATE}.DeploymentConfig.AutoRollbackConfiguration": (
        "compute.scheduled_update_config.deployment_config.auto_rollback_alarm_names"
    ),
    f"{_UPDATE}.DeploymentConfig.AutoRollbackConfiguration[].AlarmName": (
        "compute.scheduled_update_config.deployment_config.auto_rollback_alarm_names[0]"
    ),
    f"{_GROUP}.ImageId": "login.image_id",
    f"{_GROUP}.ImageReleaseVersion": "compute.image_release_version",
    f"{_GROUP}.SlurmConfig.NodeType": "compute.slurm_config.node_type",
    f"{_GROUP}.SlurmConfig.PartitionNames": "compute.slurm_config.partition_names",
    f"{_GROUP}.CapacityRequirements": "compute.capacity_requirements",
    f"{_GROUP}.NetworkInterface.InterfaceType": "compute.network_interface",
    "VpcConfig.SecurityGroupIds": "network.existing.security_group_ids",
    "VpcConfig.Subnets": "network.existing.subnets",
    "Tags": "cluster.tags",
    "Orchestrator.Slurm.SlurmConfigStrategy": "slurm.slurm_config_strategy",
    "Orchestrator.Slurm.AccountingDatabase.Endpoint": "slurm.accounting_database.endpoint",
    "Orchestrator.Slurm.AccountingDatabase.Port": "slurm.accounting_database.port",
    "Orchestrator.Slurm.AccountingDatabase.Name": "slurm.accounting_database.name",
    "Orchestrator.Slurm.AccountingDatabase.SecretArn": "slurm.accounting_database.secret_arn",
    "NodeRecovery": "cluster.node_recovery",
    "NodeProvisioningMode": "cluster.node_provisioning_mode",
}
"""Members by the value of a spec that becomes them; structures go with their members."""

_PATCH = f"{_GROUP}.AutoPatchConfig"
_PATCHED = f"{_PATCH}.DeploymentConfig"
_RESTRICTED = "RestrictedInstanceGroups[]"
_SHARED = "RestrictedInstanceGroupsConfig.SharedEnvironmentConfig"
_PATCH_POLICY = "compute.auto_patch_config.deployment_config"

ON_EKS: Mapping[str, str] = {
    "Orchestrator.Eks.ClusterArn": "cluster.orchestrator.eks.cluster_arn",
    "TieredStorageConfig.InstanceMemoryAllocationPercentage": (
        "cluster.tiered_storage_config.instance_memory_allocation_percentage"
    ),
    "AutoScaling.AutoScalerType": "cluster.auto_scaling.auto_scaler_type",
    "ClusterRole": "cluster.auto_scaling.cluster_role_arn",
    f"{_GROUP}.InstanceRequirements.InstanceTypes": "login.instance_requirements.instance_types",
    f"{_GROUP}.KubernetesConfig.Labels": "compute.kubernetes_config.labels",
    f"{_GROUP}.KubernetesConfig.Taints": "login.kubernetes_config.taints",
    f"{_GROUP}.KubernetesConfig.Taints[].Key": "login.kubernetes_config.taints[0].key",
    f"{_GROUP}.KubernetesConfig.Taints[].Value": "login.kubernetes_config.taints[0].value",
    f"{_GROUP}.KubernetesConfig.Taints[].Effect": "login.kubernetes_config.taints[0].effect",
    f"{_PATCH}.PatchingStrategy": "compute.auto_patch_config.patching_strategy",
    f"{_PATCH}.PatchSchedule.NextPatchDate": "compute.auto_patch_config.next_patch_date",
    f"{_PATCH}.IdleWaitWindowInSeconds": "compute.auto_patch_config.idle_wait_window_in_seconds",
    f"{_PATCH}.DrainPolicy.DrainTimeoutInSeconds": (
        "compute.auto_patch_config.drain_policy.drain_timeout_in_seconds"
    ),
    f"{_PATCH}.DrainPolicy.OnDrainTimeout": "compute.auto_patch_config.drain_policy.on_drain_timeout",
    f"{_PATCHED}.WaitIntervalInSeconds": f"{_PATCH_POLICY}.wait_interval_in_seconds",
    f"{_PATCHED}.AutoRollbackConfiguration": f"{_PATCH_POLICY}.auto_rollback_alarm_names",
    f"{_PATCHED}.AutoRollbackConfiguration[].AlarmName": f"{_PATCH_POLICY}.auto_rollback_alarm_names[0]",
    **{
        f"{_PATCHED}.RollingUpdatePolicy.{batch}.{member}": (
            f"{_PATCH_POLICY}.rolling_update_policy.{field}.{member.lower()}"
        )
        for batch, field in (
            ("MaximumBatchSize", "maximum_batch_size"),
            ("RollbackMaximumBatchSize", "rollback_maximum_batch_size"),
        )
        for member in ("Type", "Value")
    },
    f"{_RESTRICTED}.EnvironmentConfig.FSxLustreConfig.SizeInGiB": (
        "controller.environment_config.fsx_lustre_config.size_in_gib"
    ),
    f"{_RESTRICTED}.EnvironmentConfig.FSxLustreConfig.PerUnitStorageThroughput": (
        "controller.environment_config.fsx_lustre_config.per_unit_storage_throughput"
    ),
    f"{_SHARED}.FSxLustreDeletionPolicy": ("cluster.shared_environment_config.fsx_lustre_deletion_policy"),
    f"{_SHARED}.FSxLustreConfig.SizeInGiB": (
        "cluster.shared_environment_config.fsx_lustre_config.size_in_gib"
    ),
    f"{_SHARED}.FSxLustreConfig.PerUnitStorageThroughput": (
        "cluster.shared_environment_config.fsx_lustre_config.per_unit_storage_throughput"
    ),
    **{
        f"{_RESTRICTED}.{member}": f"controller.{field}"
        for member, field in (
            ("InstanceCount", "instance_count"),
            ("InstanceGroupName", "instance_group_name"),
            ("InstanceType", "instance_type"),
            ("ExecutionRole", "execution_role_arn"),
            ("ThreadsPerCore", "threads_per_core"),
            ("OnStartDeepHealthChecks", "on_start_deep_health_checks"),
            ("TrainingPlanArn", "training_plan_arn"),
            ("OverrideVpcConfig.SecurityGroupIds", "override_vpc_config.security_group_ids"),
            ("OverrideVpcConfig.Subnets", "override_vpc_config.subnet_ids"),
            ("InstanceStorageConfigs[].EbsVolumeConfig.VolumeSizeInGB", "secondary_volume.volume_size_in_gb"),
            ("InstanceStorageConfigs[].EbsVolumeConfig.VolumeKmsKeyId", "root_volume.volume_kms_key_id"),
        )
    },
}
"""The same on Amazon EKS; ``controller`` is a restricted group there, ``login`` a flexible one."""

NOT_CARRIED: Mapping[str, str] = {
    "RestrictedInstanceGroups": "groups with environment_config",
    f"{_RESTRICTED}.InstanceStorageConfigs": "at most two volumes",
    f"{_RESTRICTED}.InstanceStorageConfigs[].EbsVolumeConfig.RootVolume": "as of other groups",
    f"{_RESTRICTED}.InstanceStorageConfigs[].FsxLustreConfig": "mounts are Slurm's, by HP502",
    f"{_RESTRICTED}.InstanceStorageConfigs[].FsxOpenZfsConfig": "mounts are Slurm's, by HP502",
    f"{_RESTRICTED}.ScheduledUpdateConfig": "as of other groups",
    "TieredStorageConfig.Mode": "named by tiered_storage_config",
    "AutoScaling.Mode": "named by auto_scaling",
    f"{_GROUP}.InstanceStorageConfigs": "at most two mounts and two volumes, by HP335 and the spec itself",
    f"{_STORAGE}.EbsVolumeConfig.RootVolume": "the spec tells root_volume from secondary_volume",
    f"{_GROUP}.CapacityRequirements.Spot": "named by capacity_requirements",
    f"{_GROUP}.CapacityRequirements.OnDemand": "named by capacity_requirements",
    "Tags[].Key": "keys and values of cluster.tags, by HP103",
    "Tags[].Value": "keys and values of cluster.tags, by HP103",
}
"""Members, and all below them, that no value of a spec becomes, each with the reason."""


def leaves() -> Iterator[tuple[str, Shape]]:
    """Every member of CreateCluster that is no structure and no list of them, and lists as such."""
    for member in walk(input_shape("CreateCluster")):
        if member.shape.type_name != "structure" or not member.shape.members:
            yield member.path, member.shape


def refused_values(shape: Shape) -> list[Any]:
    """Values that the API does not take for a shape, one for each constraint that it has."""
    low, high = shape.metadata.get("min"), shape.metadata.get("max")
    if isinstance(shape, MapShape):
        return [{f"k{n}": "v" for n in range(high + 1)}, {"-": "v"}, {"k": "v!"}, {"k": "v" * 64}, "x"]
    if shape.type_name == "timestamp":
        return ["tomorrow", 7]
    if shape.type_name == "integer":
        return ["1", True, 1.5, *([low - 1] if low else [-1]), *([high + 1] if high is not None else [])]
    if isinstance(shape, ListShape):
        return [_many(shape, high + 1), "x"]
    assert isinstance(shape, StringShape)
    if shape.enum:
        return ["x", 7, shape.enum[0].swapcase()]
    long = ["x" * (high + 1)] if high else []
    return [7, *long, *([""] if low else []), *_of_no_pattern(shape)]


def taken_values(shape: Shape) -> list[Any]:
    """The least and the greatest number or length that the API takes for a shape."""
    if isinstance(shape, MapShape):
        return [{}, {f"example.com/k{n}": "v" for n in range(shape.metadata["max"])}]
    limits = [shape.metadata[name] for name in ("min", "max") if name in shape.metadata]
    if shape.type_name == "integer":
        return limits
    if isinstance(shape, ListShape):
        return [_many(shape, limit) for limit in limits if limit]
    texts = ["x" * limit for limit in limits if limit] if isinstance(shape, StringShape) else []
    return [text for text in texts if re.fullmatch(shape.metadata.get("pattern", ".*"), text)]


def _many(shape: ListShape, count: int) -> tuple[Any, ...]:
    item = shape.member
    if item.name == "ClusterInstanceGroupSpecification":
        return tuple(
            replace(BASE.cluster.instance_groups[2], instance_group_name=f"g{n}") for n in range(count)
        )
    if item.name == "ClusterKubernetesTaint":
        return tuple(Taint(key=f"k{number}", effect=TaintEffect.NO_SCHEDULE) for number in range(count))
    if item.name == "ClusterInstanceType":
        return tuple(item.enum[:count]) if isinstance(item, StringShape) else ()
    if shape.name == "Subnets":
        return tuple(ExistingSubnet(subnet_id=f"subnet-{number}") for number in range(count))
    if isinstance(item, StringShape) and item.enum:
        return tuple(item.enum[0] for _ in range(count))
    return tuple(f"x-{number}" for number in range(count))


def _of_no_pattern(shape: StringShape) -> list[str]:
    pattern = shape.metadata.get("pattern")
    return [] if pattern in (None, r"[\S\s]+") else ["\n\t \n\t" * 6]
