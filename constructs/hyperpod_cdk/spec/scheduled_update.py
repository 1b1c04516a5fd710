"""Software updates by the calendar, and how a group is gone through."""

from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_cdk.spec.kinds import BatchSizeType


@dataclass(frozen=True, kw_only=True)
class BatchSize:
    """How many nodes are taken at a time."""

    type: BatchSizeType
    value: int
    """Nodes, or 1-100 percent of the group."""


@dataclass(frozen=True, kw_only=True)
class RollingUpdatePolicy:
    """A group is updated batch by batch."""

    maximum_batch_size: BatchSize
    rollback_maximum_batch_size: BatchSize | None = None
    """Default: the service's."""


@dataclass(frozen=True, kw_only=True)
class UpdateDeploymentConfig:
    """How a software update goes through a group."""

    rolling_update_policy: RollingUpdatePolicy | None = None
    """Default: the service's."""
    wait_interval_in_seconds: int | None = None
    """Pause between two batches, 0-3600. Default: the service's."""
    auto_rollback_alarm_names: Sequence[str] = ()
    """1-10 CloudWatch alarms; one of them going off rolls the update back. Default: none."""


@dataclass(frozen=True, kw_only=True)
class ScheduledUpdateConfig:
    """Newest software by the calendar. Replaces the root volume of each node, and runs its scripts again."""

    schedule_expression: str
    """``cron(…)`` with six fields, such as ``cron(0 3 ? * SUN *)``; 1-256 characters."""
    deployment_config: UpdateDeploymentConfig | None = None
    """Holds for updates by hand too. Default: the service's."""
