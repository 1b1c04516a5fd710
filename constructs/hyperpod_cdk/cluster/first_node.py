"""On Amazon EKS the node that add-ons wait for."""

from dataclasses import replace

from hyperpod_cdk.rules.look import needs_a_node
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import Cluster, Deployment, NodeProvisioningMode, Provisioning, Wait


def with_a_first_node(cluster: Cluster) -> Cluster:
    """The cluster with a minimum of one node in its first group that has nodes, if nobody says a minimum.

    In Continuous provisioning a cluster on Amazon EKS is in service without any node. Add-ons whose pods run
    on its nodes would then be installed in vain, and fail by themselves after 20 minutes with no word about
    why there is no node.

    Args:
        cluster: the spec.
    """
    said = any(group.min_instance_count is not None for group in cluster.instance_groups)
    if said or not _comes_up_without(cluster):
        return cluster
    groups = list(cluster.instance_groups)
    for index, group in enumerate(groups):
        has_nodes = unresolved(group.instance_count) or group.instance_count > 0
        if group.environment_config is None and has_nodes:
            groups[index] = replace(group, min_instance_count=1)
            break
    return replace(cluster, instance_groups=groups)


def until_a_node(cluster: Cluster, deployment: Deployment) -> Deployment:
    """The deployment, waiting for minimum counts where add-ons need a node and nobody says another wait.

    Args:
        cluster: the spec.
        deployment: what is asked for.
    """
    by_us = deployment.provisioning is Provisioning.CUSTOM_RESOURCE
    wanted = any(group.min_instance_count for group in with_a_first_node(cluster).instance_groups)
    if by_us and wanted and deployment.wait is Wait.IN_SERVICE and _comes_up_without(cluster):
        return replace(deployment, wait=Wait.MINIMUM_COUNTS)
    return deployment


def _comes_up_without(cluster: Cluster) -> bool:
    """Whether the cluster may be in service without the node that something needs."""
    continuous = cluster.node_provisioning_mode is NodeProvisioningMode.CONTINUOUS
    return continuous and needs_a_node(cluster)
