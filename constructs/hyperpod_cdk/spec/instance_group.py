"""Instance groups: nodes of one type and one purpose."""

from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_cdk.spec.kinds import (
    CapacityType,
    DeepHealthCheck,
    LifecycleMode,
    NetworkInterfaceType,
    NodeType,
)
from hyperpod_cdk.spec.kubernetes import (
    AutoPatchConfig,
    EnvironmentConfig,
    InstanceRequirements,
    KubernetesConfig,
)
from hyperpod_cdk.spec.network import OverrideVpcConfig
from hyperpod_cdk.spec.scheduled_update import ScheduledUpdateConfig
from hyperpod_cdk.spec.storage import EbsVolume, Mount


@dataclass(frozen=True, kw_only=True)
class SlurmConfig:
    """What a group's nodes are in Slurm. The node type is fixed for the group's life."""

    node_type: NodeType
    partition_names: Sequence[str] = ()
    """Compute only, and needed there: exactly one (the API takes no more). Every node is in ``dev`` too."""


@dataclass(frozen=True, kw_only=True)
class LifeCycleConfig:
    """Scripts that lie in S3 already, instead of the ones that this library deploys."""

    source_s3_uri: str
    """``s3://bucket/prefix/``, at most 1024 characters."""
    on_create: str | None = None
    """Script that sets the node up by itself, 1-128 characters; excludes ``on_init_complete``."""
    on_init_complete: str | None = None
    """Script that runs after the service's own set-up, 1-128 characters."""


@dataclass(frozen=True, kw_only=True)
class InstanceGroup:
    """An instance group. Names follow ClusterInstanceGroupSpecification of the API."""

    instance_group_name: str
    """1-63 letters, digits and inner hyphens."""
    instance_count: int
    """0-6758 nodes."""
    instance_type: str | None = None
    """``ml.…``; fixed for the group's life. Needed unless ``instance_requirements``."""
    instance_requirements: InstanceRequirements | None = None
    """Several types instead of one; Amazon EKS and Continuous provisioning only."""
    min_instance_count: int | None = None
    """Nodes that must be up before the group counts as in service, 0 to ``instance_count``; Continuous
    provisioning only. Default: the service's, 1 for controller and login, else 0; but if no group says any,
    1 for the first one with nodes on Amazon EKS, where add-ons wait for a node."""
    slurm_config: SlurmConfig | None = None
    """What the nodes are in Slurm; needed there."""
    kubernetes_config: KubernetesConfig | None = None
    """Labels and taints; Amazon EKS only."""
    threads_per_core: int | None = None
    """1 (no hyper-threading) or 2. Default: the service's, 1."""
    root_volume: EbsVolume | None = None
    """Encrypt the root volume with a customer-managed key. Default: AWS-managed key, 100 GB."""
    secondary_volume: EbsVolume | None = None
    """Extra disk at /opt/sagemaker. Default: none."""
    mounts: Sequence[Mount] = ()
    """At most one Lustre and one OpenZFS file system by the API."""
    override_vpc_config: OverrideVpcConfig | None = None
    """Default: the cluster's subnets and security groups."""
    training_plan_arn: str | None = None
    """Reserved capacity; not on the controller."""
    on_start_deep_health_checks: Sequence[DeepHealthCheck] = ()
    """Checks before the first job; none by default."""
    capacity_requirements: CapacityType | None = None
    """Spot needs Continuous provisioning; fixed for the group's life. Default: on demand."""
    network_interface: NetworkInterfaceType | None = None
    """Types with EFA only. Default: the service's."""
    scheduled_update_config: ScheduledUpdateConfig | None = None
    """Default: software is updated by hand only."""
    auto_patch_config: AutoPatchConfig | None = None
    """Security patches by the service; Amazon EKS only. Default: none."""
    environment_config: EnvironmentConfig | None = None
    """Makes the group a restricted one, ``{}`` too; Amazon EKS only."""
    image_id: str | None = None
    """Custom AMI, ``ami-…``; excludes ``image_release_version``."""
    image_release_version: str | None = None
    """Release of the HyperPod AMI, ``1.2.3``. Default: the latest at creation."""
    lifecycle_mode: LifecycleMode | None = None
    """Default: the spec's ``lifecycle.mode``."""
    life_cycle_config: LifeCycleConfig | None = None
    """Scripts already in S3. Default: the deployed ones."""
    execution_role_arn: str | None = None
    """Role of the nodes. Default: one is made for the group."""

    @property
    def instance_types(self) -> tuple[str, ...]:
        """Every type that its nodes may be of, the most wanted first."""
        if self.instance_type is not None:
            return (self.instance_type,)
        return tuple(self.instance_requirements.instance_types) if self.instance_requirements else ()
