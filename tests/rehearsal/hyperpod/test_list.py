"""ListClusters, ListClusterNodes and DescribeClusterNode: filters, order, pages, unknown things."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from tests.rehearsal.hyperpod.samples import Account, nodes

Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]


@pytest.fixture
def three(account: Account, service: HyperPodService, sagemaker: Any) -> list[str]:
    """Make three clusters a minute apart, in this order."""
    names = ["beta", "alpha", "gamma"]
    for name in names:
        sagemaker.create_cluster(**account.cluster(ClusterName=name))
        service.clock.advance(60)
    return names


def listed(sagemaker: Any, **request: Any) -> list[str]:
    return [entry["ClusterName"] for entry in sagemaker.list_clusters(**request)["ClusterSummaries"]]


ORDERS = {
    "default": ({}, ["beta", "alpha", "gamma"]),
    "newest first": ({"SortOrder": "Descending"}, ["gamma", "alpha", "beta"]),
    "creation": ({"SortBy": "CREATION_TIME", "SortOrder": "Ascending"}, ["beta", "alpha", "gamma"]),
    "name": ({"SortBy": "NAME"}, ["alpha", "beta", "gamma"]),
    "name backwards": ({"SortBy": "NAME", "SortOrder": "Descending"}, ["gamma", "beta", "alpha"]),
    "part of the name": ({"NameContains": "a", "SortBy": "NAME"}, ["alpha", "beta", "gamma"]),
    "other part": ({"NameContains": "et"}, ["beta"]),
    "no such name": ({"NameContains": "delta"}, []),
}


@pytest.mark.parametrize(("request_", "expected"), ORDERS.values(), ids=ORDERS)
def test_order_and_names(sagemaker: Any, three: Any, request_: Any, expected: list[str]) -> None:
    assert listed(sagemaker, **request_) == expected


def test_creation_times(sagemaker: Any, three: Any) -> None:
    alpha = sagemaker.describe_cluster(ClusterName="alpha")["CreationTime"]
    assert listed(sagemaker, CreationTimeAfter=alpha) == ["gamma"]
    assert listed(sagemaker, CreationTimeBefore=alpha) == ["beta"]
    second = timedelta(seconds=1)
    both = {"CreationTimeAfter": alpha - second, "CreationTimeBefore": alpha + second}
    assert listed(sagemaker, **both) == ["alpha"]


def test_training_plan(account: Account, sagemaker: Any, three: Any) -> None:
    plan = "arn:aws:sagemaker:us-west-2:123456789012:training-plan/big"
    planned = account.group("compute", TrainingPlanArn=plan)
    sagemaker.create_cluster(
        **account.cluster(account.group("controller", "Controller"), planned, ClusterName="planned")
    )
    assert listed(sagemaker, TrainingPlanArn=plan) == ["planned"]


def test_pages(sagemaker: Any, three: list[str]) -> None:
    pages = sagemaker.get_paginator("list_clusters").paginate(PaginationConfig={"PageSize": 2})
    sizes = [[entry["ClusterName"] for entry in page["ClusterSummaries"]] for page in pages]
    assert sizes == [three[:2], three[2:]]
    assert "NextToken" not in sagemaker.list_clusters(MaxResults=3)


@pytest.mark.parametrize("token", ["x", "eA==", "c3RhcnQ9eA=="])
def test_foreign_token(sagemaker: Any, refused: Refused, token: str) -> None:
    assert refused(sagemaker.list_clusters, NextToken=token) == ("ValidationException", "Invalid NextToken.")


def test_nodes_by_group_order_and_page(in_service: Create, sagemaker: Any) -> None:
    in_service()
    names = [node["InstanceGroupName"] for node in nodes(sagemaker, SortBy="NAME")]
    assert names == ["compute", "compute", "controller"]
    assert len(nodes(sagemaker, InstanceGroupNameContains="comp")) == 2
    assert nodes(sagemaker, InstanceGroupNameContains="x") == []
    first = sagemaker.list_cluster_nodes(ClusterName="ml", MaxResults=2)
    rest = sagemaker.list_cluster_nodes(ClusterName="ml", NextToken=first["NextToken"])
    ids = [node["InstanceId"] for page in (first, rest) for node in page["ClusterNodeSummaries"]]
    assert ids == [node["InstanceId"] for node in nodes(sagemaker)]


def test_nodes_by_launch_time(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any
) -> None:
    in_service()
    then = service.clock.now()
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("compute", count=3)])
    service.clock.advance(900)
    assert len(nodes(sagemaker, CreationTimeAfter=then)) == 1
    assert len(nodes(sagemaker, CreationTimeBefore=then)) == 3


def test_node_by_either_id(in_service: Create, sagemaker: Any, refused: Refused) -> None:
    in_service()
    assert "NodeLogicalId" not in nodes(sagemaker)[0]
    node = nodes(sagemaker, IncludeNodeLogicalIds=True)[0]
    describe = sagemaker.describe_cluster_node
    by_instance = describe(ClusterName="ml", NodeId=node["InstanceId"])["NodeDetails"]
    assert by_instance["NodeLogicalId"] == node["NodeLogicalId"]
    assert by_instance == describe(ClusterName="ml", NodeLogicalId=node["NodeLogicalId"])["NodeDetails"]
    code, message = refused(describe, ClusterName="ml")
    assert (code, "Exactly one of" in message) == ("ValidationException", True)


def test_unknown(in_service: Create, sagemaker: Any, refused: Refused) -> None:
    in_service()
    unknown = "i-00000000000000000"
    assert refused(sagemaker.describe_cluster_node, ClusterName="ml", NodeId=unknown) == (
        "ResourceNotFound",
        f"Could not find node '{unknown}' in cluster 'ml'.",
    )
    for operation in (sagemaker.describe_cluster, sagemaker.list_cluster_nodes):
        assert refused(operation, ClusterName="no") == (
            "ResourceNotFound",
            "Could not find cluster 'no'.",
        )


def test_cluster_of_another_account_or_region(in_service: Create, sagemaker: Any, refused: Refused) -> None:
    arn = in_service()["ClusterArn"]
    for foreign in (arn.replace("us-west-2", "us-east-1"), arn.replace("123456789012", "111122223333")):
        assert refused(sagemaker.describe_cluster, ClusterName=foreign)[0] == "ResourceNotFound"
