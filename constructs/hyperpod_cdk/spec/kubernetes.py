"""What nodes are to Kubernetes, and what only clusters on Amazon EKS have."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.spec.kinds import (
    AutoScalerType,
    FsxLustreDeletionPolicy,
    OnDrainTimeout,
    PatchingStrategy,
    TaintEffect,
)
from hyperpod_cdk.spec.scheduled_update import UpdateDeploymentConfig


@dataclass(frozen=True, kw_only=True)
class Taint:
    """What keeps pods off a node that do not tolerate it."""

    key: str
    """1-317 characters, with or without a prefix such as ``example.com/``."""
    effect: TaintEffect
    value: str | None = None
    """1-63 characters."""


@dataclass(frozen=True, kw_only=True)
class KubernetesConfig:
    """Labels and taints of a group's nodes."""

    labels: Mapping[str, str] = field(default_factory=dict)
    """At most 50; keys of 1-317 characters, values of up to 63."""
    taints: Sequence[Taint] = ()
    """At most 50; none beside deep health checks, which have one of their own."""


@dataclass(frozen=True, kw_only=True)
class InstanceRequirements:
    """Several instance types for one group, the first that has capacity is taken."""

    instance_types: Sequence[str]
    """1-20 types, the most wanted first; one that nodes run on can not be taken away."""


@dataclass(frozen=True, kw_only=True)
class DrainPolicy:
    """How pods are moved off a node before it is patched."""

    drain_timeout_in_seconds: int | None = None
    """0-5400. Default: the service's."""
    on_drain_timeout: OnDrainTimeout | None = None
    """``Force``: patch all the same; ``Skip``: leave the node for another time."""


@dataclass(frozen=True, kw_only=True)
class AutoPatchConfig:
    """Security patches of the image, put on nodes by the service."""

    patching_strategy: PatchingStrategy
    next_patch_date: str | None = None
    """Date and time in UTC, such as ``2026-12-31T03:00:00Z``, at most 60 days ahead. Default: 21 days after
    a patch appears."""
    deployment_config: UpdateDeploymentConfig | None = None
    idle_wait_window_in_seconds: int | None = None
    """How long to wait for nodes to be idle, 3600-2160000; not with ``DrainFirst``. Default: the service's,
    86400."""
    drain_policy: DrainPolicy | None = None
    """With ``DrainFirst``. Default: the service's."""


@dataclass(frozen=True, kw_only=True)
class SharedLustre:
    """A file system that the service makes for restricted groups."""

    size_in_gib: int
    """1200-100800."""
    per_unit_storage_throughput: int
    """125-1000 MB/s for each TiB."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentConfig:
    """Makes a group a restricted one: for models whose weights nobody may see, without scripts of yours."""

    fsx_lustre_config: SharedLustre | None = None
    """A file system of the group's own. Default: the shared one."""


@dataclass(frozen=True, kw_only=True)
class SharedEnvironmentConfig:
    """One file system for all restricted groups of a cluster."""

    fsx_lustre_config: SharedLustre
    fsx_lustre_deletion_policy: FsxLustreDeletionPolicy = FsxLustreDeletionPolicy.KEEP


@dataclass(frozen=True, kw_only=True)
class TieredStorageConfig:
    """Checkpoints in the memory of nodes, and from there to S3."""

    instance_memory_allocation_percentage: int | None = None
    """Of a node's memory, 20-100. Default: the service's."""


@dataclass(frozen=True, kw_only=True)
class AutoScaling:
    """Nodes by what pods ask for; groups may then start with none."""

    auto_scaler_type: AutoScalerType = AutoScalerType.KARPENTER
    cluster_role_arn: str | None = None
    """Role with which nodes are added and deleted. Default: one is made."""
