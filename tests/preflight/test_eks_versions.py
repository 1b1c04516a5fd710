"""Amazon EKS: versions at their bounds."""

from typing import Any

import pytest

from hyperpod_cdk.spec import Inference, TaskGovernance
from hyperpod_cdk.spec.add_on import AddOn
from tests.preflight.fake import missing, told
from tests.preflight.test_eks_arithmetic import ARN, NO_STACK, plane, spec

OWN = {"ResourceType": "AWS::EKS::Cluster", "PhysicalResourceId": "s-Eks-ControlPlane-00000000"}


@pytest.mark.parametrize(
    ("version", "faults"),
    [
        ("v1.18.2-eksbuild.9", 1),
        ("v1.18.3-eksbuild.1", 0),
        ("v1.9.9-eksbuild.1", 1),
        ("v1.20.0-eksbuild.1", 0),
    ],
)
def test_the_network_plugin(version: str, faults: int) -> None:
    found = told(
        "eks-network-plugin",
        spec(cluster_arn=ARN),
        describe_cluster=plane(),
        describe_addon={"addon": {"addonVersion": version}},
    )
    assert len(found) == faults


@pytest.mark.parametrize(("build", "faults"), [(3, 1), (4, 0), (10, 0)])
def test_what_inference_stands_on(build: int, faults: int) -> None:
    def add_on(call: Any) -> Any:
        name = call.arguments["addonName"]
        version = f"v0.7.2-eksbuild.{build}" if name == "metrics-server" else "v9.0.0-eksbuild.1"
        return {"addon": {"status": "ACTIVE", "addonVersion": version}}

    found = told(
        "eks-needed-add-ons",
        spec(cluster_arn=ARN, inference=Inference()),
        describe_cluster=plane(),
        describe_addon=add_on,
    )
    assert len(found) == faults


@pytest.mark.parametrize(
    ("live", "wanted", "faults"),
    [
        ("1.32", "1.31", 1),
        ("1.32", "1.32", 0),
        ("1.32", "1.33", 0),
        ("1.32", "1.34", 1),
        (None, "1.34", 0),
    ],
)
def test_kubernetes_goes_one_version_up(live: str | None, wanted: str, faults: int) -> None:
    answer = {"cluster": {"version": live}} if live else missing("ResourceNotFoundException")
    made = spec(kubernetes_version=wanted)
    resources = {"list_stack_resources": [OWN]}
    assert len(told("kubernetes-upgrade", made, describe_cluster=answer, **resources)) == faults
    assert told("kubernetes-upgrade", made, list_stack_resources=NO_STACK) == []


@pytest.mark.parametrize(
    ("live", "wanted", "faults"),
    [
        ("v1.2.2-eksbuild.1", "v1.6.1-eksbuild.1", 1),
        ("v1.3.3-eksbuild.1", "v1.5.0-eksbuild.1", 1),
        ("v1.3.3-eksbuild.1", "v1.4.0-eksbuild.1", 0),
        ("v1.4.0-eksbuild.1", "v1.6.0-eksbuild.1", 0),
        (None, "v1.6.0-eksbuild.1", 0),
    ],
)
@pytest.mark.parametrize("cluster_arn", [None, ARN], ids=["made", "there"])
def test_task_governance_does_not_go_past_its_change(
    live: str | None, wanted: str, faults: int, cluster_arn: str | None
) -> None:
    governed = spec(cluster_arn=cluster_arn, task_governance=TaskGovernance(add_on=AddOn(version=wanted)))
    found = told(
        "governance-upgrade",
        governed,
        list_stack_resources=[OWN],
        describe_addon={"addon": {"addonVersion": live}} if live else missing("ResourceNotFoundException"),
    )
    assert len(found) == faults


@pytest.mark.parametrize(("free", "faults"), [(5, 1), (6, 0)])
def test_addresses_of_a_control_plane(free: int, faults: int) -> None:
    subnets = [
        {"SubnetId": one, "AvailableIpAddressCount": count, "AvailabilityZoneId": "usw2-az1"}
        for one, count in (("subnet-a", 100), ("subnet-b", free))
    ]
    answers = {"describe_subnets": subnets}
    found = told("control-plane-addresses", spec(), **answers, list_stack_resources=NO_STACK)
    assert len(found) == faults
    # the control plane that is there has its own
    assert told("control-plane-addresses", spec(), **answers, list_stack_resources=[OWN]) == []
