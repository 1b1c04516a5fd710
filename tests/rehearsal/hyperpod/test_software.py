"""UpdateClusterSoftware: the way of the nodes, batches, and failure."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import (
    HyperPodService,
    LifecycleFailure,
    NodeSetup,
    NodeSetupResult,
)
from hyperpod_cdk.rehearsal.hyperpod.software import batch_size
from tests.rehearsal.hyperpod.samples import Account, nodes, status

Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]


def releases(sagemaker: Any) -> list[str]:
    return [node["CurrentImageReleaseVersion"] for node in nodes(sagemaker)]


def test_every_node_gets_the_newest(in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    attempts: list[int] = []

    def note(setup: NodeSetup) -> NodeSetupResult:
        attempts.append(setup.attempt)
        return NodeSetupResult()

    service.image_release, service.node_setup = "1.1.0", note
    assert nodes(sagemaker)[0]["ImageVersionStatus"] == "UpdateAvailable"
    sagemaker.update_cluster_software(ClusterName="ml")
    service.clock.advance(60)
    assert status(sagemaker) == "SystemUpdating"
    assert {node["InstanceStatus"]["Status"] for node in nodes(sagemaker)} == {"SystemUpdating"}
    service.clock.advance(600)
    described = sagemaker.describe_cluster(ClusterName="ml")
    assert described["ClusterStatus"] == "InService"
    assert {group["SoftwareUpdateStatus"] for group in described["InstanceGroups"]} == {"Succeeded"}
    assert releases(sagemaker) == ["1.1.0"] * 3
    assert "LastSoftwareUpdateTime" in nodes(sagemaker)[0]
    assert attempts == [2, 2, 2]


def test_nothing_to_do(in_service: Create, sagemaker: Any) -> None:
    in_service()
    sagemaker.update_cluster_software(ClusterName="ml")
    assert status(sagemaker) == "InService"


def test_one_group(in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    chosen = [{"InstanceGroupName": "compute", "ImageReleaseVersion": "0.9.0"}]
    sagemaker.update_cluster_software(ClusterName="ml", InstanceGroups=chosen)
    service.clock.advance(700)
    assert releases(sagemaker) == ["1.0.0", "0.9.0", "0.9.0"]


def test_a_later_update_of_something_else_keeps_the_release(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any
) -> None:
    groups = [
        account.group("controller", "Controller"),
        account.group("compute", ImageReleaseVersion="1.0.0"),
    ]
    in_service(**account.cluster(*groups))
    chosen = [{"InstanceGroupName": "compute", "ImageReleaseVersion": "0.9.0"}]
    sagemaker.update_cluster_software(ClusterName="ml", InstanceGroups=chosen)
    service.settle()
    sagemaker.update_cluster(ClusterName="ml", NodeRecovery="None")
    service.settle()
    shown = sagemaker.describe_cluster(ClusterName="ml")["InstanceGroups"]
    assert [group["CurrentImageReleaseVersion"] for group in shown] == ["1.0.0", "0.9.0"]


def test_a_release_that_the_nodes_have_already_is_that_of_new_nodes(
    in_service: Create, service: HyperPodService, sagemaker: Any
) -> None:
    in_service()
    service.clusters["ml"].groups["compute"].image_release = "1.1.0"
    chosen = [{"InstanceGroupName": "compute", "ImageReleaseVersion": "1.0.0"}]
    sagemaker.update_cluster_software(ClusterName="ml", InstanceGroups=chosen)
    assert status(sagemaker) == "InService"
    shown = sagemaker.describe_cluster(ClusterName="ml")["InstanceGroups"]
    assert shown[1]["CurrentImageReleaseVersion"] == "1.0.0"


def test_batches(account: Account, in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service(
        **account.cluster(account.group("controller", "Controller"), account.group("compute", count=3))
    )
    service.image_release = "1.1.0"
    rolling = {
        "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2}},
        "WaitIntervalInSeconds": 600,
    }
    sagemaker.update_cluster_software(ClusterName="ml", DeploymentConfig=rolling)
    seen = []
    for _ in range(40):
        service.clock.advance(60)
        seen.append(releases(sagemaker).count("1.1.0"))
    assert list(dict.fromkeys(seen)) == [0, 3, 4]
    assert seen.index(4) == 26  # minutes: half, 8 for a batch, 10 in between, 8 again
    assert status(sagemaker) == "InService"


@pytest.mark.parametrize(
    ("kind", "value", "size"),
    [("INSTANCE_COUNT", 3, 3), ("CAPACITY_PERCENTAGE", 25, 2), ("CAPACITY_PERCENTAGE", 5, 1)],
)
def test_batch_size(kind: str, value: int, size: int) -> None:
    policy = {"RollingUpdatePolicy": {"MaximumBatchSize": {"Type": kind, "Value": value}}}
    assert batch_size(policy, 10) == size


def test_failed_group_goes_back(in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    service.image_release = "1.1.0"
    service.faults.add(LifecycleFailure(group="compute", nodes=frozenset({1})))
    sagemaker.update_cluster_software(ClusterName="ml")
    service.clock.advance(520)
    group = sagemaker.describe_cluster(ClusterName="ml")["InstanceGroups"][1]
    assert group["SoftwareUpdateStatus"] == "RollbackInProgress"
    service.clock.advance(600)
    described = sagemaker.describe_cluster(ClusterName="ml")
    assert described["ClusterStatus"] == "InService"
    assert "Lifecycle scripts did not run successfully" in described["FailureMessage"]
    assert described["InstanceGroups"][1]["SoftwareUpdateStatus"] == "RollbackComplete"
    assert releases(sagemaker) == ["1.1.0", "1.0.0", "1.0.0"]
    assert {node["InstanceStatus"]["Status"] for node in nodes(sagemaker)} == {"Running"}


def test_refusals(in_service: Create, service: HyperPodService, sagemaker: Any, refused: Refused) -> None:
    update = sagemaker.update_cluster_software
    assert refused(update, ClusterName="ml")[0] == "ResourceNotFound"
    in_service()
    code, message = refused(update, ClusterName="ml", InstanceGroups=[{"InstanceGroupName": "no"}])
    assert (code, "'no' does not exist" in message) == ("ValidationException", True)
    code, message = refused(update, ClusterName="ml", ImageId="ami-0123456789abcdef0")
    assert (code, "custom AMI" in message) == ("ValidationException", True)
    service.image_release = "1.1.0"
    update(ClusterName="ml")
    assert refused(update, ClusterName="ml")[0] == "ConflictException"
    assert refused(sagemaker.update_cluster, ClusterName="ml", NodeRecovery="None")[0] == "ConflictException"
    assert refused(sagemaker.delete_cluster, ClusterName="ml")[0] == "ConflictException"
