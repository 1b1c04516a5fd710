"""The API operations of the emulated service: each a function from the service and a request to an answer."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from hyperpod_cdk.rehearsal.hyperpod.operations import (
    batch,
    create,
    delete,
    events,
    governance,
    plans,
    read,
    software,
    update,
)
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Spec

Operation = Callable[[Simulation, Spec], Spec]

OPERATIONS: Mapping[str, Operation] = MappingProxyType(
    {
        "CreateCluster": create.create_cluster,
        "UpdateCluster": update.update_cluster,
        "UpdateClusterSoftware": software.update_cluster_software,
        "DeleteCluster": delete.delete_cluster,
        "DescribeCluster": read.describe_cluster,
        "ListClusters": read.list_clusters,
        "DescribeClusterNode": read.describe_cluster_node,
        "ListClusterNodes": read.list_cluster_nodes,
        "DescribeClusterEvent": events.describe_cluster_event,
        "ListClusterEvents": events.list_cluster_events,
        "DescribeTrainingPlan": plans.describe_training_plan,
        "BatchAddClusterNodes": batch.add_nodes,
        "BatchDeleteClusterNodes": batch.delete_nodes,
        "BatchRebootClusterNodes": batch.reboot_nodes,
        "BatchReplaceClusterNodes": batch.replace_nodes,
        **governance.OPERATIONS,
    }
)
"""Every operation that the service answers, by its name in the API."""

__all__ = ["OPERATIONS", "Operation"]
