"""Task governance on Amazon EKS: whose jobs run first, and how much each team may use."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from hyperpod_cdk.spec.eks import AddOn


class ResourceSharing(StrEnum):
    """What a team does with what it does not use, and takes of what others do not."""

    LEND = "Lend"
    DONT_LEND = "DontLend"
    LEND_AND_BORROW = "LendAndBorrow"


class Preemption(StrEnum):
    """Whether a team's jobs push its own jobs of lower priority aside."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"


@dataclass(frozen=True, kw_only=True)
class PriorityClass:
    """A kind of job; those of a higher weight run first."""

    name: str
    """1-40 lower-case letters, digits and inner hyphens; jobs name it as ``<name>-priority``."""
    weight: int
    """0-100."""


@dataclass(frozen=True, kw_only=True)
class QuotaResource:
    """A part of the cluster: whole nodes, or a share of their parts."""

    instance_type: str
    """``ml.…``"""
    count: int | None = None
    """Nodes; excludes the other three."""
    accelerators: int | None = None
    v_cpu: float | None = None
    memory_in_gib: float | None = None


@dataclass(frozen=True, kw_only=True)
class ComputeQuota:
    """What a team may use. It gets the namespace ``hyperpod-ns-<team>`` and a queue there."""

    team_name: str
    """1-40 lower-case letters, digits and inner hyphens."""
    resources: Sequence[QuotaResource] = ()
    """At most 15. Default: nothing of its own, only what it borrows."""
    fair_share_weight: int | None = None
    """0-100: its part of what is free, against other teams. Default: the service's, 0."""
    sharing: ResourceSharing = ResourceSharing.LEND
    borrow_limit: int | None = None
    """Per cent of the quota, 0-10000; with LEND_AND_BORROW only. Default: the service's, 50."""
    preempt_team_tasks: Preemption = Preemption.LOWER_PRIORITY
    enabled: bool = True
    name: str | None = None
    """1-63 letters, digits and inner hyphens. Default: the team's."""
    description: str | None = None


@dataclass(frozen=True, kw_only=True)
class TaskGovernance:
    """Kueue under HyperPod's rule: an add-on, a policy for the cluster, and a quota for each team."""

    add_on: AddOn = field(default_factory=AddOn)
    fair_share: bool = True
    """Free capacity goes to teams by their weights; False: first come, first served."""
    idle_resource_sharing: bool | None = None
    """Whether capacity of no quota is shared. Default: the service's."""
    priority_classes: Sequence[PriorityClass] = ()
    """At most 10."""
    quotas: Sequence[ComputeQuota] = ()
