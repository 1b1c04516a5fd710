"""Amazon EKS: what nodes must be allowed and must reach."""

from typing import Any

import pytest

from hyperpod_cdk.preflight.role_needs import needs
from hyperpod_cdk.service.endpoints import KUBERNETES_SERVICES, NODE_SERVICES
from hyperpod_cdk.spec import EnvironmentConfig, HelmChart, Observability
from tests.preflight.fake import told
from tests.preflight.test_eks_arithmetic import ARN, group, spec

CHART = HelmChart(path="chart")
ROLE = "arn:aws:iam::123456789012:role/nodes"
WORKSPACE = "arn:aws:aps:us-west-2:123456789012:workspace/ws-1"


def allowed(restricted: bool = False, **eks: Any) -> dict[str, set[str]]:
    """Actions that a role must allow, by resource."""
    environment = EnvironmentConfig() if restricted else None
    cpu = group("cpu", 1, "ml.c5.xlarge", execution_role_arn=ROLE, environment_config=environment)
    found: dict[str, set[str]] = {}
    for need in needs(spec(cpu, **eks), ROLE, "us-west-2"):
        for resource in need.resources:
            found.setdefault(resource, set()).update(need.actions)
    return found


def test_nodes_give_pods_addresses_images_and_identities() -> None:
    found = allowed(cluster_arn=ARN)
    assert found[ARN] == {"eks-auth:AssumeRoleForPodIdentity"}
    assert found["arn:aws:ecr:us-west-2:123456789012:repository/any"] == {
        "ecr:BatchCheckLayerAvailability",
        "ecr:BatchGetImage",
        "ecr:GetDownloadUrlForLayer",
    }
    assert found["*"] >= {"ecr:GetAuthorizationToken", "ec2:DescribeInstances", "ec2:DescribeSubnets"}
    interface = found["arn:aws:ec2:us-west-2:123456789012:network-interface/eni-0123456789abcdef0"]
    assert interface >= {"ec2:AssignPrivateIpAddresses", "ec2:AttachNetworkInterface"}


def test_a_new_control_plane_is_named_by_its_stack() -> None:
    assert "arn:aws:eks:us-west-2:123456789012:cluster/s-Eks-ControlPlane-00000000" in allowed()


@pytest.mark.parametrize(("restricted", "written"), [(True, {"aps:RemoteWrite"}), (False, None)])
def test_restricted_nodes_write_metrics_themselves(restricted: bool, written: set[str] | None) -> None:
    metrics = Observability(prometheus_workspace_arn=WORKSPACE)
    assert allowed(restricted, observability=metrics).get(WORKSPACE) == written


def test_each_resource_is_one_question() -> None:
    asked = needs(spec(group("cpu", 1, "ml.c5.xlarge", execution_role_arn=ROLE)), ROLE, "us-west-2")
    keys = [(tuple(one.resources), tuple(one.context.items())) for one in asked]
    assert len(keys) == len(set(keys))
    assert all(len(one.actions) == len(set(one.actions)) for one in asked)


@pytest.mark.parametrize(
    ("settings", "more"),
    [
        ({"training_operator": None}, set()),
        ({"training_operator": None, "helm_chart": CHART}, {"lambda"}),
        ({"training_operator": None, "helm_chart": CHART, "cluster_arn": ARN}, set()),
        ({}, {"sagemaker.api", "eks-auth"}),
        (
            {"training_operator": None, "observability": Observability()},
            {"aps-workspaces", "eks-auth"},
        ),
    ],
)
def test_services_that_nodes_in_closed_subnets_reach(settings: dict[str, Any], more: set[str]) -> None:
    wanted = {*NODE_SERVICES, *KUBERNETES_SERVICES, *more}

    def found(services: set[str]) -> list[str]:
        endpoints = [
            {
                "VpcId": "vpc-1",
                "ServiceName": f"com.amazonaws.us-west-2.{name}",
                "VpcEndpointType": "Interface",
                "PrivateDnsEnabled": True,
            }
            for name in services
        ]
        return told(
            "service-endpoints",
            spec(**settings),
            describe_subnets=[{"SubnetId": "subnet-a", "VpcId": "vpc-1"}],
            describe_route_tables=[{"RouteTableId": "r", "VpcId": "vpc-1", "Associations": [{"Main": True}]}],
            describe_vpc_endpoints=endpoints,
        )

    assert found(wanted) == []
    for name in wanted:
        (message,) = found(wanted - {name})
        assert message.endswith(f"no interface endpoint of {name}")
