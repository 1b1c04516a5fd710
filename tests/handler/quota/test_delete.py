"""Delete: only ours, as often as it takes, and success for what is gone."""

from typing import Any

import pytest
from handler import index
from handler.clients import Aws

from hyperpod_cdk.rehearsal.hyperpod import (
    Conflict,
    GovernanceFails,
    HyperPodService,
    NotYetListed,
    NotYetVisible,
    ServerError,
    Throttle,
)
from hyperpod_cdk.rehearsal.hyperpod.governance import Governed
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.quota.samples import physical_id, there
from tests.handler.samples import Request, properties


@pytest.fixture
def live(made: Stack, service: HyperPodService) -> Governed:
    (one,) = there(service)
    return one


def test_it_is_gone_when_it_is_done(made: Stack, service: HyperPodService, calls: Calls) -> None:
    assert made.delete().ok
    assert there(service) == []
    assert calls.names.count("DeleteComputeQuota") == 1


def test_another_s_is_not_touched(made: Stack, request_: Request, live: Governed, calls: Calls) -> None:
    live.tags = [{"Key": "hyperpod-cdk:stack-id", "Value": "arn:aws:cloudformation:x:y:stack/other/1"}]
    assert made.delete().ok
    assert calls.mutating == []
    assert live.is_there


@pytest.mark.parametrize("key", ["hyperpod-cdk:stack-id", "hyperpod-cdk:logical-id"])
def test_what_lost_a_tag_of_ours_is_not_left_behind_in_silence(made: Stack, live: Governed, key: str) -> None:
    live.tags = [tag for tag in live.tags if tag["Key"] != key]
    response = made.delete()
    assert f"its tag {key} was taken away" in response.reason


def test_a_cluster_that_is_gone_took_its_quotas_along(made: Stack, service: HyperPodService) -> None:
    service.call("DeleteCluster", {"ClusterName": "k8s"})
    service.clock.advance(3600)
    service.catch_up()
    assert made.delete().ok


def test_a_busy_quota_is_asked_again(made: Stack, live: Governed, service: HyperPodService) -> None:
    service.call("UpdateComputeQuota", {"ComputeQuotaId": live.id, "TargetVersion": 1, "Description": "x"})
    assert made.delete().ok
    assert there(service) == []


@pytest.mark.parametrize("times", [1, 5])
def test_a_deletion_that_fails_is_asked_again(made: Stack, service: HyperPodService, times: int) -> None:
    service.faults.add(GovernanceFails(operation="DeleteComputeQuota", times=times))
    assert made.delete().ok
    assert there(service) == []


@pytest.mark.parametrize("status", ["DeleteFailed", "DeleteRollbackFailed"])
def test_one_that_fails_for_good_is_no_success(made: Stack, service: HyperPodService, status: str) -> None:
    fault = GovernanceFails(reason="namespace is stuck", rolled_back="Rollback" not in status, times=None)
    service.faults.add(fault)
    response = made.delete()
    assert f"vision can not be deleted: its status is {status}: namespace is stuck" in response.reason
    service.faults.clear()
    assert made.delete().ok


@pytest.mark.parametrize(
    "fault",
    [
        Throttle(operation="DeleteComputeQuota"),
        ServerError(operation="DeleteComputeQuota", answer_lost=True),
        Conflict(operation="DeleteComputeQuota", times=3),
        ServerError(operation="ListComputeQuotas"),
        ServerError(operation="ListTags", times=2),
    ],
    ids=lambda fault: f"{type(fault).__name__}-{fault.operation}",
)
def test_what_passes_is_waited_for(made: Stack, service: HyperPodService, fault: Conflict) -> None:
    service.faults.add(fault)
    assert made.delete().ok
    assert there(service) == []


@pytest.mark.parametrize("found", ["gone", "Deleting"])
def test_tags_that_went_before_their_quota_do_not_fail_the_deletion(
    made: Stack,
    service: HyperPodService,
    aws: Aws,
    monkeypatch: pytest.MonkeyPatch,
    found: str,
) -> None:
    """It goes between Describe and ListTags, which calls what is gone an invalid request."""
    event = made.event("Delete", made.current, physical_id=made.physical_id)
    event |= index.on_event(event)

    def invalid(**arguments: Any) -> None:
        if found == "gone":
            service.governed.clear()
        error = {"Error": {"Code": "ValidationException", "Message": "Invalid resource"}}
        raise aws.sagemaker.exceptions.ClientError(error, "ListTags")

    monkeypatch.setattr(aws.sagemaker, "list_tags", invalid)
    assert index.is_complete(event) == {"IsComplete": found == "gone"}


def test_a_late_poll_spares_a_later_quota_of_the_name(
    made: Stack, request_: Request, service: HyperPodService
) -> None:
    event = made.event("Delete", properties(request_), physical_id=physical_id(request_))
    delivery = made.framework.begin(event)
    service.clock.advance(60)
    assert made.create(request_).ok
    assert made.framework.wait(delivery.event).ok
    (one,) = there(service)
    assert one.status == "Created"


def test_a_quota_that_is_not_listed_at_once_is_found(made: Stack, service: HyperPodService) -> None:
    service.faults.add(NotYetListed())
    assert made.delete().ok
    assert there(service) == []


def test_a_quota_that_describe_does_not_know_yet_is_not_gone(
    team: Stack, request_: Request, service: HyperPodService
) -> None:
    """Made, failed and deleted within seconds."""
    service.faults.add(
        GovernanceFails(operation="CreateComputeQuota"), GovernanceFails(operation="DeleteComputeQuota")
    )

    def hide(_: int) -> None:
        if any(one.status in ("Deleting", "DeleteFailed") for one in there(service)) and not hidden:
            hidden.append(NotYetVisible(operation="DescribeComputeQuota"))
            service.faults.add(*hidden)

    hidden: list[NotYetVisible] = []
    team.framework.before_poll = hide
    assert not team.create(request_).ok
    assert hidden
    assert there(service) == []
    assert team.abandoned == []


def test_an_id_that_is_none_of_ours_asks_for_nothing(team: Stack, calls: Calls) -> None:
    event = team.event("Delete", {"Request": {}}, physical_id="Quota-1ABCDEFGHIJKL")
    assert team.framework.run(event).ok
    assert calls.names == []


def test_properties_of_another_release_are_read_as_far_as_they_go(
    made: Stack, request_: Request, service: HyperPodService
) -> None:
    names = {"Name": request_["Name"], "ClusterArn": request_["ClusterArn"]}
    odd = {"Format": "1", "Request": {**names, "ComputeQuotaConfig": "from the future"}}
    assert made.framework.run(made.event("Delete", odd, physical_id="made-up")).ok
    assert there(service) == []
