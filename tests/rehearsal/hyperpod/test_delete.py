"""DeleteCluster: when it is possible, how it ends, and what outlives the cluster."""

from collections.abc import Callable
from typing import Any

from hyperpod_cdk.rehearsal.hyperpod import (
    DeleteConflict,
    DeleteFails,
    HyperPodService,
    LifecycleFailure,
    LingeringInterfaces,
)
from tests.rehearsal.hyperpod.samples import Account, client, nodes, status

Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]


def interfaces() -> int:
    return len(client("ec2").describe_network_interfaces()["NetworkInterfaces"])


def test_way_to_not_found(
    in_service: Create, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    arn = in_service()["ClusterArn"]
    assert sagemaker.delete_cluster(ClusterName="ml")["ClusterArn"] == arn
    assert status(sagemaker) == "Deleting"
    assert {node["InstanceStatus"]["Status"] for node in nodes(sagemaker)} == {"ShuttingDown"}
    service.clock.advance(300)
    for name in ("ml", arn):
        code, message = refused(sagemaker.describe_cluster, ClusterName=name)
        assert (code, message) == ("ResourceNotFound", f"Could not find cluster '{name}'.")
    assert refused(sagemaker.delete_cluster, ClusterName="ml")[0] == "ResourceNotFound"


def test_interfaces_outlive_the_cluster(in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    sagemaker.delete_cluster(ClusterName="ml")
    service.clock.advance(300)
    assert sagemaker.list_clusters()["ClusterSummaries"] == []
    assert interfaces() == 3
    service.clock.advance(120)
    service.catch_up()
    assert interfaces() == 0


def test_interfaces_linger_as_told(in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    service.faults.add(LingeringInterfaces(seconds=3600))
    sagemaker.delete_cluster(ClusterName="ml")
    service.clock.advance(3600)
    service.catch_up()
    assert interfaces() == 3
    service.clock.advance(200)
    service.catch_up()
    assert interfaces() == 0


def test_interface_that_somebody_deleted(
    in_service: Create, service: HyperPodService, sagemaker: Any
) -> None:
    in_service()
    ec2 = client("ec2")
    one = ec2.describe_network_interfaces()["NetworkInterfaces"][0]["NetworkInterfaceId"]
    sagemaker.delete_cluster(ClusterName="ml")
    ec2.delete_network_interface(NetworkInterfaceId=one)
    service.settle()
    assert interfaces() == 0


def test_name_is_free_again(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any
) -> None:
    first = in_service()["ClusterArn"]
    sagemaker.delete_cluster(ClusterName="ml")
    service.clock.advance(300)
    assert sagemaker.create_cluster(**account.cluster())["ClusterArn"] != first


def test_logs_stay(in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    sagemaker.delete_cluster(ClusterName="ml")
    service.settle()
    groups = client("logs").describe_log_groups(logGroupNamePrefix="/aws/sagemaker/Clusters/ml/")["logGroups"]
    assert len(groups) == 1


def test_only_at_rest(account: Account, service: HyperPodService, sagemaker: Any, refused: Refused) -> None:
    sagemaker.create_cluster(**account.cluster())
    assert refused(sagemaker.delete_cluster, ClusterName="ml")[0] == "ConflictException"
    service.clock.advance(700)
    sagemaker.update_cluster(ClusterName="ml", NodeRecovery="None")
    code, message = refused(sagemaker.delete_cluster, ClusterName="ml")
    assert code == "ConflictException"
    assert "Updating" in message
    service.clock.advance(60)
    sagemaker.delete_cluster(ClusterName="ml")
    assert refused(sagemaker.delete_cluster, ClusterName="ml")[0] == "ConflictException"


def test_failed_cluster(in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    service.faults.add(LifecycleFailure())
    assert in_service()["ClusterStatus"] == "Failed"
    sagemaker.delete_cluster(ClusterName="ml")
    service.clock.advance(300)
    assert sagemaker.list_clusters()["ClusterSummaries"] == []


def test_conflict_as_told(
    in_service: Create, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    in_service()
    service.faults.add(DeleteConflict(times=2))
    for _ in range(2):
        assert refused(sagemaker.delete_cluster, ClusterName="ml")[0] == "ConflictException"
        assert status(sagemaker) == "InService"
    sagemaker.delete_cluster(ClusterName="ml")
    assert status(sagemaker) == "Deleting"


def test_failed_deletion(in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    service.faults.add(DeleteFails(reason="internal"))
    sagemaker.delete_cluster(ClusterName="ml")
    service.clock.advance(300)
    described = sagemaker.describe_cluster(ClusterName="ml")
    assert (described["ClusterStatus"], described["FailureMessage"]) == ("Failed", "internal")
    sagemaker.delete_cluster(ClusterName="ml")
    service.clock.advance(300)
    assert sagemaker.list_clusters()["ClusterSummaries"] == []


def test_continuous_cluster_stays_deleted(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any
) -> None:
    service.faults.add(LifecycleFailure(group="compute"))
    in_service(**account.cluster(continuous=True))
    sagemaker.delete_cluster(ClusterName="ml")
    service.settle()
    assert sagemaker.list_clusters()["ClusterSummaries"] == []
    assert interfaces() == 0
