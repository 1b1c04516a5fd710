"""How many addresses of a subnet nodes take."""

from collections.abc import Iterable, Sequence

from hyperpod_cdk.service import instance_types
from hyperpod_cdk.service.instance_types import Orchestration


def addresses_per_node(instance_type: str, orchestration: Orchestration = Orchestration.SLURM) -> int:
    """Addresses that one node of a type takes from its subnet.

    On Slurm one a network card; on Amazon EKS the first card takes as many as an interface holds, for pods.
    The documentation gives both figures for P5 alone, 32 and 81
    (https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html, 2026-10); for
    other types the same is reckoned with their cards.

    Args:
        instance_type: one that the catalogue does not know counts as one card.
        orchestration: of the cluster.
    """
    known = instance_types.find(instance_type)
    if known is None:
        return 1
    first = known.addresses_per_interface if orchestration is Orchestration.EKS else 1
    return first + known.network_cards - 1


def most_addresses(names: Sequence[str], orchestration: Orchestration = Orchestration.SLURM) -> int:
    """Addresses that one node of any of these types takes at most."""
    return max((addresses_per_node(name, orchestration) for name in names), default=0)


def addresses_of_nodes(
    nodes: Iterable[tuple[Sequence[str], int]], orchestration: Orchestration = Orchestration.SLURM
) -> int:
    """Addresses that the nodes of one zone take, and one more node of the largest kind.

    While a node is replaced, its successor comes up beside it.

    Args:
        nodes: the types that a group's nodes may be of, and their count.
        orchestration: of the cluster.
    """
    wanted = [(most_addresses(names, orchestration), count) for names, count in nodes if count]
    spare = max((each for each, _ in wanted), default=0)
    return sum(each * count for each, count in wanted) + spare
