"""The API's words for what only clusters on Amazon EKS have."""

from typing import Any

from hyperpod_cdk.cluster.update_request import update_deployment
from hyperpod_cdk.spec import (
    AutoPatchConfig,
    DrainPolicy,
    KubernetesConfig,
    SharedEnvironmentConfig,
    SharedLustre,
)

Request = dict[str, Any]


def kubernetes(config: KubernetesConfig | None) -> Request | None:
    """The API's KubernetesConfig; None gives None."""
    if config is None:
        return None
    taints = [{"Key": one.key, "Value": one.value, "Effect": one.effect} for one in config.taints]
    return {"Labels": dict(config.labels) or None, "Taints": taints or None}


def auto_patch(config: AutoPatchConfig | None) -> Request | None:
    """The API's AutoPatchConfig; None gives None."""
    if config is None:
        return None
    date = config.next_patch_date
    return {
        "PatchingStrategy": config.patching_strategy,
        "PatchSchedule": date and {"NextPatchDate": date},
        "DeploymentConfig": update_deployment(config.deployment_config),
        "IdleWaitWindowInSeconds": config.idle_wait_window_in_seconds,
        "DrainPolicy": _drain_policy(config.drain_policy),
    }


def shared_lustre(config: SharedLustre) -> Request:
    """The API's FSxLustreConfig."""
    return {
        "SizeInGiB": config.size_in_gib,
        "PerUnitStorageThroughput": config.per_unit_storage_throughput,
    }


def shared_environment(config: SharedEnvironmentConfig | None) -> Request | None:
    """The API's RestrictedInstanceGroupsConfig; None gives None."""
    if config is None:
        return None
    return {
        "SharedEnvironmentConfig": {
            "FSxLustreDeletionPolicy": config.fsx_lustre_deletion_policy,
            "FSxLustreConfig": shared_lustre(config.fsx_lustre_config),
        }
    }


def _drain_policy(policy: DrainPolicy | None) -> Request | None:
    if policy is None:
        return None
    return {
        "DrainTimeoutInSeconds": policy.drain_timeout_in_seconds,
        "OnDrainTimeout": policy.on_drain_timeout,
    }
