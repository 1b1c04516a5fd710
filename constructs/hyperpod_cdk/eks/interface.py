"""What the other constructs need of a control plane."""

from collections.abc import Sequence
from typing import Protocol

from constructs import IDependable


class IEksControlPlane(Protocol):
    """A control plane made here (`EksControlPlane`) or one that is there already."""

    @property
    def cluster_name(self) -> str:
        """Name of the EKS cluster."""

    @property
    def cluster_arn(self) -> str:
        """ARN of the EKS cluster."""

    @property
    def ready(self) -> Sequence[IDependable]:
        """What a HyperPod cluster waits for, and which it must not outlive."""
