"""Create: idempotent, resumed after a lost answer, and never over what is another's."""

from typing import Any

import pytest
from handler import index
from handler.clients import Aws

from hyperpod_cdk.rehearsal.hyperpod import (
    AccessDenied,
    Conflict,
    GovernanceFails,
    HyperPodService,
    NotYetListed,
    NotYetVisible,
    ServerError,
    Throttle,
)
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.quota.samples import TYPE, quota, quota_stack, there
from tests.handler.samples import Request, cluster, properties


def tags_of(service: HyperPodService) -> dict[str, str]:
    (one,) = there(service)
    return {tag["Key"]: tag["Value"] for tag in one.tags}


def test_it_is_marked_as_ours(team: Stack, request_: Request, service: HyperPodService) -> None:
    assert team.create(request_).ok
    tags = tags_of(service)
    assert tags["hyperpod-cdk:stack-id"] == team.stack_id
    assert tags["hyperpod-cdk:logical-id"] == "Quota"
    assert tags["hyperpod-cdk:create-request"].startswith("00000000-")
    assert tags["team"] == "v"


def test_the_calls_of_a_create(team: Stack, request_: Request, calls: Calls) -> None:
    assert team.create(request_).ok
    looked = ["ListComputeQuotas", "ListComputeQuotas", "CreateComputeQuota"]
    assert calls.names[:3] == looked
    assert set(calls.names[3:-1]) == {"DescribeComputeQuota"}
    assert calls.names[-1] == "ListTags"
    (sent,) = calls.sent("CreateComputeQuota")
    assert {name: value for name, value in sent.items() if name != "Tags"} == {
        name: value for name, value in request_.items() if name != "Tags"
    }, "numbers are numbers again"


@pytest.mark.parametrize("status", ["CreateFailed", "CreateRollbackFailed"])
def test_a_failure_is_no_success_and_brings_its_reason(
    team: Stack, request_: Request, service: HyperPodService, status: str
) -> None:
    """The best of the peers reports success for what has failed."""
    reason = "add-on amazon-sagemaker-hyperpod-taskgovernance is not active"
    service.faults.add(GovernanceFails(reason=reason, rolled_back="Rollback" not in status))
    response = team.create(request_)
    assert not response.ok
    assert f"Create of compute quota vision failed: its status is {status}: {reason}" in response.reason
    assert there(service) == [], "CloudFormation's Delete takes it away"


def test_a_reason_that_is_not_given_is_said_so(
    team: Stack, request_: Request, service: HyperPodService
) -> None:
    service.faults.add(GovernanceFails(reason=""))
    assert "the service gives no reason" in team.create(request_).reason


def test_the_longest_reason_fits(team: Stack, request_: Request, service: HyperPodService) -> None:
    service.faults.add(GovernanceFails(reason="é" * 1024))
    assert "ééé" in team.create(request_).reason


def test_delivered_twice_it_makes_one(
    team: Stack, request_: Request, service: HyperPodService, calls: Calls
) -> None:
    event = team.event("Create", properties(request_))
    delivery = team.framework.begin(event, invocations=2)
    assert calls.names.count("CreateComputeQuota") == 1
    assert delivery.event["Handover"]["Made"] == there(service)[0].id
    assert "UpdateComputeQuota" not in calls.names


def test_an_answer_that_is_lost_is_found_again(
    team: Stack, request_: Request, service: HyperPodService, calls: Calls
) -> None:
    service.faults.add(ServerError(operation="CreateComputeQuota", answer_lost=True))
    started = service.clock.elapsed()
    event = team.event("Create", properties(request_))
    delivery = team.framework.begin(event)
    assert service.clock.elapsed() - started < 10, "a conflict with our own quota is not waited for"
    assert team.framework.wait(delivery.event).ok
    assert len(there(service)) == 1
    assert calls.names.count("CreateComputeQuota") == 2


def test_a_quota_that_is_not_listed_yet_is_found_by_the_poller(
    team: Stack, request_: Request, service: HyperPodService
) -> None:
    lost = ServerError(operation="CreateComputeQuota", answer_lost=True, times=None)
    service.faults.add(lost, NotYetListed(times=8))
    response = team.create(request_)
    service.faults.clear()
    assert response.ok
    assert len(there(service)) == 1


def test_it_is_polled_by_its_id(team: Stack, request_: Request, service: HyperPodService) -> None:
    """A list may not show yet what was made a moment ago, and Describe neither."""
    service.faults.add(NotYetVisible(operation="DescribeComputeQuota", times=2))
    assert team.create(request_).ok


@pytest.mark.parametrize(
    "fault",
    [
        Throttle(operation="CreateComputeQuota"),
        AccessDenied(operation="CreateComputeQuota"),
        ServerError(operation="ListComputeQuotas"),
        Conflict(operation="CreateComputeQuota", times=3),
        Throttle(operation="DescribeComputeQuota"),
        ServerError(operation="ListTags"),
    ],
    ids=lambda fault: f"{type(fault).__name__}-{fault.operation}",
)
def test_what_passes_is_waited_for(
    team: Stack, request_: Request, service: HyperPodService, fault: Any
) -> None:
    service.faults.add(fault)
    assert team.create(request_).ok
    assert not service.faults.active()


def test_what_does_not_pass_is_told(team: Stack, request_: Request, service: HyperPodService) -> None:
    service.faults.add(AccessDenied(operation="CreateComputeQuota", times=None))
    response = team.create(request_)
    assert "not authorized to perform: sagemaker:CreateComputeQuota" in response.reason
    assert there(service) == []


def test_a_name_of_another_is_refused(
    team: Stack, request_: Request, service: HyperPodService, aws: Aws, calls: Calls
) -> None:
    aws.sagemaker.create_compute_quota(**request_)
    before = tags_of(service)
    calls.clear()
    response = team.create(request_)
    assert "Name: a compute quota vision exists in this cluster and is not this stack's" in response.reason
    assert "it has no tags of a stack's compute quota" in response.reason
    assert tags_of(service) == before
    assert calls.mutating == []


def test_a_team_of_another_is_refused(
    team: Stack, request_: Request, service: HyperPodService, aws: Aws, calls: Calls
) -> None:
    aws.sagemaker.create_compute_quota(**{**request_, "Name": "theirs"})
    calls.clear()
    response = team.create(request_)
    assert "TeamName: team vision has the quota theirs in this cluster" in response.reason
    assert calls.mutating == []
    assert [one.name for one in there(service)] == ["theirs"]


def test_a_team_of_another_stack_is_named(team: Stack, request_: Request) -> None:
    assert quota_stack(team, "Other").create({**request_, "Name": "theirs"}).ok
    assert "it is Other of stack ml" in team.create(request_).reason


def test_the_same_team_in_another_cluster_is_another(
    team: Stack, request_: Request, service: HyperPodService, aws: Aws
) -> None:
    other = {"ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"}
    aws.sagemaker.create_compute_quota(**request_)
    there(service)[0].cluster_arn = other["ClusterArn"]
    assert team.create(request_).ok


def test_what_a_failed_stack_left_is_taken_over(
    made: Stack, request_: Request, service: HyperPodService, calls: Calls
) -> None:
    changed = {**request_, "Description": "again", "Tags": []}
    assert made.framework.run(made.event("Create", properties(changed))).ok
    (one,) = there(service)
    assert (one.version, one.content["Description"]) == (2, "again")
    assert "team" not in tags_of(service)
    assert calls.names.count("CreateComputeQuota") == 0


@pytest.mark.parametrize("busy", [False, True])
def test_what_is_taken_over_keeps_nothing_that_is_not_asked_for(
    made: Stack, request_: Request, service: HyperPodService, busy: bool
) -> None:
    (one,) = there(service)
    more = {"Description": "old", "ComputeQuotaTarget": {"TeamName": "vision", "FairShareWeight": 9}}
    service.call("UpdateComputeQuota", {"ComputeQuotaId": one.id, "TargetVersion": 1, **more})
    service.clock.advance(0 if busy else 60)
    assert made.framework.run(made.event("Create", properties(request_))).ok
    assert (one.content["Description"], one.content["ComputeQuotaTarget"]["FairShareWeight"]) == ("", 0)


def test_what_was_never_made_is_not_taken_over(
    made: Stack, request_: Request, service: HyperPodService
) -> None:
    (one,) = there(service)
    one.status, one.failure_reason = "CreateFailed", "no add-on"  # type: ignore[assignment]
    response = made.framework.run(made.event("Create", properties(request_)))
    assert "was never made (CreateFailed: no add-on)" in response.reason


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"Name": None}, 'Missing required parameter in input: "Name"'),
        ({"Nam": "x"}, "Request.Nam: the SageMaker API knows no such member; did you mean Name?"),
        ({"ComputeQuotaTarget": {"TeamName": "a", "FairShareWeight": -1}}, "valid min value: 0"),
        ({"Tags": [{"Key": "hyperpod-cdk:stack-id", "Value": "x"}]}, "the name is kept"),
        (
            {"ComputeQuotaConfig": {"ComputeQuotaResources": [{"InstanceType": TYPE, "Count": "two"}]}},
            "ComputeQuotaResources[0].Count: must be a whole number, got: 'two'",
        ),
    ],
)
def test_wrong_properties_are_named_before_any_call(
    team: Stack, request_: Request, calls: Calls, changes: Request, text: str
) -> None:
    response = team.create({**request_, **changes})
    assert text in response.reason
    assert calls.names == []


def test_wrong_formats_and_properties_are_named(team: Stack, request_: Request) -> None:
    assert "Format: this handler reads 1" in team.create(request_, Format="9").reason
    assert "Wait: unknown property; allowed: Format, Request" in team.create(request_, Wait="x").reason


def test_a_create_that_was_given_up_is_found_by_the_delete(
    team: Stack, request_: Request, service: HyperPodService
) -> None:
    """CloudFormation makes an id up when a stack fails before a Create has answered."""
    index.on_event(team.event("Create", properties(request_)))
    event = team.event("Delete", properties(request_), physical_id="Quota-1ABCDEFGHIJKL")
    assert team.framework.run(event).ok
    assert there(service) == []


def test_a_slurm_cluster_has_no_teams(team: Stack, service: HyperPodService) -> None:
    arn = service.call("CreateCluster", cluster())["ClusterArn"]
    assert "Amazon EKS" in team.create(quota(arn)).reason
