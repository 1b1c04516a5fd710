"""The network of a cluster."""

from hyperpod_cdk.network.existing import ExistingHyperPodNetwork
from hyperpod_cdk.network.interface import IHyperPodNetwork
from hyperpod_cdk.network.network import HyperPodNetwork

__all__ = ["ExistingHyperPodNetwork", "HyperPodNetwork", "IHyperPodNetwork"]
