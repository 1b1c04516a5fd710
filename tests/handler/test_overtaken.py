"""Requests that CloudFormation has given up while their function still runs, and the ones that follow them.

It cancels what is under way when another resource of the stack fails, and rolls back at once.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from handler import index
from handler.clients import CONFIG, Aws, Clients
from handler.patience import PATIENCE_SECONDS, UNANSWERED_SECONDS

from hyperpod_cdk.rehearsal.hyperpod import AccessDenied, HyperPodService, ServerError, Throttle
from hyperpod_cdk.rehearsal.hyperpod.state import ClusterStatus
from tests.handler.cloudformation import Stack
from tests.handler.comparison import differences
from tests.handler.conftest import SHORTCUT, Calls, invocation
from tests.handler.samples import Request, changed, cluster, properties, regroup

REQUEST = cluster()
BIGGER = regroup(REQUEST, "compute", InstanceCount=4)
RENAMED = changed(REQUEST, lambda copied: copied.update(ClusterName="ml-2"))


@pytest.fixture
def made(stack: Stack, calls: Calls) -> Stack:
    assert stack.create(REQUEST).ok
    calls.clear()
    return stack


def overtake(
    service: HyperPodService, clients: Clients, patch: pytest.MonkeyPatch, action: Callable[[], object]
) -> None:
    """Do something in the first pause of an invocation."""
    pending = [action]

    def sleep(seconds: float) -> None:
        if pending:
            service.clock.advance(1)
            pending.pop()()
        service.clock.advance(seconds)

    patient = replace(invocation(clients), sleep=sleep)
    patch.setattr(index, "_aws", lambda: replace(patient, started=patient.now()))


def test_what_a_function_can_still_make_is_waited_for() -> None:
    """Its last call begins when its patience ends; botocore repeats it, with pauses of 2**n s, 20 at most."""
    attempts = CONFIG.retries["total_max_attempts"]
    silent = attempts * CONFIG.read_timeout + sum(min(2**n, 20) for n in range(attempts - 1))
    assert PATIENCE_SECONDS + silent <= UNANSWERED_SECONDS


@pytest.mark.parametrize("fault", [AccessDenied, Throttle, ServerError])
def test_56_an_update_that_its_rollback_overtook_sends_nothing(
    made: Stack,
    service: HyperPodService,
    clients: Clients,
    monkeypatch: pytest.MonkeyPatch,
    *,
    fault: type[AccessDenied],
) -> None:
    """It waits for IAM; the rollback finds nothing to do; a late UpdateCluster would undo it in silence."""
    update = made.event("Update", properties(BIGGER), properties(REQUEST), "ml")
    back = made.event("Update", properties(REQUEST), properties(BIGGER), "ml")
    done: list[bool] = []
    overtake(service, clients, monkeypatch, lambda: done.append(made.framework.run(back).ok))
    service.faults.add(fault(operation="UpdateCluster", times=1))
    update |= index.on_event(update)
    if not done:
        assert made.framework.run(back).ok
    service.clock.advance(120)
    with pytest.raises(index.CustomResourceError):
        index.is_complete(update)
    service.settle()
    assert service.clusters["ml"].groups["compute"].target == 2


@pytest.mark.parametrize("fault", [AccessDenied, Throttle, ServerError])
@pytest.mark.parametrize("operation", ["DescribeCluster", "ListTags", "AddTags"])
@pytest.mark.parametrize("asked", [BIGGER, {**REQUEST, "Tags": [{"Key": "team", "Value": "late"}]}])
def test_56_an_update_that_got_no_answer_until_its_rollback_had_ended_changes_nothing(
    made: Stack,
    service: HyperPodService,
    clients: Clients,
    monkeypatch: pytest.MonkeyPatch,
    *,
    fault: type[AccessDenied],
    operation: str,
    asked: Request,
) -> None:
    """The rollback found nothing to do, and left nothing but its mark."""
    update = made.event("Update", properties(asked), properties(REQUEST), "ml")
    back = made.event("Update", properties(REQUEST), properties(asked), "ml")
    done: list[bool] = []
    overtake(service, clients, monkeypatch, lambda: done.append(made.framework.run(back).ok))
    service.faults.add(fault(operation=operation, times=1))
    with pytest.raises(index.CustomResourceError, match="a newer update of cluster ml took the place"):
        index.on_event(update)
    assert done == [True]
    service.settle()
    assert differences(REQUEST, service.clusters["ml"]) == []


def test_56_a_note_that_comes_late_does_not_take_the_place_of_the_rollbacks(
    made: Stack, service: HyperPodService, clients: Clients, monkeypatch: pytest.MonkeyPatch, calls: Calls
) -> None:
    """Both wait for a busy cluster, and the note of the cancelled one is throttled."""
    index.on_event(made.event("Update", properties(BIGGER), properties(REQUEST), "ml"))
    service.clock.advance(1)
    huge = regroup(REQUEST, "compute", InstanceCount=9)
    update = made.event("Update", properties(huge), properties(BIGGER), "ml")
    back = made.event("Update", properties(BIGGER), properties(huge), "ml")
    overtake(service, clients, monkeypatch, lambda: back.update(index.on_event(back)))
    throttled: list[str] = []

    def watch(operation: str, request: Request) -> None:
        if operation == "AddTags" and "pending-update" in str(request) and not throttled:
            throttled.append(operation)
            service.faults.add(Throttle(operation="AddTags"))

    monkeypatch.setattr(SHORTCUT, "watch", watch)
    with pytest.raises(index.CustomResourceError, match="took the place"):
        index.on_event(update)
    assert made.framework.wait(back).ok
    assert service.clusters["ml"].groups["compute"].target == 4
    assert calls.names.count("UpdateCluster") == 1


@pytest.mark.parametrize("fault", [AccessDenied, Throttle, ServerError])
def test_an_update_that_had_to_wait_for_permission_is_sent_by_a_poll(
    made: Stack, service: HyperPodService, calls: Calls, fault: type[AccessDenied]
) -> None:
    service.faults.add(fault(operation="UpdateCluster", times=2))
    response = made.update(BIGGER)
    assert response.ok, response.reason
    assert service.clusters["ml"].groups["compute"].target == 4
    assert calls.names.count("UpdateCluster") == 3


def test_an_update_that_is_never_permitted_fails_after_its_patience(
    made: Stack, service: HyperPodService
) -> None:
    service.faults.add(AccessDenied(operation="UpdateCluster", times=None))
    before = service.clock.elapsed()
    response = made.framework.run(made.event("Update", properties(BIGGER), properties(REQUEST), "ml"))
    assert not response.ok
    assert "UpdateCluster" in response.reason
    assert service.clock.elapsed() - before <= PATIENCE_SECONDS + 2 * made.framework.interval


@pytest.mark.parametrize("interval", [20, 200])
def test_47_a_cluster_that_a_cancelled_replacement_makes_late_goes_too(
    made: Stack, service: HyperPodService, interval: int
) -> None:
    """CloudFormation never hears of it: what the rollback does not delete, nothing ever will."""
    made.framework.interval = interval
    replacement = made.event("Update", properties(RENAMED), properties(REQUEST), "ml")
    back = made.framework.begin(made.event("Update", properties(REQUEST), properties(RENAMED), "ml"))
    made.framework.poll(back)
    assert back.response is None
    service.clock.advance(100)
    index.on_event(replacement)
    assert set(service.clusters) == {"ml", "ml-2"}
    while back.response is None:
        made.framework.poll(back)
        service.clock.advance(interval)
    assert back.response.ok
    service.settle()
    assert set(service.clusters) == {"ml"}


def test_47_but_not_one_that_a_later_update_makes(made: Stack, service: HyperPodService) -> None:
    """The rollback was delivered twice, and its second poller outlives it."""
    event = made.event("Update", properties(REQUEST), properties(RENAMED), "ml")
    again = {**event, **index.on_event(event)}
    assert made.framework.run(event).ok
    assert made.update(RENAMED).ok
    with pytest.raises(index.CustomResourceError, match="cluster ml is gone"):
        index.is_complete(again)
    assert set(service.clusters) == {"ml-2"}


@pytest.fixture
def left_failed(made: Stack, service: HyperPodService) -> Request:
    """A rollback that waited for the update before it, with which the service then gave up."""
    index.on_event(made.event("Update", properties(BIGGER), properties(REQUEST), "ml"))
    back: Request = made.event("Update", properties(REQUEST), properties(BIGGER), "ml")
    back |= index.on_event(back)
    service.settle()
    service.clusters["ml"].status = ClusterStatus.FAILED
    return back


def test_56_a_rollback_that_waited_is_sent_although_the_service_gave_up(
    left_failed: Request, service: HyperPodService, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No page says that what is Failed takes no update; if it does, nobody has to continue the rollback."""
    update, live = aws.sagemaker.update_cluster, service.clusters["ml"]

    def take(**arguments: Any) -> Any:
        live.status = ClusterStatus.IN_SERVICE
        return update(**arguments)

    monkeypatch.setattr(aws.sagemaker, "update_cluster", take)
    assert index.is_complete(left_failed) == {"IsComplete": False}
    service.settle()
    assert index.is_complete(left_failed)["IsComplete"]
    assert live.groups["compute"].target == 2


def test_56_and_fails_at_once_when_the_service_does_not_take_it(left_failed: Request) -> None:
    with pytest.raises(index.CustomResourceError, match="its status is Failed"):
        index.is_complete(left_failed)
