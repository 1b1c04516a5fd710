"""How software updates go through a group, by the clock."""

from typing import Any

from hyperpod_cdk.migration.filling import fill
from hyperpod_cdk.migration.notes import Note
from hyperpod_cdk.migration.part import Part


def scheduled(part: Part, notes: list[Note]) -> dict[str, Any] | None:
    """ScheduledUpdateConfig; without a time it means nothing, and is told as left.

    Args:
        part: the member.
        notes: where what needs saying goes.
    """
    if not part.has("ScheduleExpression"):
        return None
    config: dict[str, Any] = {"schedule_expression": part.take("ScheduleExpression")}
    rolling = deployment(part.below("DeploymentConfig"), notes)
    return {**config, "deployment_config": rolling} if rolling else config


def deployment(part: Part, notes: list[Note]) -> dict[str, Any]:
    """DeploymentConfig; empty where it says nothing.

    Args:
        part: the member.
        notes: where what needs saying goes.
    """
    policy = part.below("RollingUpdatePolicy")
    sizes = {
        "maximum_batch_size": _batch(policy.below("MaximumBatchSize"), notes),
        "rollback_maximum_batch_size": _batch(policy.below("RollbackMaximumBatchSize"), notes),
    }
    if policy.value and sizes["maximum_batch_size"] is None:
        sizes["maximum_batch_size"] = _batch(Part({"": ""}, f"{policy.path}.MaximumBatchSize"), notes)
    alarms = [alarm.take("AlarmName") for alarm in part.items("AutoRollbackConfiguration")]
    config = {
        "rolling_update_policy": {key: size for key, size in sizes.items() if size},
        "wait_interval_in_seconds": part.take("WaitIntervalInSeconds"),
        "auto_rollback_alarm_names": [alarm for alarm in alarms if alarm],
    }
    return {key: value for key, value in config.items() if value not in (None, [], {})}


def _batch(part: Part, notes: list[Note]) -> dict[str, Any] | None:
    if not part.value:
        return None
    size = {"type": part.take("Type"), "value": part.take("Value")}
    fill(size, part, {"type": "Type", "value": "Value"}, notes)
    return size
