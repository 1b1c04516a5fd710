"""DeleteCluster."""

from hyperpod_cdk.rehearsal.hyperpod import nodes, orchestrator
from hyperpod_cdk.rehearsal.hyperpod.errors import ConflictError
from hyperpod_cdk.rehearsal.hyperpod.faults import DeleteConflict, DeleteFails
from hyperpod_cdk.rehearsal.hyperpod.operations import governance, lookup
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import ClusterStatus, GroupStatus, Spec

DELETABLE = (ClusterStatus.IN_SERVICE, ClusterStatus.FAILED)


def delete_cluster(sim: Simulation, request: Spec) -> Spec:
    """Begin to delete a cluster with all its nodes.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        NotFoundError: there is no such cluster.
        ConflictError: it is neither InService nor Failed.
    """
    cluster = lookup.cluster(sim, request["ClusterName"])
    lookup.require_status(cluster, DELETABLE)
    if sim.faults.strike(DeleteConflict):
        raise ConflictError(f"Cluster '{cluster.name}' is being changed by another request.")
    cluster.status = ClusterStatus.DELETING
    for group in cluster.groups.values():
        group.status = GroupStatus.DELETING
        group.target = group.minimum = 0
    for node in list(cluster.nodes):
        nodes.terminate(sim, cluster, node)

    def finish() -> None:
        fault = sim.faults.strike(DeleteFails)
        if fault is None:
            del sim.clusters[cluster.name]
            orchestrator.detach(sim, cluster)
            governance.forget(sim, cluster)
        else:
            cluster.status = ClusterStatus.FAILED
            cluster.failure_message = fault.reason

    sim.timeline.after(max(sim.durations.delete, sim.durations.terminate), finish)
    return {"ClusterArn": cluster.arn}
