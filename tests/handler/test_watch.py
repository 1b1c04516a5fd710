"""What a Create or Update waits for, also beyond CloudFormation's hour (field report 43)."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from handler.clients import Aws, Clients
from handler.cluster.request import Desired
from handler.cluster.watch import HAND_OVER_SECONDS, look, minimum_counts

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, InsufficientCapacity, LifecycleFailure
from tests.handler.cloudformation import Framework, Stack
from tests.handler.conftest import Calls
from tests.handler.samples import cluster, group, regroup

HANDLE = "https://cloudformation-waitcondition.example/handle?X-Amz-Signature=secret"
WATCH = {
    "StateMachine": "arn:aws:states:us-west-2:123456789012:stateMachine:w",
    "Handle": HANDLE,
    "Seconds": 4 * 3600,
}
CONTROLLER = group("controller", "Controller")
PARTIAL = cluster(CONTROLLER, group("compute", count=4, MinInstanceCount=3), continuous=True)


class AlreadyStartedError(Exception):
    """The execution exists."""


class States:
    """Stands in for Step Functions: starts nothing, notes what it was asked for."""

    def __init__(self) -> None:
        self.started: dict[str, dict[str, Any]] = {}
        self.exceptions = SimpleNamespace(ExecutionAlreadyExists=AlreadyStartedError)
        self.errors: list[Exception] = []

    def start_execution(self, **request: str) -> None:
        if self.errors:
            raise self.errors.pop()
        assert request["stateMachineArn"] == WATCH["StateMachine"]
        if request["name"] in self.started:
            raise AlreadyStartedError
        self.started[request["name"]] = json.loads(request["input"])


@pytest.fixture
def states(clients: Clients, monkeypatch: pytest.MonkeyPatch) -> States:
    made = States()
    monkeypatch.setitem(clients.__dict__, "states", made)
    return made


def seen(aws: Aws, watched: dict[str, Any]) -> list[dict[str, str]]:
    """One look of the state machine: what the condition was told."""
    told: list[dict[str, str]] = []
    now = replace(aws, started=aws.now())
    answer = look(watched, now, put=lambda address, signal: told.append({"address": address, **signal}))
    assert answer == {"Done": bool(told)}
    return told


def test_accepted_is_done_while_the_cluster_is_being_made(stack: Stack, service: HyperPodService) -> None:
    response = stack.create(cluster(), Wait="Accepted")
    assert response.ok
    assert response.polls == 1
    assert service.clusters["ml"].status == "Creating"
    assert response.data["ClusterId"] == service.clusters["ml"].cluster_id


def test_accepted_still_sends_what_has_to_wait(
    stack: Stack, service: HyperPodService, framework: Framework
) -> None:
    """An update that is accepted has been sent: one that waits for its turn is not."""
    assert stack.create(cluster(), Wait="Accepted").ok
    larger = regroup(cluster(), "compute", InstanceCount=3)
    assert stack.update(larger, Wait="Accepted").ok
    framework.advance(3600)
    assert len(service.clusters["ml"].nodes_of("compute")) == 3


def test_in_service_is_the_default(stack: Stack, service: HyperPodService) -> None:
    assert stack.create(cluster()).polls > 1
    assert service.clusters["ml"].status == "InService"


def test_an_unknown_wait_is_refused_before_any_call(stack: Stack, calls: Calls) -> None:
    response = stack.create(cluster(), Wait="Forever")
    assert "Wait: allowed: Accepted, InService, MinimumCounts, got: 'Forever'" in response.reason
    assert calls.mutating == []


def test_minimum_counts_are_watched_from_in_service_on(stack: Stack, states: States, aws: Aws) -> None:
    assert stack.create(PARTIAL, Wait="MinimumCounts", Watch=WATCH).ok
    (watched,) = states.started.values()
    assert 3.9 * 3600 < watched.pop("Until") - aws.now() < 4 * 3600 - 240, "before the condition's own end"
    assert watched == {"ClusterName": "ml", "Minimum": {"controller": 1, "compute": 3}, "Handle": HANDLE}


def test_a_cluster_that_takes_too_long_is_left_to_the_watch(
    stack: Stack, states: States, service: HyperPodService
) -> None:
    """All at once and never enough capacity in time: no failure at 55 minutes, but a watch for 12 hours."""
    service.durations = replace(service.durations, launch=7200)
    response = stack.create(cluster(), Wait="MinimumCounts", Watch=WATCH)
    assert response.ok, response.reason
    assert response.polls * 60 > HAND_OVER_SECONDS
    (watched,) = states.started.values()
    assert watched["Minimum"] == {"controller": 1, "compute": 2}


def test_the_same_condition_is_watched_once(stack: Stack, states: States) -> None:
    """Duplicate deliveries, and the rollback to a condition that was watched before."""
    assert stack.create(PARTIAL, Wait="MinimumCounts", Watch=WATCH).ok
    assert stack.update(PARTIAL, Wait="MinimumCounts", Watch=WATCH).ok
    assert len(states.started) == 1


def test_60_a_watch_that_can_not_be_started_now_is_started_by_the_next_poll(
    stack: Stack, states: States, aws: Aws
) -> None:
    """The cluster is there: a throttled Step Functions is no reason to fail, and to roll it back."""
    throttled = {"Error": {"Code": "ThrottlingException", "Message": "Rate exceeded"}}
    states.errors = [
        aws.sagemaker.exceptions.ClientError(throttled, "StartExecution"),
        ReadTimeoutError(endpoint_url="https://states"),
    ]
    response = stack.create(PARTIAL, Wait="MinimumCounts", Watch=WATCH)
    assert response.ok, response.reason
    assert len(states.started) == 1


def test_a_watch_that_may_not_be_started_fails(stack: Stack, states: States, aws: Aws) -> None:
    denied = {"Error": {"Code": "AccessDeniedException", "Message": "states:StartExecution"}}
    states.errors = [aws.sagemaker.exceptions.ClientError(denied, "StartExecution")] * 99
    response = stack.create(PARTIAL, Wait="MinimumCounts", Watch=WATCH)
    assert "states:StartExecution" in response.reason
    assert states.started == {}


@pytest.mark.parametrize(
    ("members", "continuous", "expected"),
    [
        ({"MinInstanceCount": 3}, True, 3),
        ({"MinInstanceCount": 0}, True, 0),
        ({}, True, 0),
        ({}, False, 4),
    ],
)
def test_the_minimum_of_a_compute_group(members: dict[str, Any], continuous: bool, expected: int) -> None:
    request = cluster(CONTROLLER, group("compute", count=4, **members), continuous=continuous)
    assert minimum_counts(Desired(request=request)) == {"controller": 1, "compute": expected}


def test_the_condition_is_told_when_the_nodes_are_there(
    stack: Stack, states: States, aws: Aws, service: HyperPodService, framework: Framework
) -> None:
    service.faults.add(InsufficientCapacity(group="compute"))
    assert stack.create(PARTIAL, Wait="MinimumCounts", Watch=WATCH).ok
    (watched,) = states.started.values()
    assert seen(aws, watched) == []
    service.faults.clear()
    framework.advance(3600)
    (signal,) = seen(aws, watched)
    assert signal["address"] == HANDLE
    assert signal["Status"] == "SUCCESS"


def test_the_condition_is_told_why_the_cluster_failed(
    stack: Stack, states: States, aws: Aws, service: HyperPodService, framework: Framework
) -> None:
    service.durations = replace(service.durations, launch=7200)
    service.faults.add(LifecycleFailure(group="compute", lines=("no such disk",)))
    assert stack.create(cluster(), Wait="MinimumCounts", Watch=WATCH).ok
    framework.advance(4 * 3600)
    (watched,) = states.started.values()
    (signal,) = seen(aws, watched)
    assert signal["Status"] == "FAILURE"
    assert "no such disk" in signal["Reason"]
    assert len(json.dumps(signal)) < 4096


def test_the_condition_is_told_that_the_service_gave_up_on_nodes(
    stack: Stack, states: States, aws: Aws, service: HyperPodService, framework: Framework
) -> None:
    """After three hours the service sets a group that misses its minimum back, and is in service again."""
    service.faults.add(InsufficientCapacity(group="compute"))
    assert stack.create(PARTIAL, Wait="MinimumCounts", Watch=WATCH).ok
    (watched,) = states.started.values()
    assert seen(aws, watched) == [], "it is still tried"
    framework.advance(service.durations.min_count_timeout + 600)
    service.catch_up()
    assert service.clusters["ml"].status == "InService"
    (signal,) = seen(aws, watched)
    assert signal["Status"] == "FAILURE"
    assert signal["Reason"].startswith(
        "the service gave up on nodes, or somebody lowered the counts: compute 0 of 3\n"
    )
    assert "We currently do not have sufficient capacity" in signal["Reason"]


def test_the_condition_is_told_what_is_missing_before_its_time_runs_out(
    stack: Stack, states: States, aws: Aws, service: HyperPodService, framework: Framework
) -> None:
    """A condition that runs out of time by itself tells no reason."""
    service.durations = replace(service.durations, launch=8 * 3600)
    assert stack.create(cluster(), Wait="MinimumCounts", Watch=WATCH).ok
    (watched,) = states.started.values()
    framework.advance(watched["Until"] - aws.now() - 60)
    assert seen(aws, watched) == []
    framework.advance(61)
    (signal,) = seen(aws, watched)
    assert signal["Status"] == "FAILURE"
    assert signal["Reason"].startswith(
        "time ran out: cluster ml is Creating, and has of controller 0 of 1, compute 0 of 2\n"
    )


def test_the_condition_is_told_that_nothing_can_be_seen(aws: Aws, calls: Calls) -> None:
    """What the state machine hands over when its looks have failed for half an hour."""
    error = {"Error": "ClientError", "Cause": json.dumps({"errorMessage": "AccessDenied" * 1000})}
    watched = {"ClusterName": "ml", "Minimum": {}, "Handle": HANDLE, "Until": 0, "Error": error}
    (signal,) = seen(aws, watched)
    assert signal["Status"] == "FAILURE"
    assert "cluster ml can not be watched: ClientError: " in signal["Reason"]
    assert len(json.dumps(signal)) < 4096 + 2600, "Reason and Data, each as long as it may be"
    assert calls.names == []


def test_the_condition_is_told_when_the_cluster_is_gone(aws: Aws) -> None:
    (signal,) = seen(aws, {"ClusterName": "ml", "Minimum": {}, "Handle": HANDLE, "Until": 0})
    assert signal["Status"] == "FAILURE"
    assert "is gone" in signal["Reason"]


@pytest.mark.parametrize(("removal", "left"), [("Delete", []), ("Retain", ["logs"]), (None, ["logs"])])
def test_the_nodes_logs_go_only_when_asked(
    removal: str | None, left: list[str], stack: Stack, aws: Aws, service: HyperPodService
) -> None:
    further = {"LogGroupRemoval": removal} if removal else {}
    assert stack.create(cluster(), **further).ok
    name = f"/aws/sagemaker/Clusters/ml/{service.clusters['ml'].cluster_id}"
    assert aws.logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    assert stack.delete().ok
    found = aws.logs.describe_log_groups(logGroupNamePrefix=name)["logGroups"]
    assert ["logs" for _ in found] == left
