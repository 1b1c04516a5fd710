"""On Amazon EKS the node that add-ons wait for."""

from dataclasses import replace

from hyperpod_cdk.rules.look import needs_a_node
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import Cluster, NodeProvisioningMode


def with_a_first_node(cluster: Cluster) -> Cluster:
    """The cluster with a minimum of one node in its first group that has nodes, if nobody says a minimum.

    In Continuous provisioning a cluster on Amazon EKS is in service without any node. Add-ons whose pods run
    on its nodes would then be installed in vain, and fail by themselves after 20 minutes with no word about
    why there is no node.

    Args:
        cluster: the spec.
    """
    said = any(group.min_instance_count is not None for group in cluster.instance_groups)
    continuous = cluster.node_provisioning_mode is NodeProvisioningMode.CONTINUOUS
    if said or not continuous or not needs_a_node(cluster):
        return cluster
    groups = list(cluster.instance_groups)
    for index, group in enumerate(groups):
        has_nodes = unresolved(group.instance_count) or group.instance_count > 0
        if group.environment_config is None and has_nodes:
            groups[index] = replace(group, min_instance_count=1)
            break
    return replace(cluster, instance_groups=groups)
