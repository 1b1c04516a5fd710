"""HyperPod on Amazon EKS. Loaded only by those who use it."""

from hyperpod_cdk.eks.control_plane import EksControlPlane, ExistingControlPlane
from hyperpod_cdk.eks.dependencies import HyperPodDependencies
from hyperpod_cdk.eks.interface import IEksControlPlane
from hyperpod_cdk.eks.task_governance import TaskGovernance
from hyperpod_cdk.eks.training_operator import TrainingOperator

__all__ = [
    "EksControlPlane",
    "ExistingControlPlane",
    "HyperPodDependencies",
    "IEksControlPlane",
    "TaskGovernance",
    "TrainingOperator",
]
