"""Who may do what."""

from hyperpod_cdk.access.cluster_role import ClusterRole
from hyperpod_cdk.access.execution_role import ExecutionRole, ExistingExecutionRole, IExecutionRole

__all__ = ["ClusterRole", "ExecutionRole", "ExistingExecutionRole", "IExecutionRole"]
