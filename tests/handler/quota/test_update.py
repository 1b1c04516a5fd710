"""Update: by TargetVersion, read again on a conflict, and by the poller when the quota is busy."""

from typing import Any

import pytest
from handler import index

from hyperpod_cdk.rehearsal.hyperpod import (
    AccessDenied,
    Conflict,
    Durations,
    GovernanceFails,
    HyperPodService,
    NotYetListed,
    Quotas,
    ServerError,
    Throttle,
)
from hyperpod_cdk.rehearsal.hyperpod.governance import Governed, GovernedStatus
from tests.handler.cloudformation import Stack
from tests.handler.conftest import SHORTCUT, Calls
from tests.handler.quota.samples import eks_cluster, physical_id, quota, there, with_count
from tests.handler.samples import Request, properties

NOTE = "hyperpod-cdk:pending-update"


@pytest.fixture
def live(made: Stack, service: HyperPodService) -> Governed:
    (one,) = there(service)
    return one


def count(one: Governed) -> int:
    return int(one.content["ComputeQuotaConfig"]["ComputeQuotaResources"][0]["Count"])


def tag_keys(one: Governed) -> set[str]:
    return {tag["Key"] for tag in one.tags}


def change(service: HyperPodService, one: Governed, **members: Any) -> None:
    """Somebody else's update."""
    request = {"ComputeQuotaId": one.id, "TargetVersion": one.version, **members}
    service.call("UpdateComputeQuota", request)
    service.clock.advance(30)
    service.catch_up()


def test_one_call_that_names_the_version(
    made: Stack, request_: Request, live: Governed, calls: Calls
) -> None:
    assert made.update(with_count(request_, 3)).ok
    (sent,) = calls.sent("UpdateComputeQuota")
    assert sent == {
        "ComputeQuotaId": live.id,
        "TargetVersion": 1,
        "ComputeQuotaConfig": with_count(request_, 3)["ComputeQuotaConfig"],
    }
    assert calls.mutating == ["UpdateComputeQuota"]
    assert (live.status, live.version, count(live)) == ("Updated", 2, 3)


def test_of_a_newer_version_too(
    made: Stack, request_: Request, live: Governed, service: HyperPodService
) -> None:
    change(service, live, Description="theirs")
    assert made.update(with_count(request_, 3)).ok
    assert (live.version, count(live), live.content["Description"]) == (3, 3, "theirs")


@pytest.mark.parametrize("times", [1, 4])
def test_a_change_in_between_is_read_again(
    made: Stack, request_: Request, live: Governed, service: HyperPodService, times: int
) -> None:
    left = [times]

    def meddle(operation: str, _: Request) -> None:
        if operation == "UpdateComputeQuota" and left[0]:
            left[0] -= 1
            change(service, live, Description=f"theirs {left[0]}")

    SHORTCUT.watch = meddle
    try:
        assert made.update(with_count(request_, 3)).ok
    finally:
        SHORTCUT.watch = lambda operation, request: None
    assert (live.version, count(live), live.content["Description"]) == (2 + times, 3, "theirs 0")


def test_who_changes_it_all_the_time_makes_no_endless_loop(
    made: Stack, request_: Request, live: Governed, service: HyperPodService, calls: Calls
) -> None:
    def meddle(operation: str, request: Request) -> None:
        if operation == "UpdateComputeQuota":
            change(service, live, Description=str(live.version))

    SHORTCUT.watch = meddle
    event = made.event("Update", properties(with_count(request_, 3)), properties(request_), made.physical_id)
    try:
        answer = index.on_event(event)
    finally:
        SHORTCUT.watch = lambda operation, request: None
    assert answer["Handover"]["Pending"]
    assert calls.names.count("UpdateComputeQuota") == 5


def test_an_answer_that_is_lost_is_no_second_update(
    made: Stack, request_: Request, live: Governed, service: HyperPodService
) -> None:
    service.faults.add(ServerError(operation="UpdateComputeQuota", answer_lost=True))
    assert made.update(with_count(request_, 3)).ok
    assert (live.version, count(live)) == (2, 3)
    assert NOTE not in tag_keys(live)


def test_a_busy_quota_is_updated_by_the_poller(
    made: Stack, request_: Request, live: Governed, service: HyperPodService
) -> None:
    service.call("UpdateComputeQuota", {"ComputeQuotaId": live.id, "TargetVersion": 1, "Description": "x"})
    assert made.update(with_count(request_, 3)).ok
    assert (live.version, count(live)) == (3, 3)
    assert NOTE not in tag_keys(live)


def test_a_conflict_that_has_no_visible_cause_is_left_to_the_poller(
    made: Stack, request_: Request, live: Governed, service: HyperPodService
) -> None:
    service.faults.add(Conflict(operation="UpdateComputeQuota", times=3))
    assert made.update(with_count(request_, 3)).ok
    assert count(live) == 3
    assert NOTE not in tag_keys(live)


@pytest.mark.parametrize("status", ["UpdateFailed", "UpdateRollbackFailed"])
def test_a_failure_is_no_success_and_is_rolled_back(
    made: Stack, request_: Request, live: Governed, service: HyperPodService, status: str
) -> None:
    fault = GovernanceFails(reason="quota exceeds capacity", rolled_back="Rollback" not in status)
    service.faults.add(fault)
    response = made.update(with_count(request_, 3))
    assert not response.ok
    assert (
        f"Update of compute quota vision failed: its status is {status}: quota exceeds capacity"
        in response.reason
    )
    assert made.last.ok, "CloudFormation goes back"
    assert (live.status, count(live)) == (GovernedStatus.UPDATED, 2)


def test_a_failure_of_an_update_that_waited_is_no_success(
    made: Stack, request_: Request, live: Governed, service: HyperPodService
) -> None:
    service.faults.add(GovernanceFails(reason="theirs"), GovernanceFails(reason="ours"))
    service.call("UpdateComputeQuota", {"ComputeQuotaId": live.id, "TargetVersion": 1, "Description": "x"})
    response = made.update(with_count(request_, 3))
    assert "UpdateFailed: ours" in response.reason
    assert NOTE not in tag_keys(live)


def test_what_failed_before_is_sent_again_though_nothing_differs(
    made: Stack, request_: Request, live: Governed, service: HyperPodService
) -> None:
    service.faults.add(GovernanceFails())
    change(service, live, Description="theirs")
    assert live.status == "UpdateFailed"
    assert made.update(request_).ok
    assert (live.status, live.version) == ("Updated", 3)


def test_what_the_service_did_not_keep_is_no_success(
    made: Stack, request_: Request, live: Governed, service: HyperPodService
) -> None:
    event = made.event("Update", properties(with_count(request_, 3)), properties(request_), made.physical_id)
    delivery = made.framework.begin(event)
    service.clock.advance(60)
    service.catch_up()
    change(service, live, ComputeQuotaConfig=with_count(request_, 7)["ComputeQuotaConfig"])
    response = made.framework.wait(delivery.event)
    assert "version 3 of it has another ComputeQuotaConfig" in response.reason


def test_a_description_of_an_older_version_is_not_believed(
    made: Stack, request_: Request, live: Governed, service: HyperPodService
) -> None:
    event = made.event("Update", properties(with_count(request_, 3)), properties(request_), made.physical_id)
    delivery = made.framework.begin(event)
    shown = {**vars(live)}
    live.version, live.status, live.content = 1, GovernedStatus.CREATED, live.history[1]
    made.framework.poll(delivery)
    assert delivery.response is None
    vars(live).update(shown)
    assert made.framework.wait(delivery.event).ok


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"Name": "second"}, "can not have two at once"),
        ({"ComputeQuotaTarget": {"TeamName": "audio"}}, "TeamName can not change from vision to audio"),
    ],
)
def test_what_is_fixed_is_refused_before_any_change(
    made: Stack, request_: Request, calls: Calls, changes: Request, text: str
) -> None:
    response = made.update({**request_, "Tags": [], **changes})
    assert text in response.reason
    assert calls.mutating == []


def test_another_cluster_makes_another_quota(
    made: Stack, request_: Request, service: HyperPodService
) -> None:
    other = eks_cluster(service, "other")
    response = made.update({**request_, "ClusterArn": other})
    assert response.ok
    assert response.physical_id == physical_id({**request_, "ClusterArn": other})
    assert [one.cluster_arn for one in there(service)] == [other]


def test_a_replacement_over_anothers_name_is_refused(
    made: Stack, cluster_arn: str, live: Governed, service: HyperPodService
) -> None:
    service.call("CreateComputeQuota", quota(cluster_arn, "audio"))
    response = made.update(quota(cluster_arn, "audio"))
    assert "is not this stack's" in response.reason
    assert made.last.ok
    assert {one.name for one in there(service)} == {"vision", "audio"}
    assert live.status == "Created"


def test_a_replacement_that_fails_leaves_nothing(
    made: Stack, cluster_arn: str, live: Governed, service: HyperPodService
) -> None:
    service.faults.add(GovernanceFails(operation="CreateComputeQuota", reason="no add-on"))
    response = made.update(quota(cluster_arn, "audio"))
    assert "CreateFailed: no add-on" in response.reason
    assert made.last.ok
    assert [one.name for one in there(service)] == ["vision"]
    assert made.physical_id.endswith("/vision")


def test_a_replacement_that_was_given_up_leaves_nothing(
    made: Stack, request_: Request, cluster_arn: str, service: HyperPodService
) -> None:
    """CloudFormation cancels it and never hears of the new id."""
    new = properties(quota(cluster_arn, "audio"))
    index.on_event(made.event("Update", new, made.current, made.physical_id))
    assert made.roll_back(new, made.physical_id).ok
    assert [one.name for one in there(service)] == ["vision"]


def test_a_replacement_that_is_not_listed_at_once_leaves_nothing(
    made: Stack, cluster_arn: str, service: HyperPodService
) -> None:
    new = properties(quota(cluster_arn, "audio"))
    index.on_event(made.event("Update", new, made.current, made.physical_id))
    service.faults.add(NotYetListed())
    assert made.roll_back(new, made.physical_id).ok
    assert [one.name for one in there(service)] == ["vision"]


def test_of_a_quota_of_another_is_refused(
    made: Stack, request_: Request, live: Governed, calls: Calls
) -> None:
    live.tags = []
    response = made.update(with_count(request_, 3))
    assert "is not this stack's any more: it has no tags of a stack's compute quota" in response.reason
    assert "UpdateComputeQuota" not in calls.names


def test_a_quota_that_changes_hands_in_between_is_no_success(
    made: Stack, request_: Request, live: Governed
) -> None:
    event = made.event("Update", properties(with_count(request_, 3)), properties(request_), made.physical_id)
    delivery = made.framework.begin(event)
    live.tags = []
    assert "is not this stack's" in made.framework.wait(delivery.event).reason


def test_the_poller_of_a_cancelled_update_sends_nothing(
    made: Stack, request_: Request, live: Governed, service: HyperPodService
) -> None:
    service.call("UpdateComputeQuota", {"ComputeQuotaId": live.id, "TargetVersion": 1, "Description": "x"})
    new = properties(with_count(request_, 9))
    cancelled = made.framework.begin(made.event("Update", new, made.current, made.physical_id))
    back = made.framework.begin(made.event("Update", made.current, new, made.physical_id))
    service.clock.advance(60)
    response = made.framework.wait(cancelled.event)
    assert "a newer update of compute quota vision took the place of this one" in response.reason
    assert made.framework.wait(back.event).ok
    assert count(live) == 2
    assert NOTE not in tag_keys(live)


def test_versions_run_out_with_advice(made: Stack, request_: Request, service: HyperPodService) -> None:
    service.quotas = Quotas(governance_versions=1)
    response = made.update(with_count(request_, 3))
    assert "takes no further version (100 by default, L-D7137944)" in response.reason
    assert "put it back" in response.reason


def test_a_quota_that_is_gone_is_said_so(made: Stack, request_: Request, service: HyperPodService) -> None:
    service.governed.clear()
    assert "Take the team out, deploy, and put it back" in made.update(with_count(request_, 3)).reason


def test_a_quota_that_goes_in_between_is_no_success(
    made: Stack, request_: Request, service: HyperPodService
) -> None:
    event = made.event("Update", properties(with_count(request_, 3)), properties(request_), made.physical_id)
    delivery = made.framework.begin(event)
    service.governed.clear()
    assert "was deleted outside of CloudFormation" in made.framework.wait(delivery.event).reason


@pytest.mark.parametrize(
    "fault",
    [
        Throttle(operation="UpdateComputeQuota", times=2),
        ServerError(operation="AddTags"),
        Throttle(operation="DescribeComputeQuota", times=3),
    ],
    ids=lambda fault: fault.operation,
)
def test_what_passes_is_waited_for(
    made: Stack, request_: Request, live: Governed, service: HyperPodService, fault: Any
) -> None:
    service.faults.add(fault)
    assert made.update({**with_count(request_, 3), "Tags": [{"Key": "a", "Value": "b"}]}).ok
    assert count(live) == 3


def test_an_update_that_never_ends_gives_up_with_what_is_known(
    made: Stack, request_: Request, service: HyperPodService
) -> None:
    service.durations = Durations(governance=7200)
    response = made.update(with_count(request_, 3))
    assert "Update took longer than the 53 minutes" in response.reason
    assert "compute quota vision is Updating" in response.reason


def test_tags_alone_make_no_version(made: Stack, request_: Request, live: Governed, calls: Calls) -> None:
    assert made.update({**request_, "Tags": [{"Key": "stage", "Value": "prod"}]}).ok
    assert calls.mutating == ["AddTags", "DeleteTags"]
    assert live.version == 1
    assert tag_keys(live) >= {"stage", "hyperpod-cdk:stack-id"}
    assert "team" not in tag_keys(live)


@pytest.mark.parametrize("fault", [AccessDenied, Throttle, ServerError])
def test_an_update_that_its_rollback_overtook_sends_nothing(
    made: Stack, request_: Request, service: HyperPodService, fault: type[AccessDenied]
) -> None:
    """Given up while it waits for IAM; the rollback finds nothing to do and is done."""
    update = made.event("Update", properties(with_count(request_, 3)), properties(request_), made.physical_id)
    back = made.event("Update", properties(request_), properties(with_count(request_, 3)), made.physical_id)
    service.faults.add(fault(operation="UpdateComputeQuota", times=1))
    update |= index.on_event(update)
    assert made.framework.run(back).ok
    service.clock.advance(120)
    with pytest.raises(index.CustomResourceError):
        index.is_complete(update)
    (live,) = there(service)
    assert (live.version, count(live)) == (1, 2)


def test_a_quota_that_a_cancelled_replacement_makes_late_goes_too(
    made: Stack, request_: Request, cluster_arn: str, service: HyperPodService
) -> None:
    """CloudFormation never hears of it: what the rollback does not delete, nothing ever will."""
    new = quota(cluster_arn, "audio")
    replacement = made.event("Update", properties(new), properties(request_), made.physical_id)
    back = made.event("Update", properties(request_), properties(new), made.physical_id)
    delivery = made.framework.begin(back)
    service.clock.advance(100)
    index.on_event(replacement)
    assert {one.name for one in there(service)} == {"vision", "audio"}
    assert made.framework.wait(delivery.event).ok
    assert {one.name for one in there(service)} == {"vision"}
