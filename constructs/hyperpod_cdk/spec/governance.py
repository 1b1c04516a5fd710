"""Task governance on Amazon EKS: whose jobs run first."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.spec.add_on import AddOn
from hyperpod_cdk.spec.teams import Team


@dataclass(frozen=True, kw_only=True)
class PriorityClass:
    """A kind of job; those of a higher weight run first."""

    name: str
    """1-40 lower-case letters, digits and inner hyphens; jobs name it as ``<name>-priority``."""
    weight: int
    """0-100."""


@dataclass(frozen=True, kw_only=True)
class TaskGovernance:
    """Kueue under HyperPod's rule: an add-on, and a policy for the cluster."""

    add_on: AddOn = field(default_factory=AddOn)
    fair_share: bool = True
    """Free capacity goes to teams by their weights; False: first come, first served."""
    idle_resource_sharing: bool | None = None
    """Whether capacity of no quota is shared. Default: the service's."""
    priority_classes: Sequence[PriorityClass] = ()
    """At most 10, each with a name of its own."""
    teams: Sequence[Team] = ()
    """Each with a compute quota. Together they should not have more than the cluster has."""
