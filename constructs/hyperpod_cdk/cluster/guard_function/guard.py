"""Looks at a group each time that one of its nodes failed to start, and stops the group when too many did.

Runs in Lambda. Sources: DG sagemaker-hyperpod-cluster-events-reference.html (the event), DG
sagemaker-hyperpod-scaling-slurm.html (failed scripts are tried again and billed, failed launches are not).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import botocore.session

SOURCE = "hyperpod-cdk"
DETAIL_TYPE = "HyperPod Bootstrap Guard"
LAST_LINES = 20
# A launch that fails for want of capacity costs nothing, and ends by itself.
CAPACITY = ("insufficient capacity", "insufficientinstancecapacity")
MOST_EVENTS = 1000
# What DescribeCluster calls otherwise than UpdateCluster does, by shape and member; a test holds it to the
# handler's own table. A group's count and software are apart.
LIVE_NAMES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("ClusterInstanceRequirements", "InstanceTypes"): ("DesiredInstanceTypes", "CurrentInstanceTypes"),
    ("ClusterKubernetesConfig", "Labels"): ("DesiredLabels", "CurrentLabels"),
    ("ClusterKubernetesConfig", "Taints"): ("DesiredTaints", "CurrentTaints"),
    ("ClusterAutoPatchConfig", "PatchSchedule"): ("DesiredPatchSchedule", "CurrentPatchSchedule"),
}
SOFTWARE = {"ImageId": "CurrentImageId", "ImageReleaseVersion": "CurrentImageReleaseVersion"}


def handle(event: Mapping[str, Any], _context: Any = None) -> dict[str, Any]:
    """Judge the group of a failed node.

    Args:
        event: "SageMaker HyperPod Cluster Event" of EventBridge.

    Returns:
        What was found and done, which is logged too.
    """
    found = event.get("detail", {}).get("EventDetails", {})
    group = found.get("InstanceGroupName", "")
    guard = Guard(os.environ["CLUSTER_NAME"])
    result = guard.judge(group) if group else {"Action": "none", "Reason": "the event names no group"}
    print(json.dumps({"InstanceGroupName": group, **result}, default=str))
    return result


class Guard:
    """Looks at one cluster.

    Args:
        cluster_name: whose groups it may stop.
    """

    def __init__(self, cluster_name: str) -> None:
        session = botocore.session.get_session()
        self._name = cluster_name
        self._sagemaker = session.create_client("sagemaker")
        self._logs = session.create_client("logs")
        self._events = session.create_client("events")
        self._members = session.get_service_model("sagemaker").shape_for("ClusterInstanceGroupSpecification")
        self._software: Mapping[str, list[str]] = json.loads(os.environ.get("SOFTWARE", "{}"))
        self._limit = int(os.environ["MAX_FAILURES"])
        self._window = timedelta(minutes=int(os.environ["WINDOW_MINUTES"]))

    def judge(self, group: str) -> dict[str, Any]:
        """Stop a group if too many of its nodes failed, and more than came up."""
        failed = self._failed(group)
        if len(failed) < self._limit:
            return {"Action": "none", "Reason": f"{len(failed)} failures, fewer than {self._limit}"}
        nodes = list(self._nodes(group))
        running = [node for node in nodes if node["InstanceStatus"]["Status"] == "Running"]
        since = datetime.now(UTC) - self._window
        new = [node for node in running if node["LaunchTime"] >= since]
        if len(new) >= len(failed):
            return {"Action": "none", "Reason": f"{len(failed)} failures, but {len(new)} nodes came up"}
        cluster = self._sagemaker.describe_cluster(ClusterName=self._name)
        ordinary = {one["InstanceGroupName"]: one for one in cluster.get("InstanceGroups", [])}
        details = ordinary.get(group)
        if details is None:
            return {"Action": "none", "Reason": "the group runs no scripts, or is gone"}
        return self._stop(cluster["ClusterArn"], details, len(running), failed)

    def _stop(
        self, cluster_arn: str, details: Mapping[str, Any], count: int, failed: Mapping[str, str]
    ) -> dict[str, Any]:
        group = details["InstanceGroupName"]
        if details.get("TargetCount", 0) <= count:
            return {"Action": "none", "Reason": f"the group's target is {count} nodes already"}
        report: dict[str, Any] = {
            "ClusterName": self._name,
            "InstanceGroupName": group,
            "Failures": dict(failed),
            "TargetCount": details.get("TargetCount"),
            "NewTargetCount": count,
            "LastLines": self._last_lines(cluster_arn, group, next(iter(failed))),
        }
        if details.get("SlurmConfig", {}).get("NodeType") == "Controller":
            # a cluster without its controller is none: people decide
            report |= {"Action": "told", "Reason": "a controller group is not stopped"}
        else:
            self._sagemaker.update_cluster(
                ClusterName=self._name, InstanceGroups=[self._specification(details, count)]
            )
            report |= {"Action": "stopped", "Reason": f"{len(failed)} nodes failed to start"}
        self._events.put_events(
            Entries=[
                {
                    "Source": SOURCE,
                    "DetailType": DETAIL_TYPE,
                    "Resources": [cluster_arn],
                    "Detail": json.dumps(report, default=str),
                }
            ]
        )
        return report

    def _specification(self, details: Mapping[str, Any], count: int) -> dict[str, Any]:
        """What UpdateCluster takes of what DescribeCluster gives: the group as it is, with another count."""
        found: dict[str, Any] = _only(details, self._members)
        found["InstanceCount"] = count
        if details.get("MinCount"):
            found["MinInstanceCount"] = min(details["MinCount"], count)
        # a group whose image was asked for keeps it; the service's own goes without saying
        for name in self._software.get(details["InstanceGroupName"], []):
            if details.get(SOFTWARE[name]):
                found[name] = details[SOFTWARE[name]]
        return found

    def _failed(self, group: str) -> dict[str, str]:
        """What is said of each node that failed within the window, newest first, by its instance id."""
        after = datetime.now(UTC) - self._window
        pages = self._pages(
            self._sagemaker.list_cluster_events,
            "Events",
            InstanceGroupName=group,
            ResourceType="Instance",
            EventTimeAfter=after,
            SortBy="EventTime",
            SortOrder="Descending",
        )
        failed: dict[str, str] = {}
        for number, event in enumerate(pages):
            if number >= MOST_EVENTS:
                break
            if event.get("EventLevel") != "Error" or not event.get("InstanceId"):
                continue
            text = event.get("Description", "")
            if not any(word in text.lower() for word in CAPACITY):
                failed.setdefault(event["InstanceId"], text)
        return failed

    def _nodes(self, group: str) -> Iterator[Mapping[str, Any]]:
        pages = self._pages(
            self._sagemaker.list_cluster_nodes, "ClusterNodeSummaries", InstanceGroupNameContains=group
        )
        return (node for node in pages if node["InstanceGroupName"] == group)

    def _pages(self, call: Any, member: str, **arguments: Any) -> Iterator[Mapping[str, Any]]:
        token: dict[str, str] = {}
        while True:
            page = call(ClusterName=self._name, MaxResults=100, **arguments, **token)
            yield from page.get(member, [])
            if not page.get("NextToken"):
                return
            token = {"NextToken": page["NextToken"]}

    def _last_lines(self, cluster_arn: str, group: str, instance: str) -> list[str]:
        """The end of the node's own log, where the scripts say what failed and what to do."""
        cluster_id = cluster_arn.rpartition("/")[2]
        try:
            page = self._logs.get_log_events(
                logGroupName=f"/aws/sagemaker/Clusters/{self._name}/{cluster_id}",
                logStreamName=f"LifecycleConfig/{group}/{instance}",
                startFromHead=False,
                limit=LAST_LINES,
            )
        except self._logs.exceptions.ResourceNotFoundException:
            return []
        return [event["message"].rstrip()[:400] for event in page["events"]]


def _only(value: Any, shape: Any) -> Any:
    """The part of a value that a shape of the API's model has."""
    if shape.type_name == "structure" and isinstance(value, dict):
        found = {
            name: _only(_pick(value, LIVE_NAMES.get((shape.name, name), (name,))), member)
            for name, member in shape.members.items()
        }
        return {name: one for name, one in found.items() if one is not None}
    if shape.type_name == "list" and isinstance(value, list):
        return [_only(item, shape.member) for item in value]
    return value


def _pick(value: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((value[name] for name in names if value.get(name) is not None), None)
