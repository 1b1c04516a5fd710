"""The request that a spec becomes, without a stack round it."""

from dataclasses import replace
from typing import Any

from hyperpod_cdk.cluster.request import (
    ClusterResources,
    GroupResources,
    VpcPlacement,
    create_cluster_request,
)
from hyperpod_cdk.rehearsal.hyperpod.errors import SerializationError, ValidationError
from hyperpod_cdk.rehearsal.hyperpod.model import breaches
from hyperpod_cdk.rehearsal.hyperpod.rules import CLUSTER_RULES
from hyperpod_cdk.spec import (
    Cluster,
    HyperPodSpec,
    InstanceGroup,
    LifeCycleConfig,
    LifecycleMode,
    LustreFileSystem,
    Mount,
)
from tests.api_shapes import input_shape

EKS = "arn:aws:eks:us-west-2:111122223333:cluster/made"
ROLE = "arn:aws:iam::111122223333:role/Made"
_SOURCE = "s3://sagemaker-bucket/hash/"
_ENTRY = {
    LifecycleMode.AMI: None,
    LifecycleMode.EXTENSION: LifeCycleConfig(source_s3_uri=_SOURCE, on_init_complete="on_init_complete.sh"),
    LifecycleMode.CUSTOM: LifeCycleConfig(source_s3_uri=_SOURCE, on_create="on_create.sh"),
    LifecycleMode.LEGACY: LifeCycleConfig(source_s3_uri=_SOURCE, on_create="on_create.sh"),
}


def request_of(spec: HyperPodSpec) -> dict[str, Any]:
    """The CreateCluster request, with ids in place of what a stack would make."""
    resources = ClusterResources(
        cluster_name="generated" if spec.cluster.cluster_name is None else spec.cluster.cluster_name,
        vpc=_vpc(spec),
        eks_cluster_arn=_control_plane(spec),
        cluster_role_arn=_cluster_role(spec),
        groups={group.instance_group_name: _resources(spec, group) for group in spec.cluster.instance_groups},
    )
    return create_cluster_request(_resolved(spec), resources)


def refusals(request: dict[str, Any]) -> list[str]:
    """Why the emulated service refuses a request: its API model first, then what lies beyond it."""
    try:
        found = breaches(request, input_shape("CreateCluster"))
    except SerializationError as error:
        return [str(error)]
    try:
        return found or [text for rule in CLUSTER_RULES for text in rule(request)]
    except ValidationError as error:
        return [str(error)]


def _vpc(spec: HyperPodSpec) -> VpcPlacement:
    existing = spec.network.existing
    if existing is None:
        return VpcPlacement(subnet_ids=["subnet-1"], security_group_ids=["sg-1"])
    return VpcPlacement(
        subnet_ids=[subnet.subnet_id for subnet in existing.subnets],
        security_group_ids=existing.security_group_ids,
    )


def _control_plane(spec: HyperPodSpec) -> str | None:
    eks = spec.cluster.orchestrator.eks
    return None if eks is None else (EKS if eks.cluster_arn is None else eks.cluster_arn)


def _cluster_role(spec: HyperPodSpec) -> str | None:
    scaling = spec.cluster.auto_scaling
    return (
        None if scaling is None else (ROLE if scaling.cluster_role_arn is None else scaling.cluster_role_arn)
    )


def _resources(spec: HyperPodSpec, group: InstanceGroup) -> GroupResources:
    eks = spec.cluster.orchestrator.eks is not None
    mode = LifecycleMode.CUSTOM if eks else group.lifecycle_mode or spec.lifecycle.mode
    made = None if group.environment_config is not None else _ENTRY[mode]
    place = group.override_vpc_config
    override = None
    if place is not None:
        override = VpcPlacement(
            subnet_ids=place.subnet_ids or ["subnet-2"],
            security_group_ids=place.security_group_ids or ["sg-1"],
        )
    return GroupResources(
        execution_role_arn=ROLE if group.execution_role_arn is None else group.execution_role_arn,
        lifecycle_mode=mode,
        life_cycle_config=made if group.life_cycle_config is None else group.life_cycle_config,
        override_vpc_config=override,
    )


def _resolved(spec: HyperPodSpec) -> Cluster:
    groups = [
        replace(group, mounts=[_mount(spec, mount) for mount in group.mounts])
        for group in spec.cluster.instance_groups
    ]
    return replace(spec.cluster, instance_groups=groups, tags={**spec.tags, **spec.cluster.tags})


def _mount(spec: HyperPodSpec, mount: Mount) -> Mount:
    if mount.storage is None:
        return mount
    file_system = spec.storage[mount.storage]
    existing = file_system.existing
    lustre = isinstance(file_system, LustreFileSystem)
    return replace(
        mount,
        storage=None,
        file_system_type=file_system.file_system_type,
        dns_name=existing.dns_name if existing else "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
        mount_name=(existing.mount_name if existing else "abcdefgh") if lustre else None,
    )
