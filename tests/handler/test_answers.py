"""Attributes and lists of many pages, from answers that are written out."""

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.stub import ANY, Stubber
from handler.clients import Aws
from handler.cluster.failure import explain
from handler.cluster.interfaces import lingers
from handler.cluster.live import Live
from handler.cluster.request import Desired
from handler.cluster.result import attributes
from handler.ownership import read_tags

from tests.handler.samples import Request

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
DESCRIPTION: Request = {
    "ClusterArn": ARN,
    "ClusterName": "ml",
    "ClusterStatus": "Failed",
    "InstanceGroups": [{"InstanceGroupName": "head", "SlurmConfig": {"NodeType": "Controller"}}],
}


def node(group: str, number: int, status: str = "Running", **further: Any) -> Request:
    return {
        "InstanceGroupName": group,
        "InstanceId": f"i-{number:017x}",
        "InstanceType": "ml.c5.large",
        "LaunchTime": datetime(2026, 11, 30, 12, number % 60, tzinfo=UTC),
        "InstanceStatus": {"Status": status, **further},
    }


def pages(stubber: Stubber, *lists: list[Request]) -> None:
    for number, found in enumerate(lists, 1):
        token = {"NextToken": str(number)} if number < len(lists) else {}
        stubber.add_response("list_cluster_nodes", {"ClusterNodeSummaries": found, **token})


@pytest.mark.parametrize(
    ("lists", "target"),
    [
        ([[node("head-2", 1)], [node("head", 2)]], f"sagemaker-cluster:abcdefghijkl_head-i-{2:017x}"),
        ([[node("head", 3, "Pending"), node("head", 4)]], f"sagemaker-cluster:abcdefghijkl_head-i-{4:017x}"),
        ([[node("head", 6), node("head", 5)]], f"sagemaker-cluster:abcdefghijkl_head-i-{5:017x}"),
        ([[]], ""),
    ],
    ids=["on the second page", "the one that runs", "the oldest", "none yet"],
)
def test_the_controller_is_found_by_its_groups_exact_name(
    aws: Aws, lists: list[list[Request]], target: str
) -> None:
    with Stubber(aws.sagemaker) as stubber:
        pages(stubber, *lists)
        data = attributes(aws, Live(description=DESCRIPTION), Desired(request={}))
        stubber.assert_no_pending_responses()
    assert data["ControllerSsmTarget"] == target


def test_a_legacy_cluster_is_told_which_group_is_the_controllers(aws: Aws) -> None:
    legacy = {**DESCRIPTION, "InstanceGroups": [{"InstanceGroupName": "head"}]}
    with Stubber(aws.sagemaker) as stubber:
        pages(stubber, [node("head", 1)])
        data = attributes(aws, Live(description=legacy), Desired(request={}, controller_group="head"))
    assert data["ControllerSsmTarget"].endswith(f"_head-i-{1:017x}")


def test_a_cluster_without_controller_has_every_attribute_all_the_same(aws: Aws) -> None:
    eks = {**DESCRIPTION, "InstanceGroups": [{"InstanceGroupName": "gpu"}]}
    with Stubber(aws.sagemaker):
        data = attributes(aws, Live(description=eks), Desired(request={}))
    assert data["ControllerSsmTarget"] == ""
    assert data["ClusterId"] == "abcdefghijkl"


def test_tags_of_every_page_count(aws: Aws) -> None:
    with Stubber(aws.sagemaker) as stubber:
        stubber.add_response("list_tags", {"Tags": [{"Key": "a", "Value": "1"}], "NextToken": "2"})
        stubber.add_response(
            "list_tags", {"Tags": [{"Key": "b", "Value": "2"}]}, {"ResourceArn": ARN, "NextToken": "2"}
        )
        assert read_tags(aws, ARN) == {"a": "1", "b": "2"}


def test_interfaces_of_every_page_count(aws: Aws) -> None:
    with Stubber(aws.ec2) as stubber:
        stubber.add_response("describe_network_interfaces", {"NetworkInterfaces": [], "NextToken": "2"})
        interface = {"Description": "x", "TagSet": [{"Key": "cluster", "Value": ARN}]}
        stubber.add_response("describe_network_interfaces", {"NetworkInterfaces": [interface]})
        assert lingers(aws, security_groups=["sg-1"], names=[ARN], waited=0)


def test_39_throttled_interfaces_are_looked_for_again(aws: Aws) -> None:
    with Stubber(aws.ec2) as stubber:
        stubber.add_client_error("describe_network_interfaces", "RequestLimitExceeded")
        with pytest.raises(aws.ec2.exceptions.ClientError):
            lingers(aws, security_groups=["sg-1"], names=[ARN], waited=0)


def test_15_the_failed_node_is_named_and_its_log_shown(aws: Aws) -> None:
    failed = node("gpu", 7, "Failure", Message="GPU 3 fell off the bus")
    event = {"timestamp": 1, "message": "Xid 79\n", "ingestionTime": 1}
    with Stubber(aws.sagemaker) as sagemaker, Stubber(aws.logs) as logs:
        pages(sagemaker, [node("gpu", 6)], [failed])
        logs.add_response(
            "get_log_events",
            {"events": [event]},
            {
                "logGroupName": "/aws/sagemaker/Clusters/ml/abcdefghijkl",
                "logStreamName": f"LifecycleConfig/gpu/i-{7:017x}",
                "limit": ANY,
                "startFromHead": False,
            },
        )
        reason = explain(aws, Live(description=DESCRIPTION), "headline")
    assert f"node i-{7:017x} of instance group gpu: Failure: GPU 3 fell off the bus" in reason
    assert reason.endswith(f"last lines of LifecycleConfig/gpu/i-{7:017x}:\nXid 79")


def test_15_the_log_that_tells_of_a_failure_is_looked_for_in_the_last_ones(aws: Aws) -> None:
    def events(text: str) -> Request:
        return {"events": [{"timestamp": 1, "message": text, "ingestionTime": 1}]}

    with Stubber(aws.sagemaker) as sagemaker, Stubber(aws.logs) as logs:
        pages(sagemaker, [])
        streams = [{"logStreamName": f"LifecycleConfig/gpu/i-{n}", "lastEventTimestamp": n} for n in range(3)]
        logs.add_response("describe_log_streams", {"logStreams": streams[:2], "nextToken": "2"})
        logs.add_response("describe_log_streams", {"logStreams": streams[2:]})
        logs.add_response("get_log_events", events("all well"))
        logs.add_response("get_log_events", events("mount failed"))
        reason = explain(aws, Live(description=DESCRIPTION), "headline")
        logs.assert_no_pending_responses()
    assert reason.endswith("last lines of LifecycleConfig/gpu/i-1:\nmount failed")
