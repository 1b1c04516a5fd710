"""Describing and listing clusters and nodes."""

from hyperpod_cdk.rehearsal.hyperpod import describe, paging
from hyperpod_cdk.rehearsal.hyperpod.errors import ValidationError
from hyperpod_cdk.rehearsal.hyperpod.operations import lookup
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Node, Spec


def describe_cluster(sim: Simulation, request: Spec) -> Spec:
    """Answer DescribeCluster."""
    return describe.cluster(sim, lookup.cluster(sim, request["ClusterName"]))


def list_clusters(sim: Simulation, request: Spec) -> Spec:
    """Answer ListClusters."""
    is_within = paging.within(request, "CreationTimeAfter", "CreationTimeBefore")
    plan = request.get("TrainingPlanArn")
    found = [
        cluster
        for cluster in sim.clusters.values()
        if request.get("NameContains", "") in cluster.name
        and is_within(cluster.created_at)
        and (plan is None or plan in describe.training_plans(cluster))
    ]
    found = paging.ordered(found, request, _CLUSTER_KEYS, default="CREATION_TIME")
    clusters, rest = paging.page(found, request)
    return {"ClusterSummaries": [describe.cluster_summary(sim, cluster) for cluster in clusters], **rest}


def describe_cluster_node(sim: Simulation, request: Spec) -> Spec:
    """Answer DescribeClusterNode."""
    cluster = lookup.cluster(sim, request["ClusterName"])
    instance_id, logical_id = request.get("NodeId"), request.get("NodeLogicalId")
    if (instance_id is None) == (logical_id is None):
        raise ValidationError("Exactly one of NodeId and NodeLogicalId must be specified.")
    node = lookup.node(cluster, instance_id=instance_id, logical_id=logical_id)
    return {"NodeDetails": describe.node(sim, cluster, node)}


def list_cluster_nodes(sim: Simulation, request: Spec) -> Spec:
    """Answer ListClusterNodes."""
    cluster = lookup.cluster(sim, request["ClusterName"])
    is_within = paging.within(request, "CreationTimeAfter", "CreationTimeBefore")
    found = [
        node
        for node in cluster.nodes
        if request.get("InstanceGroupNameContains", "") in node.group_name and is_within(node.launched_at)
    ]
    found = paging.ordered(found, request, _NODE_KEYS, default="CREATION_TIME")
    page, rest = paging.page(found, request)
    with_logical_id = request.get("IncludeNodeLogicalIds", False)
    summaries = [describe.node_summary(sim, node, with_logical_id=with_logical_id) for node in page]
    return {"ClusterNodeSummaries": summaries, **rest}


def _cluster_name(cluster: Cluster) -> str:
    return cluster.name


def _cluster_creation(cluster: Cluster) -> object:
    return cluster.created_at


def _node_name(node: Node) -> tuple[str, int]:
    return node.group_name, node.number


def _node_creation(node: Node) -> object:
    return node.launched_at


_CLUSTER_KEYS = {"NAME": _cluster_name, "CREATION_TIME": _cluster_creation}
_NODE_KEYS = {"NAME": _node_name, "CREATION_TIME": _node_creation}
