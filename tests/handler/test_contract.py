"""The cases of CloudFormation's contract for resource handlers, over the handler and the emulated service.

docs.aws.amazon.com/cloudformation-cli/latest/userguide/contract-tests.html names them; where a custom
resource has no read or list, the service's own answer stands in.
"""

from typing import Any

import pytest
from handler import index
from handler.clients import Aws

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from tests.handler.cloudformation import Framework, Stack
from tests.handler.samples import cluster, properties, regroup

REQUEST = cluster(Tags=[{"Key": "team", "Value": "llm"}])
BIGGER = regroup(REQUEST, "compute", InstanceCount=3)


def names(aws: Aws) -> list[Any]:
    return [summary["ClusterName"] for summary in aws.sagemaker.list_clusters()["ClusterSummaries"]]


def counts(aws: Aws) -> dict[str, int]:
    shown = aws.sagemaker.describe_cluster(ClusterName="ml")
    return {entry["InstanceGroupName"]: entry["TargetCount"] for entry in shown["InstanceGroups"]}


@pytest.fixture
def made(stack: Stack) -> Stack:
    assert stack.create(REQUEST).ok
    return stack


def test_create_then_read(made: Stack, aws: Aws) -> None:
    assert counts(aws) == {"controller": 1, "compute": 2}


def test_create_then_list(made: Stack, aws: Aws) -> None:
    assert names(aws) == ["ml"]


def test_create_twice_by_another_resource_fails(made: Stack, framework: Framework, aws: Aws) -> None:
    assert not Stack(framework=framework, logical_id="Twin").create(REQUEST).ok
    assert names(aws) == ["ml"]


def test_create_with_a_wrong_request_makes_nothing(stack: Stack, aws: Aws) -> None:
    assert not stack.create({**REQUEST, "InstanceGroups": []}).ok
    assert names(aws) == []


def test_update_then_read(made: Stack, aws: Aws) -> None:
    assert made.update(BIGGER).ok
    assert counts(aws) == {"controller": 1, "compute": 3}


def test_update_then_list(made: Stack, aws: Aws) -> None:
    assert made.update(BIGGER).ok
    assert names(aws) == ["ml"]


def test_update_of_what_is_not_there_fails(stack: Stack) -> None:
    event = stack.event("Update", properties(BIGGER), properties(REQUEST), "ml")
    assert not stack.framework.run(event).ok


def test_update_that_changes_what_creates_anew_makes_one_and_leaves_one(made: Stack, aws: Aws) -> None:
    assert made.update({**REQUEST, "ClusterName": "ml-2"}).ok
    assert names(aws) == ["ml-2"]


def test_delete_then_read(made: Stack, aws: Aws) -> None:
    assert made.delete().ok
    with pytest.raises(aws.sagemaker.exceptions.ResourceNotFound):
        aws.sagemaker.describe_cluster(ClusterName="ml")


def test_delete_then_list(made: Stack, aws: Aws) -> None:
    assert made.delete().ok
    assert names(aws) == []


def test_delete_then_delete(made: Stack) -> None:
    event = made.event("Delete", properties(REQUEST), physical_id="ml")
    assert made.framework.run(event).ok
    assert made.framework.run(event).ok


def test_delete_then_update_fails(made: Stack) -> None:
    assert made.delete().ok
    event = made.event("Update", properties(BIGGER), properties(REQUEST), "ml")
    assert not made.framework.run(event).ok


def test_delete_then_create_again(made: Stack, aws: Aws) -> None:
    assert made.delete().ok
    assert made.create(REQUEST).ok
    assert names(aws) == ["ml"]


def test_create_while_the_old_one_is_deleted_tells_to_wait(made: Stack, service: HyperPodService) -> None:
    index.on_event(made.event("Delete", properties(REQUEST), physical_id="ml"))
    response = made.framework.run(made.event("Create", properties(REQUEST)))
    assert "still being deleted" in response.reason
