"""Faults: how often they strike, whom, and together."""

from collections.abc import Callable
from typing import Any

import boto3
import pytest

from hyperpod_cdk.rehearsal.hyperpod import (
    AccessDenied,
    Conflict,
    Faults,
    HyperPodService,
    InsufficientCapacity,
    LifecycleFailure,
    NotYetVisible,
    RoleNotAssumable,
    ServerError,
    Throttle,
    UpdateRollsBack,
)
from tests.rehearsal.hyperpod.samples import Account, status

Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]


def test_spent_after_its_times() -> None:
    faults = Faults()
    faults.add(UpdateRollsBack(times=2))
    assert [faults.strike(UpdateRollsBack) is not None for _ in range(3)] == [True, True, False]
    assert faults.active() == ()


def test_always() -> None:
    faults = Faults()
    faults.add(LifecycleFailure())
    assert all(faults.strike_node(LifecycleFailure, group="g", number=n) for n in range(1, 50))


def test_one_after_another_even_if_equal() -> None:
    faults = Faults()
    same = UpdateRollsBack(reason="a")
    faults.add(same, same, UpdateRollsBack(reason="b"))
    struck = [faults.strike(UpdateRollsBack) for _ in range(3)]
    assert [fault and fault.reason for fault in struck] == ["a", "a", "b"]


def test_strikes_the_node_that_is_meant() -> None:
    faults = Faults()
    faults.add(InsufficientCapacity(group="a", nodes=frozenset({2})), InsufficientCapacity(group="b"))
    hit = {
        (group, number)
        for group in "abc"
        for number in (1, 2)
        if faults.strike_node(InsufficientCapacity, group=group, number=number)
    }
    assert hit == {("a", 2), ("b", 1), ("b", 2)}


def test_clear() -> None:
    faults = Faults()
    faults.add(Throttle(times=None))
    faults.clear()
    assert faults.strike_operation("DescribeCluster") is None


OPERATION_FAULTS = {
    "throttle": (Throttle, 400, "ThrottlingException", "Rate exceeded"),
    "server": (ServerError, 500, "InternalFailure", "internal error"),
    "conflict": (Conflict, 400, "ConflictException", "ListClusters is not possible while"),
    "denied": (AccessDenied, 400, "AccessDeniedException", "perform: sagemaker:ListClusters"),
}


@pytest.mark.parametrize("case", OPERATION_FAULTS.values(), ids=OPERATION_FAULTS)
def test_operation_fault(service: HyperPodService, post: Callable[..., Any], case: Any) -> None:
    fault, http, code, text = case
    service.faults.add(fault(operation="ListClusters", times=2))
    assert post("DescribeCluster", {"ClusterName": "ml"})[1]["__type"] == "ResourceNotFound"
    for _ in range(2):
        answered, answer = post("ListClusters", {})
        assert (answered, answer["__type"]) == (http, code)
        assert text in answer["message"]
    assert post("ListClusters", {})[0] == 200


def test_every_operation_also_tags(service: HyperPodService, sagemaker: Any, refused: Refused) -> None:
    service.faults.add(Throttle(times=2, message="slow down"))
    assert refused(sagemaker.list_clusters) == ("ThrottlingException", "slow down")
    arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/000000000000"
    assert refused(sagemaker.list_tags, ResourceArn=arn)[0] == "ThrottlingException"
    assert refused(sagemaker.list_tags, ResourceArn=arn)[0] == "ResourceNotFound"


def test_client_retries_what_passes(account: Account, service: HyperPodService) -> None:
    service.faults.add(ServerError(operation="ListClusters", times=1))
    patient = boto3.client("sagemaker", region_name="us-west-2")
    assert patient.list_clusters()["ClusterSummaries"] == []


def test_lost_answer(account: Account, service: HyperPodService, sagemaker: Any, refused: Refused) -> None:
    service.faults.add(ServerError(operation="CreateCluster", answer_lost=True))
    assert refused(sagemaker.create_cluster, **account.cluster())[0] == "InternalFailure"
    assert refused(sagemaker.create_cluster, **account.cluster())[0] == "ResourceInUse"
    assert status(sagemaker) == "Creating"


def test_answer_of_a_refused_request_is_not_lost(
    service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    service.faults.add(Throttle(operation="DeleteCluster", answer_lost=True))
    assert refused(sagemaker.delete_cluster, ClusterName="no")[0] == "ResourceNotFound"
    assert len(service.faults.active()) == 1


def test_not_yet_visible(
    account: Account, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    service.faults.add(NotYetVisible(operation="DescribeCluster", times=2))
    sagemaker.create_cluster(**account.cluster())
    for _ in range(2):
        assert refused(sagemaker.describe_cluster, ClusterName="ml")[0] == "ResourceNotFound"
    assert status(sagemaker) == "Creating"


def test_role_propagates_late(
    account: Account, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    service.faults.add(RoleNotAssumable(times=2))
    for _ in range(2):
        code, message = refused(sagemaker.create_cluster, **account.cluster())
        assert (code, message.startswith("Could not assume role")) == ("ValidationException", True)
    sagemaker.create_cluster(**account.cluster())


def test_faults_add_up(account: Account, service: HyperPodService, sagemaker: Any, refused: Refused) -> None:
    service.faults.add(
        Throttle(operation="CreateCluster"),
        RoleNotAssumable(),
        LifecycleFailure(group="compute", nodes=frozenset({1}), times=1),
        InsufficientCapacity(group="login", times=1),
        UpdateRollsBack(),
    )
    request = account.cluster(continuous=True)
    assert refused(sagemaker.create_cluster, **request)[0] == "ThrottlingException"
    assert refused(sagemaker.create_cluster, **request)[0] == "ValidationException"
    sagemaker.create_cluster(**request)
    service.settle()
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("login", "Login")])
    service.settle()
    assert sagemaker.describe_cluster(ClusterName="ml")["FailureMessage"] == "Configuration drift detected."
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("login", "Login")])
    service.settle()
    assert status(sagemaker) == "InService"
    assert service.faults.active() == ()
