"""The attributes that a stack can read of the cluster."""

from collections.abc import Iterator
from typing import Any

from ..clients import Aws
from .live import Live
from .request import Desired


def attributes(aws: Aws, live: Live, desired: Desired) -> dict[str, str]:
    """Give the custom resource's Data: always the same keys, short whatever the cluster's size.

    ControllerSsmTarget is empty when no group is known to be the controller's, or it has no node yet.
    """
    return {
        "ClusterArn": live.arn,
        "ClusterName": live.name,
        "ClusterId": live.cluster_id,
        "LogGroupName": live.log_group,
        "ControllerSsmTarget": _controller_target(aws, live, desired),
    }


def nodes(aws: Aws, name: str, **filters: Any) -> Iterator[dict[str, Any]]:
    """Give a cluster's nodes, page by page.

    Args:
        aws: the way to AWS.
        name: the cluster's.
        filters: further arguments of ListClusterNodes.
    """
    page: dict[str, Any] = {}
    while True:
        answer = aws.sagemaker.list_cluster_nodes(ClusterName=name, MaxResults=100, **filters, **page)
        yield from answer["ClusterNodeSummaries"]
        if not answer.get("NextToken"):
            return
        page = {"NextToken": answer["NextToken"]}


def _controller_target(aws: Aws, live: Live, desired: Desired) -> str:
    group = desired.controller_group or _controller_group(live)
    if not group:
        return ""
    found = [
        node
        for node in nodes(aws, live.name, InstanceGroupNameContains=group)
        if node["InstanceGroupName"] == group and node.get("InstanceId")
    ]
    found.sort(key=lambda node: (node["InstanceStatus"]["Status"] != "Running", node["LaunchTime"]))
    return f"sagemaker-cluster:{live.cluster_id}_{group}-{found[0]['InstanceId']}" if found else ""


def _controller_group(live: Live) -> str:
    for group in live.description.get("InstanceGroups", ()):
        if group.get("SlurmConfig", {}).get("NodeType") == "Controller":
            return str(group["InstanceGroupName"])
    return ""
