"""Who may do what."""

from hyperpod_cdk.access.execution_role import ExecutionRole, ExistingExecutionRole, IExecutionRole

__all__ = ["ExecutionRole", "ExistingExecutionRole", "IExecutionRole"]
