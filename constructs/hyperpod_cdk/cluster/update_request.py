"""The API's words for how software updates go through a group."""

from typing import Any

from hyperpod_cdk.spec import BatchSize, UpdateDeploymentConfig


def update_deployment(config: UpdateDeploymentConfig | None) -> dict[str, Any] | None:
    """The API's DeploymentConfig.

    Args:
        config: how a software update goes through a group; None gives None.
    """
    if config is None:
        return None
    policy = config.rolling_update_policy
    alarms = [{"AlarmName": name} for name in config.auto_rollback_alarm_names]
    return {
        "RollingUpdatePolicy": policy
        and {
            "MaximumBatchSize": _batch_size(policy.maximum_batch_size),
            "RollbackMaximumBatchSize": _batch_size(policy.rollback_maximum_batch_size),
        },
        "WaitIntervalInSeconds": config.wait_interval_in_seconds,
        "AutoRollbackConfiguration": alarms or None,
    }


def _batch_size(size: BatchSize | None) -> dict[str, Any] | None:
    return None if size is None else {"Type": size.type, "Value": size.value}
