"""A stack with a control plane, file systems, and what runs on the cluster beside training."""

from typing import Any

import aws_cdk as cdk
from aws_cdk.assertions import Template

from hyperpod_cdk.eks import EksControlPlane, ExistingControlPlane
from hyperpod_cdk.eks.services import EksServices
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import NatGateways
from hyperpod_cdk.spec.eks import EksOrchestrator
from hyperpod_cdk.storage import ExistingStorage, IStorage, LustreStorage, OpenZfsStorage

CLUSTER_ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
EKS_ARN = "arn:aws:eks:us-west-2:111122223333:cluster/mine"
PROVIDER = "arn:aws:iam::111122223333:oidc-provider/oidc.eks.us-west-2.amazonaws.com/id/0123456789ABCDEF"
HYPERPOD = "HyperPod"


def build(
    *,
    nat_gateways: NatGateways = NatGateways.ONE,
    storage: bool = False,
    existing: bool = False,
    **orchestrator: Any,
) -> cdk.Stack:
    """A stack where a stand-in is the HyperPod cluster."""
    stack = cdk.Stack(cdk.App(), "S")
    zones = ("usw2-az4", "usw2-az1")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=zones, nat_gateways=nat_gateways)
    eks = EksOrchestrator(**{"training_operator": None, **orchestrator})
    plane: EksControlPlane | ExistingControlPlane = (
        ExistingControlPlane(EKS_ARN)
        if existing
        else EksControlPlane(stack, "Eks", orchestrator=eks, network=network)
    )
    cluster = cdk.CfnResource(stack, HYPERPOD, type="AWS::SageMaker::Cluster")
    cluster.node.add_dependency(*plane.ready)
    EksServices(
        stack,
        "Services",
        orchestrator=eks,
        control_plane=plane,
        cluster_arn=CLUSTER_ARN,
        depends_on=[cluster],
        network=network,
        storage=file_systems(stack, network) if storage else None,
    )
    return stack


def file_systems(stack: cdk.Stack, network: HyperPodNetwork) -> dict[str, IStorage]:
    return {
        "scratch": LustreStorage(stack, "Scratch", network=network),
        "home": OpenZfsStorage(stack, "Home", network=network),
        "old": ExistingStorage(
            stack,
            "Old",
            file_system_type="LUSTRE",
            dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
            mount_name="abcdefgh",
        ),
    }


def template(**arguments: Any) -> Template:
    return Template.from_stack(build(**arguments))
