"""Create (field reports 10, 44, 46, 48, 57, 61)."""

from typing import Any

import pytest
from botocore.exceptions import ReadTimeoutError
from handler import index
from handler.clients import Aws

from hyperpod_cdk.rehearsal.hyperpod import (
    AccessDenied,
    HyperPodService,
    LifecycleFailure,
    NotYetVisible,
    RoleNotAssumable,
    ServerError,
    Throttle,
)
from tests.handler.cloudformation import FAILED_CREATE, STACK_ID, Framework, Stack
from tests.handler.conftest import Calls
from tests.handler.samples import changed, cluster, group, properties, regroup

REQUEST = cluster()


def tags_of(service: HyperPodService, name: str = "ml") -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in service.clusters[name].tags}


def test_48_a_cluster_is_made_and_told_about(stack: Stack, service: HyperPodService, calls: Calls) -> None:
    response = stack.create(cluster(Tags=[{"Key": "team", "Value": "llm"}]))
    assert response.ok, response.reason
    made = service.clusters["ml"]
    node = made.nodes_of("controller")[0]
    assert response.physical_id == "ml"
    assert response.data == {
        "ClusterArn": made.arn,
        "ClusterName": "ml",
        "ClusterId": made.cluster_id,
        "LogGroupName": f"/aws/sagemaker/Clusters/ml/{made.cluster_id}",
        "ControllerSsmTarget": f"sagemaker-cluster:{made.cluster_id}_controller-{node.instance_id}",
    }
    tags = tags_of(service)
    assert tags.pop("hyperpod-cdk:create-request").startswith("00000000-0000-4000-8000-")
    assert tags == {
        "team": "llm",
        "hyperpod-cdk:stack-id": STACK_ID,
        "hyperpod-cdk:logical-id": "Cluster",
    }
    assert calls.mutating == ["CreateCluster"]


def test_50_the_service_is_sent_numbers_and_no_nulls(stack: Stack, calls: Calls) -> None:
    request = regroup(REQUEST, "compute", ThreadsPerCore=1, OnStartDeepHealthChecks=[])
    assert stack.create(request).ok
    sent = calls.sent("CreateCluster")[0]
    assert sent.pop("Tags")
    assert sent == regroup(REQUEST, "compute", ThreadsPerCore=1)


def test_continuous_is_done_when_in_service_though_nodes_are_missing(
    stack: Stack, service: HyperPodService
) -> None:
    request = cluster(group("controller", "Controller"), group("compute", count=4), continuous=True)
    service.faults.add(LifecycleFailure(group="compute"))
    response = stack.create(request)
    assert response.ok, response.reason
    assert len(service.clusters["ml"].up("compute")) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (changed(REQUEST, lambda r: r.update(InstanceGroups=[])), "at least one instance group"),
        (changed(REQUEST, lambda r: r.pop("InstanceGroups")), "at least one instance group"),
        (changed(REQUEST, lambda r: r.update(NodeRecovry="None")), "Request.NodeRecovry"),
        (regroup(REQUEST, "compute", InstanceCount="many"), "Request.InstanceGroups[1].InstanceCount"),
        (
            regroup(REQUEST, "compute", ExecutionRole=None),
            'Missing required parameter in InstanceGroups[1]: "ExecutionRole"',
        ),
        (regroup(REQUEST, "compute", ThreadsPerCore=0), "InstanceGroups[1].ThreadsPerCore"),
        (
            changed(REQUEST, lambda r: r.update(Tags=[{"Key": "hyperpod-cdk:stack-id", "Value": "x"}])),
            "Request.Tags",
        ),
        (
            changed(REQUEST, lambda r: r.update(Tags=[{"Key": f"k{n}", "Value": ""} for n in range(46)])),
            "at most 45",
        ),
    ],
)
def test_10_wrong_properties_are_refused_before_any_call(
    stack: Stack, calls: Calls, wrong: Any, message: str
) -> None:
    response = stack.create(wrong)
    assert not response.ok
    assert message in response.reason
    assert response.physical_id == FAILED_CREATE
    assert calls.names == []


@pytest.mark.parametrize(
    ("further", "message"),
    [
        ({"Format": "2"}, "Format: this handler reads 1, got: '2'"),
        ({"Requests": {}}, "Requests: unknown property"),
    ],
)
def test_an_unknown_format_or_property_is_refused(
    framework: Framework, stack: Stack, calls: Calls, further: Any, message: str
) -> None:
    response = framework.run(stack.event("Create", {**properties(REQUEST), **further}))
    assert message in response.reason
    assert calls.names == []


def test_46_a_name_in_use_by_another_is_left_alone(
    stack: Stack, framework: Framework, service: HyperPodService, calls: Calls
) -> None:
    other = Stack(framework=framework, logical_id="Other")
    assert other.create(REQUEST).ok
    before = vars(service.clusters["ml"]).copy()
    calls.clear()
    response = stack.create(REQUEST)
    assert not response.ok
    assert "ml exists and is not this stack's: it is Other of stack ml (6a1c0d60-" in response.reason
    assert "it was not touched (arn:aws:sagemaker:" in response.reason
    assert response.physical_id == FAILED_CREATE
    assert stack.last.ok
    assert calls.mutating == []
    assert vars(service.clusters["ml"]) == before


def test_46_a_name_in_use_by_what_no_stack_made_says_so(stack: Stack, aws: Aws) -> None:
    aws.sagemaker.create_cluster(**REQUEST)
    assert "it has no tags of a stack's cluster" in stack.create(REQUEST).reason


def test_46_a_name_taken_between_check_and_create_is_left_alone(
    stack: Stack, framework: Framework, calls: Calls, monkeypatch: pytest.MonkeyPatch, aws: Aws
) -> None:
    assert Stack(framework=framework, logical_id="Other").create(REQUEST).ok
    describe = aws.sagemaker.describe_cluster
    answers = iter(
        [
            aws.sagemaker.exceptions.ResourceNotFound(
                {"Error": {"Code": "ResourceNotFound"}}, "DescribeCluster"
            )
        ]
    )

    def blind_once(**arguments: Any) -> Any:
        for answer in answers:
            raise answer
        return describe(**arguments)

    monkeypatch.setattr(aws.sagemaker, "describe_cluster", blind_once)
    response = stack.create(REQUEST)
    assert "is not this stack's" in response.reason
    assert response.physical_id == FAILED_CREATE
    assert "DeleteCluster" not in calls.names


@pytest.mark.parametrize(
    "fault",
    [
        RoleNotAssumable(times=4),
        AccessDenied(operation="CreateCluster", times=4),
        Throttle(operation="CreateCluster", times=4),
        ServerError(operation="CreateCluster", times=4),
        AccessDenied(operation="DescribeCluster", times=2),
    ],
)
def test_61_what_goes_away_by_itself_is_waited_for(
    stack: Stack, service: HyperPodService, fault: Any
) -> None:
    service.faults.add(fault)
    response = stack.create(REQUEST)
    assert response.ok, response.reason


@pytest.mark.parametrize(
    "fault", [RoleNotAssumable(times=None), AccessDenied(operation="CreateCluster", times=None)]
)
def test_61_but_no_longer_than_two_minutes(stack: Stack, service: HyperPodService, fault: Any) -> None:
    service.faults.add(fault)
    response = stack.create(REQUEST)
    assert not response.ok
    assert response.physical_id == FAILED_CREATE
    assert 60 <= service.clock.elapsed() <= 120
    assert not service.clusters


def test_24_what_the_service_says_of_a_region_without_it_reaches_the_user(
    stack: Stack, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No list of Regions is ours: a service that is not there answers for itself."""
    message = "The requested operation is not supported in this region"
    error = aws.sagemaker.exceptions.ClientError(
        {"Error": {"Code": "ValidationException", "Message": message}}, "CreateCluster"
    )

    def unsupported(**arguments: Any) -> None:
        raise error

    monkeypatch.setattr(aws.sagemaker, "create_cluster", unsupported)
    response = stack.create(REQUEST)
    assert message in response.reason
    assert response.physical_id == FAILED_CREATE


def test_another_refusal_is_not_repeated(stack: Stack, service: HyperPodService, calls: Calls) -> None:
    response = stack.create(cluster(group("compute")))
    assert "Controller" in response.reason
    assert calls.names.count("CreateCluster") == 1
    assert service.clock.elapsed() == 0


def test_57_the_same_event_twice_makes_one_cluster(
    stack: Stack, framework: Framework, service: HyperPodService, calls: Calls
) -> None:
    event = stack.event("Create", properties(REQUEST))
    first = index.on_event({**event, "ResponseURL": "x"})
    second = index.on_event({**event, "ResponseURL": "x"})
    assert first["PhysicalResourceId"] == second["PhysicalResourceId"] == "ml"
    for result in (first, second):
        assert framework.wait({**event, **result}).ok
    assert calls.names.count("CreateCluster") == 1
    assert "hyperpod-cdk:pending-update" not in tags_of(service)


def test_44_a_lost_answer_to_create_cluster_leaves_no_orphan(
    stack: Stack, service: HyperPodService, aws: Aws, monkeypatch: pytest.MonkeyPatch, calls: Calls
) -> None:
    create = aws.sagemaker.create_cluster

    def lose(**arguments: Any) -> None:
        create(**arguments)
        raise ReadTimeoutError(endpoint_url="https://api.sagemaker")

    monkeypatch.setattr(aws.sagemaker, "create_cluster", lose)
    response = stack.create(REQUEST)
    assert response.ok, response.reason
    assert calls.names.count("CreateCluster") == 2


def test_44_an_answer_lost_for_good_gives_an_id_that_can_be_deleted(
    stack: Stack, service: HyperPodService, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(**arguments: Any) -> None:
        raise ReadTimeoutError(endpoint_url="https://api.sagemaker")

    monkeypatch.setattr(aws.sagemaker, "create_cluster", never)
    response = stack.create(REQUEST)
    assert not response.ok
    assert response.physical_id == "ml"
    assert "Read timeout on endpoint URL" in response.reason


def test_44_a_failed_cluster_is_deleted_by_the_delete_that_follows(
    stack: Stack, service: HyperPodService
) -> None:
    service.faults.add(LifecycleFailure())
    response = stack.create(REQUEST)
    assert not response.ok
    assert response.physical_id == "ml"
    assert stack.last.ok
    assert not service.clusters


def test_a_cluster_left_by_a_failed_delete_is_taken_over(
    stack: Stack, framework: Framework, service: HyperPodService, calls: Calls
) -> None:
    assert stack.create(REQUEST).ok
    calls.clear()
    response = Stack(framework=framework).create(regroup(REQUEST, "compute", InstanceCount=3))
    assert response.ok, response.reason
    assert calls.mutating == ["UpdateCluster"]
    assert service.clusters["ml"].groups["compute"].target == 3


def test_44_one_that_can_not_be_brought_in_line_is_deleted_with_its_create(
    stack: Stack, framework: Framework, service: HyperPodService
) -> None:
    """What fails in the first function has no physical id, and of that nothing is ever deleted."""
    assert stack.create(REQUEST).ok
    service.faults.add(AccessDenied(operation="UpdateCluster", times=100))
    again = Stack(framework=framework)
    response = again.create(regroup(REQUEST, "compute", InstanceCount=3))
    assert not response.ok
    assert (response.physical_id, "UpdateCluster" in response.reason) == ("ml", True)
    assert again.last.ok
    assert not service.clusters


def test_one_that_is_taken_over_keeps_nothing_that_is_not_asked_for(
    stack: Stack, framework: Framework, service: HyperPodService, calls: Calls
) -> None:
    checked = regroup(REQUEST, "compute", OnStartDeepHealthChecks=["InstanceStress"], ThreadsPerCore=1)
    assert stack.create({**checked, "NodeRecovery": "None", "Tags": [{"Key": "stage", "Value": "try"}]}).ok
    calls.clear()
    response = Stack(framework=framework).create(REQUEST)
    assert response.ok, response.reason
    assert calls.mutating == ["DeleteTags", "UpdateCluster"]
    assert "stage" not in tags_of(service)
    assert tags_of(service)["hyperpod-cdk:stack-id"] == STACK_ID
    assert "OnStartDeepHealthChecks" not in service.clusters["ml"].groups["compute"].spec
    assert service.clusters["ml"].settings["NodeRecovery"] == "Automatic"


def test_14_a_rollback_of_node_counts_is_no_success(stack: Stack, service: HyperPodService, aws: Aws) -> None:
    """Continuous: a group that misses its minimum is rolled back to 0, and the cluster is in service."""
    request = cluster(
        group("controller", "Controller"), group("compute", count=2, MinInstanceCount=2), continuous=True
    )
    assert stack.create(request).ok
    service.clusters["ml"].groups["compute"].target = 0
    event = {
        **stack.event("Create", properties(request)),
        "PhysicalResourceId": "ml",
        "Handover": {"Since": aws.now() - 600},
    }
    response = stack.framework.wait(event)
    assert not response.ok
    assert "InstanceGroups[compute].InstanceCount" in response.reason


def test_44_a_cluster_that_this_request_made_is_never_refused(
    stack: Stack, framework: Framework, service: HyperPodService, calls: Calls
) -> None:
    """A refusal would leave it behind: the Delete that follows a failed on_event is swallowed."""
    event = stack.event("Create", properties(REQUEST))
    index.on_event(event)
    service.clusters["ml"].groups["compute"].spec["InstanceType"] = "ml.spelled.otherwise"
    again = index.on_event(event)
    assert again["PhysicalResourceId"] == "ml"
    assert framework.wait({**event, **again}).ok
    assert calls.mutating == ["CreateCluster"]


def test_a_cluster_of_ours_that_can_not_become_the_one_asked_for_is_left_as_it_is(
    stack: Stack, framework: Framework, service: HyperPodService, calls: Calls
) -> None:
    assert stack.create(REQUEST).ok
    calls.clear()
    response = Stack(framework=framework).create(regroup(REQUEST, "compute", InstanceType="ml.c5.xlarge"))
    assert "InstanceGroups[compute].InstanceType" in response.reason
    assert calls.mutating == []
    assert set(service.clusters) == {"ml"}


def test_46_a_name_in_use_by_what_can_not_be_seen_is_left_alone(
    stack: Stack, aws: Aws, monkeypatch: pytest.MonkeyPatch, calls: Calls
) -> None:
    def taken(**arguments: Any) -> None:
        raise aws.sagemaker.exceptions.ResourceInUse({"Error": {"Code": "ResourceInUse"}}, "CreateCluster")

    monkeypatch.setattr(aws.sagemaker, "create_cluster", taken)
    response = stack.create(REQUEST)
    assert "in use, but no such cluster can be seen" in response.reason
    assert response.physical_id == "ml", "it may be ours, and not visible yet"
    assert calls.mutating == []


@pytest.mark.parametrize("operation", ["DescribeCluster", "ListTags"])
def test_44_a_repeated_create_that_can_not_see_its_cluster_leaves_no_orphan(
    stack: Stack, framework: Framework, service: HyperPodService, operation: str
) -> None:
    """The framework repeats a call whose answer it has not got; without an id it swallows the Delete."""
    event = stack.event("Create", properties(REQUEST))
    index.on_event(event)
    service.faults.add(AccessDenied(operation=operation, times=20))
    response = framework.run(event)
    assert response.physical_id == "ml"
    service.faults.clear()
    assert framework.run(stack.event("Delete", properties(REQUEST), physical_id="ml")).ok
    assert not service.clusters


def test_44_an_answer_lost_before_a_refusal_leaves_no_orphan(
    stack: Stack, service: HyperPodService, aws: Aws, monkeypatch: pytest.MonkeyPatch
) -> None:
    """botocore repeats calls by itself: the error that it ends with may not be the first one."""
    create = aws.sagemaker.create_cluster

    def lose(**arguments: Any) -> None:
        create(**arguments)
        raise aws.sagemaker.exceptions.ClientError(
            {"Error": {"Code": "ThrottlingException"}}, "CreateCluster"
        )

    monkeypatch.setattr(aws.sagemaker, "create_cluster", lose)
    assert stack.create(REQUEST).ok
    assert set(service.clusters) == {"ml"}


def test_a_cluster_that_is_not_visible_yet_is_waited_for(stack: Stack, service: HyperPodService) -> None:
    event = stack.event("Create", properties(REQUEST))
    event |= index.on_event(event)
    service.faults.add(NotYetVisible(operation="DescribeCluster"))
    assert stack.framework.wait(event).ok
