"""The events of a cluster, as ListClusterEvents gives them."""

from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Event, Group, Node, Spec


def record(
    sim: Simulation,
    cluster: Cluster,
    description: str,
    *,
    level: str = "Info",
    group: Group | None = None,
    node: Node | None = None,
    failure: str = "",
) -> None:
    """Add an event.

    Args:
        sim: the simulation, whose time it is.
        cluster: the cluster that it happened to.
        description: one sentence.
        level: ``Info``, ``Warn`` or ``Error``.
        group: instance group that it is about.
        node: node that it is about.
        failure: reason, for the event's metadata.
    """
    kind = "Instance" if node else "InstanceGroup" if group else "Cluster"
    cluster.events.append(
        Event(
            event_id=sim.new_uuid(),
            time=sim.timeline.now(),
            resource_type=kind,
            level=level,
            description=description,
            metadata=_metadata(kind, node, failure),
            group_name=node.group_name if node else group.name if group else None,
            instance_id=node.instance_id if node else None,
        )
    )


def _metadata(kind: str, node: Node | None, failure: str) -> Spec:
    content: Spec = {"FailureMessage": failure} if failure else {}
    if node is not None:
        content["NodeLogicalId"] = node.logical_id
        if node.placement.interface_ids:
            content["CustomerEni"] = node.placement.interface_ids[0]
    return {kind: content}
