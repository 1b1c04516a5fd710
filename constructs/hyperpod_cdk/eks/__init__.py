"""HyperPod on Amazon EKS. The constructs load when they are first asked for: the CDK's modules for Amazon EKS
are large, and who runs Slurm needs none of them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hyperpod_cdk.eks.compute_quota import ComputeQuota, ComputeQuotas
    from hyperpod_cdk.eks.control_plane import EksControlPlane, ExistingControlPlane
    from hyperpod_cdk.eks.dependencies import HyperPodDependencies
    from hyperpod_cdk.eks.interface import IEksControlPlane
    from hyperpod_cdk.eks.platform import EksPlatform
    from hyperpod_cdk.eks.services import EksServices
    from hyperpod_cdk.eks.task_governance import TaskGovernance
    from hyperpod_cdk.eks.training_operator import TrainingOperator

__all__ = [
    "ComputeQuota",
    "ComputeQuotas",
    "EksControlPlane",
    "EksPlatform",
    "EksServices",
    "ExistingControlPlane",
    "HyperPodDependencies",
    "IEksControlPlane",
    "TaskGovernance",
    "TrainingOperator",
]

_HOMES = {
    "ComputeQuota": "compute_quota",
    "ComputeQuotas": "compute_quota",
    "EksControlPlane": "control_plane",
    "EksPlatform": "platform",
    "EksServices": "services",
    "ExistingControlPlane": "control_plane",
    "HyperPodDependencies": "dependencies",
    "IEksControlPlane": "interface",
    "TaskGovernance": "task_governance",
    "TrainingOperator": "training_operator",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
