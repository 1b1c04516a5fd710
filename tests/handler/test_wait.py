"""is_complete over every status and operation (field reports 14, 58, 59, 60)."""

from typing import Any

import pytest
from botocore.exceptions import ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError
from handler import index
from handler.clients import Aws
from handler.cluster.kind import OUTCOMES

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.hyperpod import AccessDenied, HyperPodService, ServerError, Throttle
from hyperpod_cdk.rehearsal.hyperpod.state import ClusterStatus
from tests.api_shapes import service_model
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.samples import Request, cluster, properties, regroup

REQUEST = cluster()
STATUSES = service_model().shape_for("ClusterStatus").enum

DONE, WAIT, FAIL, ASKED_AGAIN = "done", "wait", "fail", "asked again"
EXPECTED = {
    "Creating": (WAIT, WAIT, ASKED_AGAIN),
    "InService": (DONE, DONE, ASKED_AGAIN),
    "Updating": (WAIT, WAIT, ASKED_AGAIN),
    "SystemUpdating": (WAIT, WAIT, ASKED_AGAIN),
    "RollingBack": (WAIT, WAIT, ASKED_AGAIN),
    "Failed": (FAIL, FAIL, ASKED_AGAIN),
    "Deleting": (FAIL, FAIL, WAIT),
}


@pytest.fixture
def made(stack: Stack, calls: Calls) -> Stack:
    assert stack.create(REQUEST).ok
    calls.clear()
    return stack


def poll(stack: Stack, kind: str, *, minutes: float = 10) -> Request:
    """Poll an operation that began some minutes ago."""
    wanted = properties(REQUEST)
    event = stack.event(kind, wanted, wanted if kind == "Update" else None, "ml")
    since = hyperpod.service().clock.now().timestamp() - minutes * 60
    going = [one.arn for one in hyperpod.service().clusters.values()]
    handover = {"Since": since, "Going": going} if kind == "Delete" else {"Since": since}
    answer: Request = index.is_complete({**event, "Handover": handover})
    return answer


def test_14_every_status_of_the_model_is_known() -> None:
    assert set(OUTCOMES) == set(STATUSES) == set(EXPECTED)
    assert len(STATUSES) == 7


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize(("number", "kind"), list(enumerate(("Create", "Update", "Delete"))))
def test_14_each_status_in_each_operation(
    made: Stack, service: HyperPodService, calls: Calls, *, status: str, number: int, kind: str
) -> None:
    service.clusters["ml"].status = ClusterStatus(status)
    expected = EXPECTED[status][number]
    if expected == FAIL:
        with pytest.raises(index.CustomResourceError) as error:
            poll(made, kind)
        assert f"status is {status}" in str(error.value)
    else:
        answer = poll(made, kind)
        assert answer["IsComplete"] == (expected == DONE)
        assert ("Data" in answer) == (expected == DONE)
    assert calls.mutating == (["DeleteCluster"] if expected == ASKED_AGAIN else [])


@pytest.mark.parametrize("kind", ["Create", "Update", "Delete"])
@pytest.mark.parametrize(
    "fault",
    [
        Throttle(operation="DescribeCluster"),
        ServerError(operation="DescribeCluster"),
        Throttle(operation="ListTags"),
        Throttle(operation="ListClusterNodes"),
    ],
)
def test_60_a_throttled_poll_is_only_not_complete(
    made: Stack, service: HyperPodService, kind: str, fault: Any
) -> None:
    service.faults.add(fault)
    assert poll(made, kind) == {"IsComplete": False}


@pytest.mark.parametrize(
    "fault",
    [
        ReadTimeoutError(endpoint_url="https://x"),
        ConnectTimeoutError(endpoint_url="https://x"),
        EndpointConnectionError(endpoint_url="https://x"),
    ],
)
def test_60_so_is_one_that_the_network_ate(
    made: Stack, aws: Aws, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def eaten(**arguments: Any) -> None:
        raise fault

    monkeypatch.setattr(aws.sagemaker, "describe_cluster", eaten)
    assert poll(made, "Create") == {"IsComplete": False}


def test_60_but_a_missing_permission_fails(made: Stack, service: HyperPodService) -> None:
    service.faults.add(AccessDenied(operation="DescribeCluster", times=None))
    assert poll(made, "Update", minutes=1) == {"IsComplete": False}, "IAM may be spreading it"
    with pytest.raises(index.CustomResourceError, match="AccessDenied"):
        poll(made, "Update")


@pytest.mark.parametrize("kind", ["Create", "Update"])
def test_58_a_cluster_deleted_behind_our_back_is_no_success(
    made: Stack, service: HyperPodService, kind: str
) -> None:
    service.clusters.clear()
    with pytest.raises(index.CustomResourceError, match="cluster ml is gone"):
        poll(made, kind)


def test_46_a_cluster_replaced_behind_our_back_is_no_success(made: Stack, service: HyperPodService) -> None:
    service.clusters["ml"].tags = []
    with pytest.raises(index.CustomResourceError, match="not this stack's"):
        poll(made, "Create")


def test_59_what_is_not_complete_has_no_data(made: Stack, service: HyperPodService) -> None:
    service.clusters["ml"].status = ClusterStatus.UPDATING
    assert poll(made, "Update") == {"IsComplete": False}


def test_a_status_born_tomorrow_is_waited_for(made: Stack, aws: Aws, monkeypatch: pytest.MonkeyPatch) -> None:
    describe = aws.sagemaker.describe_cluster
    monkeypatch.setattr(
        aws.sagemaker, "describe_cluster", lambda **given: {**describe(**given), "ClusterStatus": "Thawing"}
    )
    assert poll(made, "Update") == {"IsComplete": False}


def test_the_answer_comes_at_most_one_interval_after_the_cluster_is_there(
    stack: Stack, service: HyperPodService
) -> None:
    """The service is looked at each second, which is how it is known when the cluster was there."""
    reached: list[float] = []

    def advance(seconds: float) -> None:
        for _ in range(int(seconds)):
            service.clock.advance(1)
            service.catch_up()
            if service.clusters["ml"].status == "InService" and not reached:
                reached.append(service.clock.elapsed())

    stack.framework.advance = advance
    stack.framework.interval = 20
    for act, count in ((stack.create, 2), (stack.update, 3)):
        assert act(regroup(REQUEST, "compute", InstanceCount=count)).ok
        late = service.clock.elapsed() - reached.pop()
        assert 0 <= late <= stack.framework.interval


@pytest.mark.parametrize("kind", ["Create", "Update", "Delete"])
def test_43_time_that_ran_out_is_told_before_the_framework_gives_up(
    made: Stack, service: HyperPodService, kind: str
) -> None:
    service.clusters["ml"].status = ClusterStatus.UPDATING
    assert poll(made, kind, minutes=52) == {"IsComplete": False}
    with pytest.raises(index.CustomResourceError) as error:
        poll(made, kind, minutes=54)
    assert f"{kind} took longer than the 53 minutes" in str(error.value)
    assert "cluster ml is Updating" in str(error.value)
    assert "log group /aws/sagemaker/Clusters/ml/" in str(error.value)


def test_43_also_when_the_cluster_can_not_be_seen(made: Stack, service: HyperPodService) -> None:
    service.faults.add(Throttle(times=None))
    with pytest.raises(index.CustomResourceError, match="can not be seen"):
        poll(made, "Update", minutes=54)


def test_43_also_when_only_interfaces_are_left(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handler.cluster.gone.lingers", lambda *_, **__: True)
    with pytest.raises(index.CustomResourceError, match="network interfaces still hold its security groups"):
        poll(stack, "Delete", minutes=54)
