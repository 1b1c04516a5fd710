"""The reason that reaches the user (field reports 15, 16, 49)."""

import json
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from handler.clients import Aws
from handler.cluster.failure import explain
from handler.cluster.live import Live, find
from handler.reason import REASON_BYTES, Part, compose, shorten

from hyperpod_cdk.rehearsal.hyperpod import (
    AccessDenied,
    HyperPodService,
    InsufficientCapacity,
    LifecycleFailure,
    Throttle,
)
from hyperpod_cdk.rehearsal.hyperpod.state import ClusterStatus
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls, invocation
from tests.handler.samples import cluster, group

LINES = (
    "[INFO] mounting /fsx",
    "mount.lustre: mount fs-0123 at /fsx failed: Connection timed out",
    "[ERROR] step mount failed",
)


def size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode())


@pytest.mark.parametrize("continuous", [False, True])
def test_15_a_lifecycle_failure_names_group_node_and_the_scripts_last_lines(
    stack: Stack, service: HyperPodService, continuous: bool
) -> None:
    service.faults.add(LifecycleFailure(group="controller", lines=LINES))
    response = stack.create(cluster(continuous=continuous))
    assert not response.ok
    assert response.reason.startswith("Error: Create of cluster ml failed: its status is Failed\n")
    assert "last lines of LifecycleConfig/controller/i-" in response.reason
    assert "\n".join(LINES) in response.reason
    assert "log group /aws/sagemaker/Clusters/ml/" in response.reason
    assert "#logsV2:log-groups/log-group/$252Faws$252Fsagemaker$252FClusters$252Fml$252F" in response.reason


def test_15_continuous_clusters_tell_their_last_error_events(stack: Stack, service: HyperPodService) -> None:
    service.faults.add(LifecycleFailure(group="controller", lines=LINES))
    reason = stack.create(cluster(continuous=True)).reason
    assert re.search(
        r"\nevent \d\d:\d\d:\d\d controller/i-\w+: Lifecycle scripts did not run successfully", reason
    )
    assert re.search(r"\nevent \d\d:\d\d:\d\d Cluster creation failed\.\n", reason), "of no group"
    assert reason.count("failed to provision with the following error") == 1, (
        "events do not repeat the message"
    )


def test_16_an_event_of_missing_capacity_is_told_once_and_word_for_word(
    stack: Stack, service: HyperPodService, aws: Aws
) -> None:
    """Behind hundreds of events of other nodes, and itself repeated every minute."""
    service.faults.add(InsufficientCapacity(group="gpu"))
    groups = [group("controller", "Controller"), group("gpu"), group("compute", count=120)]
    assert stack.create(cluster(*groups, continuous=True)).ok
    service.clock.advance(1800)
    service.catch_up()
    made = service.clusters["ml"]
    later = replace(made.events[0], time=service.clock.now() + timedelta(seconds=1))
    made.events.extend(replace(later, event_id=f"late-{number}") for number in range(250))
    live = find(aws, "ml")
    assert live is not None
    reason = explain(invocation(aws.clients), live, "headline")
    assert reason.count("\nevent ") == 1
    assert "gpu: Failed to launch an instance. We currently do not have sufficient capacity" in reason


def test_16_insufficient_capacity_is_told_word_for_word(stack: Stack, service: HyperPodService) -> None:
    service.faults.add(InsufficientCapacity(group="compute"))
    response = stack.create(cluster())
    assert not response.ok
    assert "We currently do not have sufficient capacity" in response.reason
    assert "what to do: another Availability Zone or instance type" in response.reason


def test_49_the_biggest_cluster_and_the_longest_logs_fit(stack: Stack, service: HyperPodService) -> None:
    groups = [group(f"compute-{number:03d}", InstanceType="ml.p5.48xlarge") for number in range(99)]
    long = tuple(f'{number}: "fünf" \\ \t' + "é" * 300 for number in range(100))
    service.faults.add(LifecycleFailure(lines=long))
    stack.logical_id = "L" * 255
    response = stack.create(cluster(group("controller", "Controller"), *groups, ClusterName="c" * 63))
    assert not response.ok
    assert "its status is Failed" in response.reason
    assert "LifecycleConfig/" in response.reason


def test_49_a_long_failure_message_leaves_room_for_the_log(aws: Aws, service: HyperPodService) -> None:
    service.faults.add(LifecycleFailure(group="controller", lines=LINES))
    aws.sagemaker.create_cluster(**cluster())
    service.settle()
    service.clusters["ml"].failure_message = "f" * 3000
    live = find(aws, "ml")
    assert live is not None
    reason = explain(invocation(aws.clients), live, "headline")
    assert size(reason) <= REASON_BYTES
    assert LINES[-1] in reason


def test_49_a_success_is_small_whatever_the_size(stack: Stack, service: HyperPodService) -> None:
    groups = [group(f"compute-{number:03d}", count=3) for number in range(99)]
    response = stack.create(cluster(group("controller", "Controller"), *groups, ClusterName="c" * 63))
    assert response.ok, response.reason
    assert size(json.dumps(response.data)) < 600


@pytest.mark.parametrize(
    "fault", [Throttle(times=None), AccessDenied(operation="ListClusterNodes", times=None)]
)
def test_what_can_not_be_found_out_hides_nothing_else(
    stack: Stack, service: HyperPodService, aws: Aws, fault: Any
) -> None:
    assert stack.create(cluster()).ok
    service.clusters["ml"].status = ClusterStatus.FAILED
    service.clusters["ml"].failure_message = "the controller was lost"
    live = find(aws, "ml")
    assert live is not None
    service.faults.add(fault)
    reason = explain(aws, live, "headline")
    assert reason.startswith("headline\nthe controller was lost\n")


def test_a_group_that_lacks_nodes_is_named(aws: Aws, service: HyperPodService) -> None:
    aws.sagemaker.create_cluster(**cluster(group("controller", "Controller"), group("gpu", count=4)))
    service.clock.advance(60)
    live = find(aws, "ml")
    assert live is not None
    reason = explain(invocation(aws.clients), live, "headline")
    assert "instance group gpu: Creating, 0 of 4 nodes" in reason


def test_an_answer_in_time_comes_before_a_full_reason(
    aws: Aws, service: HyperPodService, calls: Calls
) -> None:
    """A network that is silent takes minutes for each call, and CloudFormation's hour runs out."""
    aws.sagemaker.create_cluster(**cluster())
    live = find(aws, "ml")
    assert live is not None
    calls.clear()
    late = invocation(aws.clients)
    service.clock.advance(61)
    assert "log group /aws/sagemaker/Clusters/ml/" in explain(late, live, "headline")
    assert calls.names == []


@pytest.mark.parametrize(
    ("partition", "console"),
    [
        ("aws", "us-west-2.console.aws.amazon.com"),
        ("aws-us-gov", "us-west-2.console.amazonaws-us-gov.com"),
        ("aws-cn", "us-west-2.console.amazonaws.cn"),
        ("aws-iso", ""),
    ],
)
def test_the_link_is_of_the_partition(
    aws: Aws, monkeypatch: pytest.MonkeyPatch, partition: str, console: str
) -> None:
    monkeypatch.setattr(aws.sagemaker.meta, "_partition", partition)
    arn = f"arn:{partition}:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
    live = Live(description={"ClusterArn": arn, "ClusterName": "ml", "ClusterStatus": "Failed"})
    reason = explain(aws, live, "headline")
    assert "log group /aws/sagemaker/Clusters/ml/abcdefghijkl" in reason
    assert (f"https://{console}/cloudwatch" in reason) if console else ("https://" not in reason)


@pytest.mark.parametrize(
    ("text", "most", "keep_end", "expected"),
    [
        ("short", 10, False, "short"),
        ("0123456789", 10, False, "0123456789"),
        ("0123456789x", 10, False, "0123456…"),
        ("0123456789x", 10, True, "…456789x"),
        ('""""""', 8, False, '""…'),
        ("éééééé", 9, False, "ééé…"),
        ("first\nsecond\nthird", 18, True, "…\nsecond\nthird"),
        ("first\nsecond\nthird", 12, True, "…\nthird"),
        ("first\nsecond\nthird", 8, True, "…third"),
        ("anything", 2, False, ""),
    ],
)
def test_a_text_is_cut_to_bytes_as_json(text: str, most: int, keep_end: bool, expected: str) -> None:
    assert shorten(text, most, keep_end=keep_end) == expected


def test_parts_share_what_there_is() -> None:
    first, empty = Part(text="a" * 5000, most=2000), Part(text="", most=10)
    parts = [first, empty, Part(text="b" * 5000, most=5000, keep_end=True)]
    text = compose(parts)
    assert size(text) - 2 <= REASON_BYTES
    begin, end = text.split("\n")
    assert len(begin) < 2000
    assert begin.endswith("a…")
    assert end.startswith("…b")
