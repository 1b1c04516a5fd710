"""What several rules ask of a request."""

from collections.abc import Callable, Iterable

from hyperpod_cdk.rehearsal.hyperpod.state import Spec

Rule = Callable[[Spec], Iterable[str]]
"""From a CreateCluster request to the texts of the refusals."""


def groups(request: Spec) -> list[Spec]:
    """Give the instance groups, without restricted ones."""
    found: list[Spec] = request.get("InstanceGroups", [])
    return found


def node_type(group: Spec) -> str | None:
    """Give a group's Slurm node type, None without SlurmConfig."""
    found: str | None = group.get("SlurmConfig", {}).get("NodeType")
    return found


def configures_slurm(request: Spec) -> bool:
    """Tell whether the API, not a provisioning_parameters.json, configures Slurm."""
    return any(map(node_type, groups(request))) or "Slurm" in request.get("Orchestrator", {})


def is_continuous(request: Spec) -> bool:
    """Tell whether the nodes are provisioned continuously."""
    return request.get("NodeProvisioningMode") == "Continuous"


def is_eks(request: Spec) -> bool:
    """Tell whether Amazon EKS orchestrates the cluster."""
    return "Eks" in request.get("Orchestrator", {})


def types_of(group: Spec) -> list[str]:
    """Give the instance types that a group's nodes may be of."""
    found: list[str] = group.get("InstanceRequirements", {}).get("InstanceTypes", [])
    return found or [group[member] for member in ("InstanceType",) if member in group]


def volumes(group: Spec, member: str) -> list[Spec]:
    """Give a group's storage configurations of one kind.

    Args:
        group: an instance group.
        member: ``EbsVolumeConfig``, ``FsxLustreConfig`` or ``FsxOpenZfsConfig``.
    """
    return [config[member] for config in group.get("InstanceStorageConfigs", []) if member in config]
