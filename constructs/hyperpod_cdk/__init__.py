"""AWS CDK constructs for Amazon SageMaker HyperPod.

The constructs load when they are first asked for: aws_cdk starts Node, which specs, rules and the command
line can do without.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_cdk.access import ExecutionRole
    from hyperpod_cdk.cluster import HyperPodCluster, IHyperPodCluster
    from hyperpod_cdk.lifecycle import LifecycleBucket, LifecycleBundle, LifecycleScripts
    from hyperpod_cdk.network import HyperPodNetwork, IHyperPodNetwork
    from hyperpod_cdk.stack import HyperPodStack
    from hyperpod_cdk.storage import LustreStorage, OpenZfsStorage

__all__ = [
    "ExecutionRole",
    "HyperPodCluster",
    "HyperPodNetwork",
    "HyperPodStack",
    "IHyperPodCluster",
    "IHyperPodNetwork",
    "LifecycleBucket",
    "LifecycleBundle",
    "LifecycleScripts",
    "LustreStorage",
    "OpenZfsStorage",
]

_HOMES = {
    "ExecutionRole": "access",
    "HyperPodCluster": "cluster",
    "HyperPodNetwork": "network",
    "HyperPodStack": "stack",
    "IHyperPodCluster": "cluster",
    "IHyperPodNetwork": "network",
    "LifecycleBucket": "lifecycle",
    "LifecycleBundle": "lifecycle",
    "LifecycleScripts": "lifecycle",
    "LustreStorage": "storage",
    "OpenZfsStorage": "storage",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
