"""Where each member of the CreateCluster request comes from in a spec."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from botocore.model import ListShape, Shape, StringShape

from hyperpod_cdk.service.api_model import input_shape, walk
from hyperpod_cdk.spec import ExistingSubnet
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

NOT_CARRIED: Mapping[str, str] = {
    "RestrictedInstanceGroups": "of clusters on Amazon EKS",
    "RestrictedInstanceGroupsConfig": "of clusters on Amazon EKS",
    "TieredStorageConfig": "of clusters on Amazon EKS",
    "ClusterRole": "of clusters on Amazon EKS",
    "AutoScaling": "of clusters on Amazon EKS",
    "Orchestrator.Eks": "the spec's clusters are on Slurm",
    f"{_GROUP}.InstanceRequirements": "of clusters on Amazon EKS",
    f"{_GROUP}.KubernetesConfig": "of clusters on Amazon EKS",
    f"{_GROUP}.AutoPatchConfig": "of clusters on Amazon EKS",
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
    if shape.name == "Subnets":
        return tuple(ExistingSubnet(subnet_id=f"subnet-{number}") for number in range(count))
    if isinstance(item, StringShape) and item.enum:
        return tuple(item.enum[0] for _ in range(count))
    return tuple(f"x-{number}" for number in range(count))


def _of_no_pattern(shape: StringShape) -> list[str]:
    pattern = shape.metadata.get("pattern")
    return [] if pattern in (None, r"[\S\s]+") else ["\n\t \n\t" * 6]
