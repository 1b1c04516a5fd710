"""Amazon EKS, emulated inside moto: control planes with a Kubernetes each, nodes, add-ons, access."""

from hyperpod_cdk.rehearsal.eks.faults import AddOnFails, OperationFails
from hyperpod_cdk.rehearsal.eks.moto_extension import served, service
from hyperpod_cdk.rehearsal.eks.service import AmazonEks, Durations
from hyperpod_cdk.rehearsal.eks.state import Cluster

__all__ = ["AddOnFails", "AmazonEks", "Cluster", "Durations", "OperationFails", "served", "service"]
