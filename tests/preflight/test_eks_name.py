"""The name that a new control plane gets, without and with CDK."""

import re
from dataclasses import replace

import aws_cdk as cdk
import pytest

from hyperpod_cdk.eks import EksPlatform
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.preflight import eks_plan
from hyperpod_cdk.spec import EksOrchestrator
from tests.preflight.test_eks_arithmetic import spec


@pytest.mark.parametrize("stack_name", ["eks-minimal", "team-2", None])
def test_the_name_of_a_new_control_plane_is_the_one_that_cdk_makes(stack_name: str | None) -> None:
    stack = cdk.Stack(cdk.App(), stack_name or "HyperPod")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az4", "usw2-az1"])
    platform = EksPlatform(stack, "Eks", orchestrator=EksOrchestrator(), network=network)
    beginning = eks_plan.new_name(replace(spec(), stack_name=stack_name))
    assert re.fullmatch(f"{beginning}[0-9A-F]{{8}}", str(platform.control_plane.cluster_name))
