"""Finding a cluster or a node, and refusing what its state does not allow."""

from collections.abc import Collection

from hyperpod_cdk.rehearsal.hyperpod.errors import ConflictError, NotFoundError
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, ClusterStatus, Node


def cluster(sim: Simulation, name_or_arn: str) -> Cluster:
    """Give a cluster by its name or ARN.

    Args:
        sim: the simulation.
        name_or_arn: as in the request.

    Raises:
        NotFoundError: there is none.
    """
    for found in sim.clusters.values():
        if name_or_arn in (found.name, found.arn):
            return found
    raise NotFoundError(f"Could not find cluster '{name_or_arn}'.")


def node(owner: Cluster, *, instance_id: str | None = None, logical_id: str | None = None) -> Node:
    """Give a node by its instance id or its logical id.

    Args:
        owner: the node's cluster.
        instance_id: ``i-…``; comes before the logical id.
        logical_id: the id that the node has even before there is an instance.

    Raises:
        NotFoundError: there is none.
    """
    for found in owner.nodes:
        if found.instance_id == instance_id or (instance_id is None and found.logical_id == logical_id):
            return found
    raise NotFoundError(f"Could not find node '{instance_id or logical_id}' in cluster '{owner.name}'.")


def require_status(owner: Cluster, allowed: Collection[ClusterStatus]) -> None:
    """Refuse a request that the cluster's status does not allow.

    Args:
        owner: the cluster.
        allowed: statuses in which the request is possible.

    Raises:
        ConflictError: the cluster is in another one.
    """
    if owner.status not in allowed:
        raise ConflictError(
            f"Cluster '{owner.name}' is in status {owner.status}, the request is only possible in "
            f"{' or '.join(allowed)}."
        )
