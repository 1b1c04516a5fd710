"""Continuous provisioning: nodes are wanted, and tried for until they are there.

docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html: the controller first, then
the rest; InService with a controller and, if there is such a group, a login node; failed nodes are tried
again. That a group's wait for MinInstanceCount does not hold the cluster's status back is assumed.
"""

from hyperpod_cdk.rehearsal.hyperpod import events, nodes
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import (
    Cluster,
    ClusterStatus,
    Group,
    GroupStatus,
    Node,
    NodeStatus,
)

NOT_READY = (
    "Cluster creation failed: controller and login nodes did not become ready within the expected time"
)


_RECONCILED = frozenset({ClusterStatus.CREATING, ClusterStatus.IN_SERVICE, ClusterStatus.SYSTEM_UPDATING})


def create(sim: Simulation, cluster: Cluster) -> None:
    """Provision a new cluster.

    Args:
        sim: the simulation.
        cluster: the cluster, whose status is Creating.
    """
    for group in cluster.groups.values():
        watch_minimum(sim, cluster, group)
    sim.timeline.after(sim.durations.prepare, lambda: reconcile(sim, cluster))
    sim.timeline.after(
        sim.durations.ready_timeout,
        lambda: _fail_creation(sim, cluster, NOT_READY) if _is_creating(cluster) else None,
    )


def reconcile(sim: Simulation, cluster: Cluster) -> None:
    """Launch what is missing, terminate what is too many, and bring the statuses up to date.

    Args:
        sim: the simulation.
        cluster: the cluster; one that is deleted, has failed, or whose update is not yet accepted or is being
            rolled back, is left alone.
    """
    if cluster.status not in _RECONCILED:
        return
    for group in list(cluster.groups.values()):
        _shrink(sim, cluster, group)
        if _may_launch(cluster, group):
            _grow(sim, cluster, group)
        if group.status is GroupStatus.DELETING and not cluster.nodes_of(group.name):
            del cluster.groups[group.name]
    _update_statuses(sim, cluster)


def watch_minimum(sim: Simulation, cluster: Cluster, group: Group) -> None:
    """Start the time limit of a group that waits for MinInstanceCount.

    Args:
        sim: the simulation.
        cluster: the group's cluster.
        group: the group, whose target or minimum is new.
    """
    group.wait += 1
    wait = group.wait

    def give_up() -> None:
        current = cluster.groups.get(group.name) is group and group.wait == wait
        if not current or not is_waiting(cluster, group):
            return
        reason = f"MinInstanceCount {group.minimum} was not reached in time."
        group.target, group.minimum = group.served
        group.spec = {**group.spec, "InstanceCount": group.target, "MinInstanceCount": group.minimum}
        group.has_failed = False
        events.record(
            sim,
            cluster,
            f"Instance group {group.name} was rolled back.",
            level="Warn",
            group=group,
            failure=reason,
        )
        reconcile(sim, cluster)

    sim.timeline.after(sim.durations.min_count_timeout, give_up)


def is_waiting(cluster: Cluster, group: Group) -> bool:
    """Tell whether a group has not reached its MinInstanceCount."""
    return group.status is not GroupStatus.DELETING and len(cluster.up(group.name)) < group.minimum


def _is_creating(cluster: Cluster) -> bool:
    return cluster.status is ClusterStatus.CREATING


def _may_launch(cluster: Cluster, group: Group) -> bool:
    if not cluster.configures_slurm or group.node_type == "Controller":
        return True
    return any(cluster.up(controller.name) for controller in cluster.groups_of_type("Controller"))


def _shrink(sim: Simulation, cluster: Cluster, group: Group) -> None:
    staying = cluster.staying(group.name)
    excess = len(staying) - group.target
    for node in sim.random.sample(staying, max(excess, 0)):
        nodes.remove(sim, cluster, node, gone=lambda: reconcile(sim, cluster))


def _grow(sim: Simulation, cluster: Cluster, group: Group) -> None:
    missing = group.target - len(nodes.taken_numbers(cluster, group))
    for number in nodes.free_numbers(cluster, group, max(missing, 0)):
        _launch(sim, cluster, group, number)


def _launch(sim: Simulation, cluster: Cluster, group: Group, number: int) -> None:
    group.launching.add(number)

    def ready(node: Node) -> None:
        group.launching.discard(number)
        group.has_failed = False
        events.record(sim, cluster, f"Instance {node.instance_id} is running.", node=node)
        reconcile(sim, cluster)

    def try_again() -> None:
        group.launching.discard(number)
        reconcile(sim, cluster)

    def failed(node: Node | None, reason: str) -> None:
        if cluster.status not in _RECONCILED:
            group.launching.discard(number)
            return
        group.has_failed = True
        if node is None:
            events.record(
                sim, cluster, "Failed to launch an instance.", level="Error", group=group, failure=reason
            )
        if group.node_type == "Controller" and _is_creating(cluster):
            _fail_creation(sim, cluster, reason)
            return
        if node is not None:
            nodes.terminate(sim, cluster, node)
        sim.timeline.after(sim.durations.retry, try_again)
        _update_statuses(sim, cluster)

    nodes.launch(sim, cluster, group, number, ready=ready, failed=failed)


def _update_statuses(sim: Simulation, cluster: Cluster) -> None:
    for group in cluster.groups.values():
        _update_group(cluster, group)
    required = [*cluster.groups_of_type("Controller"), *cluster.groups_of_type("Login")]
    if _is_creating(cluster) and all(cluster.up(group.name) for group in required if group.target):
        cluster.status = ClusterStatus.IN_SERVICE
        events.record(sim, cluster, "Cluster is in service.")


def _update_group(cluster: Cluster, group: Group) -> None:
    if group.status in (GroupStatus.DELETING, GroupStatus.SYSTEM_UPDATING):
        return
    if is_waiting(cluster, group):
        group.status = GroupStatus.UPDATING if any(group.served) else GroupStatus.CREATING
        return
    group.served = (group.target, group.minimum)
    group.status = GroupStatus.DEGRADED if group.has_failed else GroupStatus.IN_SERVICE


def _fail_creation(sim: Simulation, cluster: Cluster, reason: str) -> None:
    cluster.status = ClusterStatus.FAILED
    cluster.failure_message = reason
    for group in cluster.groups.values():
        group.status = GroupStatus.FAILED
    for node in [node for node in cluster.nodes if node.status is not NodeStatus.SHUTTING_DOWN]:
        nodes.terminate(sim, cluster, node)
    events.record(sim, cluster, "Cluster creation failed.", level="Error", failure=reason)
