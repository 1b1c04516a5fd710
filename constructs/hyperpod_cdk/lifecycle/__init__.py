"""The nodes' scripts: the bucket and what is in it. The constructs load when they are first asked for."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_cdk.lifecycle.bucket import ExistingLifecycleBucket, ILifecycleBucket, LifecycleBucket
    from hyperpod_cdk.lifecycle.bundle import LifecycleBundle
    from hyperpod_cdk.lifecycle.eks_scripts import EksLifecycleScripts
    from hyperpod_cdk.lifecycle.scripts import LifecycleScripts

__all__ = [
    "EksLifecycleScripts",
    "ExistingLifecycleBucket",
    "ILifecycleBucket",
    "LifecycleBucket",
    "LifecycleBundle",
    "LifecycleScripts",
]

_HOMES = {
    "EksLifecycleScripts": "eks_scripts",
    "ExistingLifecycleBucket": "bucket",
    "ILifecycleBucket": "bucket",
    "LifecycleBucket": "bucket",
    "LifecycleBundle": "bundle",
    "LifecycleScripts": "scripts",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
