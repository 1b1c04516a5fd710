"""From spec to the one CreateCluster request. Nothing else in the library knows the API's PascalCase."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.cluster.first_node import with_a_first_node
from hyperpod_cdk.cluster.kubernetes_request import auto_patch, kubernetes, shared_environment, shared_lustre
from hyperpod_cdk.cluster.update_request import update_deployment
from hyperpod_cdk.service.eks import OPERATOR_TAG
from hyperpod_cdk.spec import (
    Cluster,
    EbsVolume,
    InstanceGroup,
    LifeCycleConfig,
    LifecycleMode,
    Mount,
    NodeProvisioningMode,
    NodeType,
    ScheduledUpdateConfig,
)

# Where the service mounts when the request gives no path (API: ClusterFsx{Lustre,OpenZfs}Config)
DEFAULT_MOUNT_PATHS = {"LUSTRE": "/fsx", "OPENZFS": "/home"}


@dataclass(frozen=True, kw_only=True)
class VpcPlacement:
    """Where nodes get their addresses."""

    subnet_ids: Sequence[str]
    security_group_ids: Sequence[str]

    def as_request(self) -> dict[str, Any]:
        """The API's VpcConfig."""
        return {"SecurityGroupIds": list(self.security_group_ids), "Subnets": list(self.subnet_ids)}


@dataclass(frozen=True, kw_only=True)
class GroupResources:
    """What an instance group needs beside its spec."""

    execution_role_arn: str
    lifecycle_mode: LifecycleMode
    life_cycle_config: LifeCycleConfig | None = None
    """None only in AMI mode."""
    override_vpc_config: VpcPlacement | None = None


@dataclass(frozen=True, kw_only=True)
class ClusterResources:
    """What the cluster needs beside its spec."""

    cluster_name: str | None
    """None: one is yet to be generated, from the request."""
    vpc: VpcPlacement
    eks_cluster_arn: str | None = None
    """Of the control plane; None on Slurm."""
    cluster_role_arn: str | None = None
    """For autoscaling; None without."""
    groups: Mapping[str, GroupResources] = field(default_factory=dict)

    @property
    def legacy(self) -> bool:
        """Whether provisioning_parameters.json describes Slurm, and not the API."""
        return any(group.lifecycle_mode is LifecycleMode.LEGACY for group in self.groups.values())


def create_cluster_request(cluster: Cluster, resources: ClusterResources) -> dict[str, Any]:
    """The CreateCluster request of a cluster.

    Args:
        cluster: the spec; every mount resolved to DNS names.
        resources: names, ids and ARNs, tokens allowed.
    """
    request: dict[str, Any] = {
        "ClusterName": resources.cluster_name,
        "InstanceGroups": _groups(cluster, resources, restricted=False) or None,
        "RestrictedInstanceGroups": _groups(cluster, resources, restricted=True) or None,
        "RestrictedInstanceGroupsConfig": shared_environment(cluster.shared_environment_config),
        "Orchestrator": _orchestrator(cluster, resources),
        "VpcConfig": resources.vpc.as_request(),
        "NodeRecovery": cluster.node_recovery,
        "NodeProvisioningMode": (
            cluster.node_provisioning_mode
            if cluster.node_provisioning_mode is NodeProvisioningMode.CONTINUOUS
            else None
        ),
        "TieredStorageConfig": cluster.tiered_storage_config
        and {
            "Mode": "Enable",
            "InstanceMemoryAllocationPercentage": (
                cluster.tiered_storage_config.instance_memory_allocation_percentage
            ),
        },
        "AutoScaling": cluster.auto_scaling
        and {"Mode": "Enable", "AutoScalerType": cluster.auto_scaling.auto_scaler_type},
        "ClusterRole": resources.cluster_role_arn,
        "Tags": [{"Key": key, "Value": value} for key, value in _tags(cluster).items()] or None,
    }
    return _without_none(request)


def _tags(cluster: Cluster) -> Mapping[str, str]:
    eks = cluster.orchestrator.eks
    return {**cluster.tags, **({OPERATOR_TAG: "true"} if eks and eks.training_operator else {})}


def _orchestrator(cluster: Cluster, resources: ClusterResources) -> dict[str, Any] | None:
    if resources.eks_cluster_arn is not None:
        return {"Eks": {"ClusterArn": resources.eks_cluster_arn}}
    return None if resources.legacy else {"Slurm": _slurm(cluster)}


def _groups(cluster: Cluster, resources: ClusterResources, *, restricted: bool) -> list[dict[str, Any]]:
    """Groups of one kind; restricted ones have a list of their own."""
    return [
        _instance_group(group, resources.groups[group.instance_group_name], legacy=resources.legacy)
        for group in with_a_first_node(cluster).instance_groups
        if (group.environment_config is not None) is restricted
    ]


def provisioning_parameters(cluster: Cluster) -> dict[str, Any]:
    """The content of provisioning_parameters.json, which describes Slurm in LEGACY mode.

    Source: DG sagemaker-hyperpod-ref.html and sagemaker-hyperpod-multihead-slurm-create.html.
    """
    by_type: dict[NodeType, list[InstanceGroup]] = {node_type: [] for node_type in NodeType}
    for group in cluster.instance_groups:
        if group.slurm_config:
            by_type[group.slurm_config.node_type].append(group)
    lustre = next(
        (m for g in cluster.instance_groups for m in g.mounts if m.file_system_type == "LUSTRE"), None
    )
    multi_head = cluster.orchestrator.slurm.multi_head
    return _without_none(
        {
            "version": "1.0.0",
            "workload_manager": "slurm",
            "controller_group": by_type[NodeType.CONTROLLER][0].instance_group_name,
            "login_group": next((g.instance_group_name for g in by_type[NodeType.LOGIN]), None),
            "worker_groups": [
                {
                    "instance_group_name": g.instance_group_name,
                    "partition_name": g.slurm_config.partition_names[0],
                }
                for g in by_type[NodeType.COMPUTE]
                if g.slurm_config
            ],
            "fsx_dns_name": lustre and lustre.dns_name,
            "fsx_mountname": lustre and lustre.mount_name,
            "slurm_configurations": multi_head
            and {
                "slurm_database_secret_arn": multi_head.slurm_database_secret_arn,
                "slurm_database_endpoint": multi_head.slurm_database_endpoint,
                "slurm_shared_directory": multi_head.slurm_shared_directory,
                "slurm_database_user": multi_head.slurm_database_user,
                "slurm_sns_arn": multi_head.slurm_sns_arn,
            },
        }
    )


def mount_path(mount: Mount) -> str:
    """The path at which nodes find a mount."""
    return mount.mount_path or DEFAULT_MOUNT_PATHS[mount.file_system_type or "LUSTRE"]


def api_mounts(group: InstanceGroup) -> Sequence[Mount]:
    """The mounts that the API takes: the first Lustre and the first OpenZFS file system of a group.

    The node scripts mount the others. Source: DG sagemaker-hyperpod-ref.html.
    """
    first: dict[str | None, Mount] = {}
    for mount in group.mounts:
        first.setdefault(mount.file_system_type, mount)
    return list(first.values())


def _instance_group(group: InstanceGroup, resources: GroupResources, *, legacy: bool) -> dict[str, Any]:
    slurm = None if legacy else group.slurm_config
    # FSx members need a group of type Controller in the API (DG smcluster-getting-started-slurm-cli), which a
    # legacy cluster does not have: there the scripts mount.
    mounts = [] if legacy else [_mount(mount) for mount in api_mounts(group)]
    storage = [*mounts, *_volume(group.root_volume, root=True), *_volume(group.secondary_volume, root=False)]
    override = resources.override_vpc_config
    return {
        "InstanceGroupName": group.instance_group_name,
        "InstanceType": group.instance_type,
        "InstanceRequirements": group.instance_requirements
        and {"InstanceTypes": list(group.instance_requirements.instance_types)},
        "InstanceCount": group.instance_count,
        "MinInstanceCount": group.min_instance_count,
        "SlurmConfig": slurm
        and {"NodeType": slurm.node_type, "PartitionNames": list(slurm.partition_names) or None},
        "InstanceStorageConfigs": storage or None,
        "LifeCycleConfig": _life_cycle_config(resources.life_cycle_config),
        "ExecutionRole": resources.execution_role_arn,
        "ThreadsPerCore": group.threads_per_core,
        "OnStartDeepHealthChecks": list(group.on_start_deep_health_checks) or None,
        "TrainingPlanArn": group.training_plan_arn,
        "OverrideVpcConfig": override and override.as_request(),
        "CapacityRequirements": group.capacity_requirements and {str(group.capacity_requirements): {}},
        "NetworkInterface": group.network_interface and {"InterfaceType": group.network_interface},
        "ScheduledUpdateConfig": _scheduled_update(group.scheduled_update_config),
        "AutoPatchConfig": auto_patch(group.auto_patch_config),
        "KubernetesConfig": kubernetes(group.kubernetes_config),
        "EnvironmentConfig": group.environment_config
        and group.environment_config.fsx_lustre_config
        and {"FSxLustreConfig": shared_lustre(group.environment_config.fsx_lustre_config)},
        "ImageId": group.image_id,
        "ImageReleaseVersion": group.image_release_version,
    }


def _mount(mount: Mount) -> dict[str, Any]:
    if mount.file_system_type == "OPENZFS":
        return {"FsxOpenZfsConfig": {"DnsName": mount.dns_name, "MountPath": mount_path(mount)}}
    return {
        "FsxLustreConfig": {
            "DnsName": mount.dns_name,
            "MountName": mount.mount_name,
            "MountPath": mount_path(mount),
        }
    }


def _volume(volume: EbsVolume | None, *, root: bool) -> list[dict[str, Any]]:
    if volume is None:
        return []
    config = {
        "VolumeSizeInGB": volume.volume_size_in_gb,
        "VolumeKmsKeyId": volume.volume_kms_key_id,
        "RootVolume": True if root else None,
    }
    return [{"EbsVolumeConfig": config}]


def _life_cycle_config(config: LifeCycleConfig | None) -> dict[str, Any] | None:
    if config is None:
        return None
    return {
        "SourceS3Uri": config.source_s3_uri,
        "OnCreate": config.on_create,
        "OnInitComplete": config.on_init_complete,
    }


def _scheduled_update(config: ScheduledUpdateConfig | None) -> dict[str, Any] | None:
    if config is None:
        return None
    return {
        "ScheduleExpression": config.schedule_expression,
        "DeploymentConfig": update_deployment(config.deployment_config),
    }


def _slurm(cluster: Cluster) -> dict[str, Any]:
    slurm = cluster.orchestrator.slurm
    database = slurm.accounting_database
    return {
        "SlurmConfigStrategy": slurm.slurm_config_strategy,
        "AccountingDatabase": database
        and {
            "Endpoint": database.endpoint,
            "SecretArn": database.secret_arn,
            "Name": database.name,
            "Port": database.port,
        },
    }


def _without_none(members: dict[str, Any]) -> dict[str, Any]:
    return {key: _plain(item) for key, item in members.items() if item is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return _without_none(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    # an enum member is a str, but not a plain one
    return str(value) if isinstance(value, str) else value
