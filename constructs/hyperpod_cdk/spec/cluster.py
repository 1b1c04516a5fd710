"""The cluster itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.spec.eks import EksOrchestrator
from hyperpod_cdk.spec.instance_group import InstanceGroup
from hyperpod_cdk.spec.kinds import NodeProvisioningMode, NodeRecovery, SlurmConfigStrategy
from hyperpod_cdk.spec.kubernetes import AutoScaling, SharedEnvironmentConfig, TieredStorageConfig


@dataclass(frozen=True, kw_only=True)
class AccountingDatabase:
    """External MySQL-compatible database for Slurm accounting; Continuous provisioning only, no way back."""

    endpoint: str
    """Host name, 1-255 characters."""
    secret_arn: str
    """Secrets Manager secret with the login."""
    port: int | None = None
    """1-65535. Default: 3306."""
    name: str | None = None
    """1-64 of ``a-z A-Z 0-9 $ _``. Default: the service's, ``slurm_acct_db_<cluster-id>``."""
    security_group_id: str | None = None
    """Security group of the database, which then lets the controller's in on ``port``. Default: nothing of
    the database is changed."""


@dataclass(frozen=True, kw_only=True)
class MultiHead:
    """Several controllers; LEGACY lifecycle mode only. All members go to provisioning_parameters.json."""

    slurm_database_secret_arn: str
    slurm_database_endpoint: str
    slurm_shared_directory: str
    """Directory on the shared file system, such as ``/fsx``."""
    slurm_database_user: str
    slurm_sns_arn: str
    """Topic told when the acting controller changes."""


@dataclass(frozen=True, kw_only=True)
class SlurmOrchestrator:
    """Slurm, described by the API."""

    slurm_config_strategy: SlurmConfigStrategy | None = None
    """Needed with ALL_AT_ONCE provisioning, forbidden with CONTINUOUS."""
    accounting_database: AccountingDatabase | None = None
    """Default: MariaDB on the controller."""
    multi_head: MultiHead | None = None


@dataclass(frozen=True, kw_only=True)
class Orchestrator:
    """What schedules the jobs: Slurm, or Amazon EKS where ``eks`` is given. Fixed for the cluster's life."""

    slurm: SlurmOrchestrator = field(default_factory=SlurmOrchestrator)
    eks: EksOrchestrator | None = None
    """Kubernetes instead of Slurm, ``{}`` too. Default: Slurm."""


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A HyperPod cluster. Names follow the CreateCluster request of the API."""

    instance_groups: Sequence[InstanceGroup]
    """1-100 groups."""
    cluster_name: str | None = None
    """1-63 letters, digits and inner hyphens. Default: made from the construct's path, and another one when
    subnets or security groups change, which replaces the cluster; under a name of yours that is refused.
    """
    orchestrator: Orchestrator = field(default_factory=Orchestrator)
    node_provisioning_mode: NodeProvisioningMode = NodeProvisioningMode.CONTINUOUS
    node_recovery: NodeRecovery | None = NodeRecovery.AUTOMATIC
    """None: leave it to the service."""
    tiered_storage_config: TieredStorageConfig | None = None
    """Checkpoints in memory; Amazon EKS only. Default: off."""
    auto_scaling: AutoScaling | None = None
    """Amazon EKS, Continuous provisioning and automatic recovery only. Default: off."""
    shared_environment_config: SharedEnvironmentConfig | None = None
    """File system of the restricted groups; Amazon EKS only."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """At most 45: five of the service's 50 say who owns the cluster and which update is its newest."""
