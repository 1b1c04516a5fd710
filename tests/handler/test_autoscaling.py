"""Autoscaling comes up after the cluster does, and may not come up at all: neither is told as success."""

from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import AutoscalingFails, HyperPodService
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.samples import OTHER_ROLE, ROLE, Request, group

EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k"}}
SCALING: dict[str, Any] = {
    "AutoScaling": {"Mode": "Enable", "AutoScalerType": "Karpenter"},
    "ClusterRole": ROLE,
}
FAILS = AutoscalingFails(reason="Karpenter could not be installed.")


def cluster(*, count: int = 1, **members: Any) -> Request:
    """A cluster on Amazon EKS."""
    cpu = {key: value for key, value in group("cpu", count=count).items() if key != "SlurmConfig"}
    return {
        "ClusterName": "ml",
        "InstanceGroups": [cpu],
        "Orchestrator": EKS,
        "VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]},
        "NodeProvisioningMode": "Continuous",
        **members,
    }


@pytest.fixture(autouse=True)
def placeless(service: HyperPodService, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes need no subnets."""
    network = "hyperpod_cdk.rehearsal.hyperpod.network"
    monkeypatch.setattr(f"{network}.vpc_config_of", lambda _cluster, _group: None)


def status(service: HyperPodService) -> str:
    return service.clusters["ml"].scaler


@pytest.mark.parametrize("before", [None, cluster()], ids=["create", "update"])
def test_it_is_waited_for(stack: Stack, service: HyperPodService, before: Request | None) -> None:
    if before:
        assert stack.create(before).ok
        assert stack.update(cluster(**SCALING)).ok
    else:
        assert stack.create(cluster(**SCALING)).ok
    assert status(service) == "InService"


def test_a_creation_without_it_fails_with_the_services_reason(stack: Stack, service: HyperPodService) -> None:
    service.faults.add(FAILS)
    response = stack.create(cluster(**SCALING))
    assert not response.ok
    told = "Create of cluster ml failed: autoscaling could not be set up: Karpenter could not be installed."
    assert told in response.reason


def test_an_update_that_turns_it_on_is_rolled_back(stack: Stack, service: HyperPodService) -> None:
    assert stack.create(cluster()).ok
    service.faults.add(FAILS)
    response = stack.update(cluster(**SCALING))
    assert "Update of cluster ml failed: autoscaling could not be set up" in response.reason
    assert stack.last.ok, "the rollback turns it off, and leaves its role"


def test_it_is_turned_off_and_on_again_with_another_role(stack: Stack, service: HyperPodService) -> None:
    assert stack.create(cluster(**SCALING)).ok
    assert stack.update(cluster()).ok
    assert (status(service), service.clusters["ml"].settings["AutoScaling"]["Mode"]) == ("", "Disable")
    assert stack.update(cluster(**{**SCALING, "ClusterRole": OTHER_ROLE})).ok
    assert service.clusters["ml"].settings["ClusterRole"] == OTHER_ROLE


def test_what_failed_before_fails_no_other_update(
    stack: Stack, service: HyperPodService, calls: Calls
) -> None:
    assert stack.create(cluster(**SCALING)).ok
    service.clusters["ml"].scaler = "Failed"
    calls.clear()
    assert stack.update(cluster(count=2, **SCALING)).ok
    assert calls.mutating == ["UpdateCluster"]
