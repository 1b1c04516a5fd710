"""Describing and listing the events of a cluster."""

from hyperpod_cdk.rehearsal.hyperpod import describe, paging
from hyperpod_cdk.rehearsal.hyperpod.errors import NotFoundError, ValidationError
from hyperpod_cdk.rehearsal.hyperpod.operations import lookup
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Event, Spec


def describe_cluster_event(sim: Simulation, request: Spec) -> Spec:
    """Answer DescribeClusterEvent."""
    cluster = _continuous_cluster(sim, request)
    for event in cluster.events:
        if event.event_id == request["EventId"]:
            return {"EventDetails": describe.event_details(cluster, event)}
    raise NotFoundError(f"Could not find event '{request['EventId']}' of cluster '{cluster.name}'.")


def list_cluster_events(sim: Simulation, request: Spec) -> Spec:
    """Answer ListClusterEvents; newest first unless Ascending is asked for (assumed)."""
    cluster = _continuous_cluster(sim, request)
    is_within = paging.within(request, "EventTimeAfter", "EventTimeBefore")
    wanted = {
        "group_name": request.get("InstanceGroupName"),
        "instance_id": request.get("NodeId"),
        "resource_type": request.get("ResourceType"),
    }
    found = [
        event
        for event in cluster.events
        if is_within(event.time)
        and all(value is None or getattr(event, member) == value for member, value in wanted.items())
    ]
    order = {"SortOrder": "Descending", **request}
    page, rest = paging.page(paging.ordered(found, order, {"EventTime": _time}, default="EventTime"), request)
    return {"Events": [describe.event_summary(cluster, event) for event in page], **rest}


def _time(event: Event) -> object:
    return event.time


def _continuous_cluster(sim: Simulation, request: Spec) -> Cluster:
    cluster = lookup.cluster(sim, request["ClusterName"])
    if not cluster.is_continuous:
        raise ValidationError(
            f"Events are only supported with NodeProvisioningMode Continuous, which cluster "
            f"'{cluster.name}' does not have."
        )
    return cluster
