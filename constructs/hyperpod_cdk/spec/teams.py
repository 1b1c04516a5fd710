"""Teams on Amazon EKS: what is theirs of a cluster, and what they lend and borrow."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.spec.kinds import PreemptTeamTasks, ResourceSharingStrategy


@dataclass(frozen=True, kw_only=True)
class AcceleratorPartition:
    """Parts of accelerators that are divided (MIG)."""

    type: str
    """Profile, such as ``mig-1g.10gb``."""
    count: int
    """Partitions, 1 or more."""


@dataclass(frozen=True, kw_only=True)
class ComputeQuotaResource:
    """What is a team's of one instance type: whole instances, or parts of them.

    Of parts, those that are not given follow from those that are, by their share in an instance: vCPUs and
    memory from accelerators or partitions, each of the two from the other.
    """

    instance_type: str
    """``ml.…`` type of a group of the cluster."""
    count: int | None = None
    """Whole instances."""
    accelerators: int | None = None
    vcpu: float | None = None
    memory_in_gib: float | None = None
    accelerator_partition: AcceleratorPartition | None = None


@dataclass(frozen=True, kw_only=True)
class ResourceSharingConfig:
    """What becomes of a team's idle compute, and how much of others' it may use."""

    strategy: ResourceSharingStrategy = ResourceSharingStrategy.LEND_AND_BORROW
    borrow_limit: int | None = None
    """Most that it borrows, in percent of its own quota, 1-10000. Default: the service's, 50."""
    absolute_borrow_limits: Sequence[ComputeQuotaResource] = ()
    """Most that it borrows of instance types of its quota, whatever ``borrow_limit`` says. Default: none."""


@dataclass(frozen=True, kw_only=True)
class Team:
    """A team and its compute quota; jobs go to namespace ``hyperpod-ns-<team_name>``."""

    team_name: str
    """1-40 lower-case letters, digits and inner hyphens; another name is another team. Its quota's name
    too."""
    compute_quota_resources: Sequence[ComputeQuotaResource] = ()
    """What is the team's own, each instance type once, at most 15. Default: nothing; it borrows."""
    fair_share_weight: int | None = None
    """Share of idle compute among those who borrow, 0-100. Default: the service's, 0."""
    resource_sharing_config: ResourceSharingConfig | None = None
    """Default: the service's, which lends and borrows up to 50 percent."""
    preempt_team_tasks: PreemptTeamTasks | None = None
    """Whether its jobs take the place of its own jobs of lower priority. Default: the service's, yes."""
    active: bool = True
    """False: the quota is kept and does not hold."""
    description: str | None = None
    """At most 1024 characters."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Of the quota; at most 45: five of the service's 50 say who owns it and which update is its newest."""
