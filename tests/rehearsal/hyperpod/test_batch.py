"""Adding, deleting, rebooting and replacing single nodes."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, InsufficientCapacity, Quotas
from tests.rehearsal.hyperpod.samples import Account, counts, nodes

Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]
UNKNOWN = "i-00000000000000000"


def compute(sagemaker: Any) -> list[dict[str, Any]]:
    return nodes(sagemaker, InstanceGroupNameContains="compute", IncludeNodeLogicalIds=True)


def test_add(account: Account, in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service(**account.cluster(continuous=True))
    answer = sagemaker.batch_add_cluster_nodes(
        ClusterName="ml",
        NodesToAdd=[
            {"InstanceGroupName": "compute", "IncrementTargetCountBy": 2},
            {"InstanceGroupName": "no", "IncrementTargetCountBy": 1},
            {
                "InstanceGroupName": "compute",
                "IncrementTargetCountBy": 1,
                "InstanceTypes": ["ml.p5.48xlarge"],
            },
        ],
    )
    assert [entry["Status"] for entry in answer["Successful"]] == ["Pending"] * 2
    assert [entry["ErrorCode"] for entry in answer["Failed"]] == [
        "InstanceGroupNotFound",
        "IncompatibleInstanceTypes",
    ]
    service.clock.advance(900)
    assert counts(sagemaker)["compute"] == (4, 4)
    logical = {entry["NodeLogicalId"] for entry in answer["Successful"]}
    assert logical < {node["NodeLogicalId"] for node in compute(sagemaker)}


def test_add_again_by_token(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any
) -> None:
    in_service(**account.cluster(continuous=True))
    add = {"NodesToAdd": [{"InstanceGroupName": "compute", "IncrementTargetCountBy": 1}], "ClientToken": "t"}
    first = sagemaker.batch_add_cluster_nodes(ClusterName="ml", **add)
    assert sagemaker.batch_add_cluster_nodes(ClusterName="ml", **add)["Successful"] == first["Successful"]
    service.clock.advance(8 * 3600)
    assert counts(sagemaker)["compute"] == (3, 3)
    sagemaker.batch_add_cluster_nodes(ClusterName="ml", **add)
    assert counts(sagemaker)["compute"] == (3, 4)


@pytest.mark.parametrize(("zone", "added"), [("us-west-2a", 1), ("us-west-2b", 0)])
def test_add_in_a_zone(account: Account, in_service: Create, sagemaker: Any, zone: str, added: int) -> None:
    in_service(**account.cluster(continuous=True))
    entry = {"InstanceGroupName": "compute", "IncrementTargetCountBy": 1, "AvailabilityZones": [zone]}
    answer = sagemaker.batch_add_cluster_nodes(ClusterName="ml", NodesToAdd=[entry])
    assert len(answer["Successful"]) == added
    assert [e["ErrorCode"] for e in answer["Failed"]] == ["IncompatibleAvailabilityZones"] * (1 - added)


def test_add_needs_continuous(in_service: Create, sagemaker: Any, refused: Refused) -> None:
    in_service()
    add = {"NodesToAdd": [{"InstanceGroupName": "compute", "IncrementTargetCountBy": 1}]}
    code, message = refused(sagemaker.batch_add_cluster_nodes, ClusterName="ml", **add)
    assert (code, "Continuous" in message) == ("ValidationException", True)


def test_add_within_quotas(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    in_service(**account.cluster(continuous=True))
    service.quotas = Quotas(instances_per_cluster=4)
    add = {"NodesToAdd": [{"InstanceGroupName": "compute", "IncrementTargetCountBy": 2}]}
    assert refused(sagemaker.batch_add_cluster_nodes, ClusterName="ml", **add)[0] == "ResourceLimitExceeded"
    assert counts(sagemaker)["compute"] == (2, 2)


@pytest.mark.parametrize("continuous", [False, True])
def test_delete(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any, continuous: bool
) -> None:
    in_service(**account.cluster(continuous=continuous))
    first, second = compute(sagemaker)
    controller = nodes(sagemaker, InstanceGroupNameContains="controller")[0]["InstanceId"]
    answer = sagemaker.batch_delete_cluster_nodes(
        ClusterName="ml",
        NodeIds=[first["InstanceId"], controller, UNKNOWN],
        NodeLogicalIds=["node-000000000000"],
    )
    assert answer["Successful"] == [first["InstanceId"]]
    assert {entry["NodeId"]: entry["Code"] for entry in answer["Failed"]} == {
        controller: "NodeIdInUse",
        UNKNOWN: "NodeIdNotFound",
    }
    assert [entry["Code"] for entry in answer["FailedNodeLogicalIds"]] == ["NodeIdNotFound"]
    service.clock.advance(900)
    assert counts(sagemaker)["compute"] == (1, 1)
    assert [node["InstanceId"] for node in compute(sagemaker)] == [second["InstanceId"]]


def test_delete_none(in_service: Create, sagemaker: Any, refused: Refused) -> None:
    in_service()
    code, message = refused(sagemaker.batch_delete_cluster_nodes, ClusterName="ml", NodeIds=[UNKNOWN])
    assert code == "ValidationException"
    assert "NodeIdNotFound" in message


def test_reboot(in_service: Create, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    node = compute(sagemaker)[0]["InstanceId"]
    assert sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[node])["Successful"] == [node]
    assert compute(sagemaker)[0]["InstanceStatus"]["Status"] == "Pending"
    service.clock.advance(180)
    assert compute(sagemaker)[0]["InstanceStatus"]["Status"] == "Running"


@pytest.mark.parametrize("continuous", [False, True])
def test_replace(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any, continuous: bool
) -> None:
    in_service(**account.cluster(continuous=continuous))
    old = compute(sagemaker)[0]
    service.faults.add(InsufficientCapacity(group="compute", times=1))
    answer = sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeLogicalIds=[old["NodeLogicalId"]])
    assert answer["SuccessfulNodeLogicalIds"] == [old["NodeLogicalId"]]
    service.clock.advance(180)
    assert counts(sagemaker)["compute"] == (1, 2)
    service.clock.advance(1200)
    assert counts(sagemaker)["compute"] == (2, 2)
    assert old["InstanceId"] not in {node["InstanceId"] for node in compute(sagemaker)}


def test_update_while_a_node_is_replaced(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any
) -> None:
    in_service()
    service.faults.add(InsufficientCapacity(group="compute", times=1))
    sagemaker.batch_replace_cluster_nodes(ClusterName="ml", NodeIds=[compute(sagemaker)[0]["InstanceId"]])
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("compute", count=3)])
    service.settle()
    assert counts(sagemaker)["compute"] == (3, 3)
    assert len(compute(sagemaker)) == 3


def test_replace_only_in_service(
    account: Account, in_service: Create, sagemaker: Any, refused: Refused
) -> None:
    in_service()
    sagemaker.update_cluster(ClusterName="ml", NodeRecovery="None")
    node = compute(sagemaker)[0]["InstanceId"]
    replace = sagemaker.batch_replace_cluster_nodes
    assert refused(replace, ClusterName="ml", NodeIds=[node])[0] == "ConflictException"


def test_busy_node(in_service: Create, sagemaker: Any, refused: Refused) -> None:
    in_service()
    node = compute(sagemaker)[0]["InstanceId"]
    sagemaker.batch_reboot_cluster_nodes(ClusterName="ml", NodeIds=[node])
    _, message = refused(sagemaker.batch_replace_cluster_nodes, ClusterName="ml", NodeIds=[node])
    assert "InvalidInstanceStatus" in message
