"""Updates that fail, are cancelled, or come while the cluster is busy (field reports 14, 47, 56, 57, 58)."""

from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from handler import index
from handler.clients import Aws

from hyperpod_cdk.rehearsal.hyperpod import (
    DeleteConflict,
    HyperPodService,
    InsufficientCapacity,
    LifecycleFailure,
    UpdateRollsBack,
)
from hyperpod_cdk.rehearsal.hyperpod.state import ClusterStatus
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.samples import Request, changed, cluster, group, properties, regroup

REQUEST = cluster()
BIGGER = regroup(REQUEST, "compute", InstanceCount=4)
PENDING = "hyperpod-cdk:pending-update"


@pytest.fixture
def made(stack: Stack, calls: Calls) -> Stack:
    assert stack.create(REQUEST).ok
    calls.clear()
    return stack


def tags_of(service: HyperPodService) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in service.clusters["ml"].tags}


def target(service: HyperPodService) -> int:
    return service.clusters["ml"].groups["compute"].target


@pytest.mark.parametrize(
    "fault",
    [UpdateRollsBack(), LifecycleFailure(group="compute"), InsufficientCapacity(group="compute")],
)
def test_14_an_update_that_the_service_rolled_back_is_no_success(
    made: Stack, service: HyperPodService, calls: Calls, fault: Any
) -> None:
    service.faults.add(fault)
    response = made.update(BIGGER)
    assert not response.ok
    assert response.physical_id == "ml"
    assert "did not keep InstanceGroups[compute].InstanceCount" in response.reason
    assert service.clusters["ml"].failure_message in response.reason
    assert ("what to do: put back the partitions" in response.reason) == isinstance(fault, UpdateRollsBack)
    assert made.last.ok, "the rollback's Update finds the old state and succeeds"
    assert target(service) == 2
    assert calls.mutating == ["UpdateCluster"]


def test_14_nor_is_one_of_a_member_that_the_service_did_not_show_before(
    made: Stack, service: HyperPodService
) -> None:
    """Absent may mean "not shown" or "taken back"; the service's FailureMessage tells."""
    service.faults.add(UpdateRollsBack())
    response = made.update(regroup(REQUEST, "compute", OnStartDeepHealthChecks=["InstanceStress"]))
    assert not response.ok
    assert "did not keep InstanceGroups[compute].OnStartDeepHealthChecks" in response.reason


def test_14_the_state_before_is_not_mistaken_for_a_rollback(made: Stack, aws: Aws) -> None:
    """Right after UpdateCluster the service may still show the cluster as it was."""
    event = made.event("Update", properties(BIGGER), properties(REQUEST), "ml")
    sent = {"Since": aws.now() - 30, "Pending": False, "Sent": "cluster"}
    assert index.is_complete({**event, "Handover": sent}) == {"IsComplete": False}
    with pytest.raises(index.CustomResourceError, match="did not keep"):
        index.is_complete({**event, "Handover": {**sent, "Since": aws.now() - 90}})


def test_56_a_rollback_waits_for_the_busy_cluster_and_converges(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    """Another resource of the stack fails while ours is still Updating."""
    failed = made.event("Update", properties(BIGGER), properties(REQUEST), "ml")
    index.on_event(failed)
    assert service.clusters["ml"].status.value == "Updating"
    back = made.roll_back(properties(BIGGER), "ml")
    assert back.ok, back.reason
    assert target(service) == 2
    assert calls.names.count("UpdateCluster") == 2
    assert PENDING not in tags_of(service)


def test_56_a_rollback_while_the_service_rolls_back_makes_no_update(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    service.faults.add(UpdateRollsBack())
    index.on_event(made.event("Update", properties(BIGGER), properties(REQUEST), "ml"))
    while service.clusters["ml"].status.value != "RollingBack":
        service.clock.advance(10)
        service.catch_up()
    back = made.roll_back(properties(BIGGER), "ml")
    assert back.ok, back.reason
    assert target(service) == 2
    assert calls.names.count("UpdateCluster") == 1


def test_58_the_poller_of_a_cancelled_update_sends_nothing(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    """Two updates wait for a busy cluster; the first was cancelled, but its poller goes on."""
    index.on_event(made.event("Update", properties(BIGGER), properties(REQUEST), "ml"))
    huge = regroup(REQUEST, "compute", InstanceCount=9)
    cancelled = made.event("Update", properties(huge), properties(BIGGER), "ml")
    cancelled |= index.on_event(cancelled)
    back = made.event("Update", properties(REQUEST), properties(huge), "ml")
    back |= index.on_event(back)
    service.settle()
    with pytest.raises(index.CustomResourceError, match="a newer update of cluster ml took the place"):
        index.is_complete(cancelled)
    assert made.framework.wait(back).ok
    assert target(service) == 2
    assert [sent["InstanceGroups"][1]["InstanceCount"] for sent in calls.sent("UpdateCluster")] == [4, 2]


def test_58_an_update_that_acts_at_once_clears_an_older_note(made: Stack, service: HyperPodService) -> None:
    index.on_event(made.event("Update", properties(BIGGER), properties(REQUEST), "ml"))
    cancelled = made.event("Update", properties(REQUEST), properties(BIGGER), "ml")
    cancelled |= index.on_event(cancelled)
    service.settle()
    assert PENDING in tags_of(service)
    assert made.framework.run(made.event("Update", properties(BIGGER), properties(BIGGER), "ml")).ok
    assert PENDING not in tags_of(service)
    service.clock.advance(120)
    with pytest.raises(index.CustomResourceError):
        index.is_complete(cancelled)
    assert target(service) == 4


def test_57_the_same_update_twice_is_one_update(made: Stack, service: HyperPodService, calls: Calls) -> None:
    event = made.event("Update", properties(BIGGER), properties(REQUEST), "ml")
    first, second = index.on_event(event), index.on_event(event)
    assert made.framework.wait({**event, **first}).ok
    assert made.framework.wait({**event, **second}).ok
    assert calls.names.count("UpdateCluster") == 1
    assert PENDING not in tags_of(service)


def test_a_lost_answer_to_update_cluster_is_no_failure(
    made: Stack, service: HyperPodService, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    update = aws.sagemaker.update_cluster

    def lose(**arguments: Any) -> None:
        update(**arguments)
        raise ReadTimeoutError(endpoint_url="https://api.sagemaker")

    monkeypatch.setattr(aws.sagemaker, "update_cluster", lose)
    response = made.update(BIGGER)
    assert response.ok, response.reason
    assert target(service) == 4
    assert PENDING not in tags_of(service)


def test_an_update_that_waited_and_was_rolled_back_is_no_success(
    made: Stack, service: HyperPodService
) -> None:
    index.on_event(made.event("Update", properties(BIGGER), properties(REQUEST), "ml"))
    made.current = properties(BIGGER)
    service.faults.add(UpdateRollsBack())
    response = made.update(regroup(REQUEST, "compute", InstanceCount=3))
    assert not response.ok
    assert "did not keep InstanceGroups[compute].InstanceCount" in response.reason
    assert made.last.ok
    assert target(service) == 4


def test_a_failed_cluster_fails_its_update_with_the_reason(made: Stack, service: HyperPodService) -> None:
    service.clusters["ml"].status = ClusterStatus.FAILED
    service.clusters["ml"].failure_message = "the controller was lost"
    response = made.framework.run(made.event("Update", properties(BIGGER), properties(REQUEST), "ml"))
    assert not response.ok
    assert "the controller was lost" in response.reason


@pytest.mark.parametrize("keeps_new_id", [True, False])
def test_47_a_replacement_that_fails_leaves_the_old_cluster_and_no_other(
    made: Stack, service: HyperPodService, keeps_new_id: bool
) -> None:
    renamed = changed(REQUEST, lambda copied: copied.update(ClusterName="ml-2"))
    service.faults.add(LifecycleFailure(group="compute"))
    new, old = properties(renamed), properties(REQUEST)
    response = made.framework.run(made.event("Update", new, old, "ml"))
    assert not response.ok
    assert response.physical_id == "ml-2"
    assert set(service.clusters) == {"ml", "ml-2"}
    back = made.roll_back(new, "ml-2" if keeps_new_id else "ml")
    assert back.ok, back.reason
    assert back.physical_id == "ml" or keeps_new_id
    service.settle()
    assert set(service.clusters) == {"ml"}


def test_19_a_rollback_brings_a_removed_group_back(
    stack: Stack, service: HyperPodService, calls: Calls
) -> None:
    """Continuous: the group is still on its way out when the rollback asks for it again."""
    groups = [group("controller", "Controller"), group("compute", count=2), group("gpu")]
    with_gpu, without = cluster(*groups, continuous=True), cluster(*groups[:2], continuous=True)
    assert stack.create(with_gpu).ok
    index.on_event(stack.event("Update", properties(without), properties(with_gpu), "ml"))
    service.clock.advance(60)
    service.catch_up()
    assert service.clusters["ml"].groups["gpu"].status.value == "Deleting"
    calls.clear()
    back = stack.roll_back(properties(without), "ml")
    assert back.ok, back.reason
    assert calls.names.index("AddTags") < calls.names.index("UpdateCluster"), "sent when the group is gone"
    assert set(service.clusters["ml"].groups) == {"controller", "compute", "gpu"}
    assert service.clusters["ml"].groups["gpu"].target == 1


def test_what_had_to_wait_and_can_not_be_sent_fails(made: Stack, service: HyperPodService, aws: Aws) -> None:
    index.on_event(made.event("Update", properties(BIGGER), properties(REQUEST), "ml"))
    event = made.event("Update", properties(REQUEST), properties(BIGGER), "ml")
    event |= index.on_event(event)
    service.settle()
    other = regroup(REQUEST, "compute", InstanceType="ml.c5.xlarge")
    wrong: Request = {**event, "ResourceProperties": properties(other)}
    with pytest.raises(index.CustomResourceError, match="InstanceType can not change"):
        index.is_complete(wrong)


def test_47_a_busy_cluster_of_a_failed_replacement_is_asked_until_it_goes(
    made: Stack, service: HyperPodService
) -> None:
    """CloudFormation went back to the old id while the new cluster was still being made."""
    renamed = properties(changed(REQUEST, lambda copied: copied.update(ClusterName="ml-2")))
    index.on_event(made.event("Update", renamed, properties(REQUEST), "ml"))
    assert service.clusters["ml-2"].status is ClusterStatus.CREATING
    back = made.roll_back(renamed, "ml")
    assert back.ok, back.reason
    service.settle()
    assert set(service.clusters) == {"ml"}


def test_47_a_failed_replacement_goes_even_if_the_old_cluster_is_gone(
    made: Stack, service: HyperPodService
) -> None:
    """CloudFormation knows only the old id, so the rollback's failure waits for the new cluster to go."""
    renamed = properties(changed(REQUEST, lambda copied: copied.update(ClusterName="ml-2")))
    index.on_event(made.event("Update", renamed, properties(REQUEST), "ml"))
    service.clusters["ml"].status = ClusterStatus.DELETING
    back = made.roll_back(renamed, "ml")
    assert not back.ok
    assert "cluster ml is gone" in back.reason
    assert set(service.clusters) == {"ml"}


def test_47_a_failed_replacement_that_stays_is_named(made: Stack, service: HyperPodService) -> None:
    renamed = properties(changed(REQUEST, lambda copied: copied.update(ClusterName="ml-2")))
    index.on_event(made.event("Update", renamed, properties(REQUEST), "ml"))
    service.faults.add(DeleteConflict(times=None))
    back = made.roll_back(renamed, "ml")
    assert not back.ok
    assert "the cluster ml-2 of the failed replacement is still there (InService)" in back.reason
    assert "Continue the rollback" in back.reason
    service.faults.clear()
    assert made.roll_back(renamed, "ml").ok
    assert set(service.clusters) == {"ml"}
