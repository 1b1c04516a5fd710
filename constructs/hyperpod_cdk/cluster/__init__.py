"""The cluster: its request, the construct and the custom resource behind it."""

from hyperpod_cdk.cluster.base import IHyperPodCluster
from hyperpod_cdk.cluster.cluster import HyperPodCluster

__all__ = ["HyperPodCluster", "IHyperPodCluster"]
