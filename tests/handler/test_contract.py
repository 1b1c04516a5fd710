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
from tests.handler.conftest import Calls
from tests.handler.samples import cluster, properties, regroup

REQUEST = cluster(Tags=[{"Key": "team", "Value": "llm"}])
BIGGER = regroup(REQUEST, "compute", InstanceCount=3)


def names(aws: Aws) -> list[Any]:
    return [summary["ClusterName"] for summary in aws.sagemaker.list_clusters()["ClusterSummaries"]]


def counts(aws: Aws) -> dict[str, int]:
    shown = aws.sagemaker.describe_cluster(ClusterName="ml")
    return {entry["InstanceGroupName"]: entry["TargetCount"] for entry in shown["InstanceGroups"]}


def users_tags(aws: Aws) -> dict[str, str]:
    arn = aws.sagemaker.describe_cluster(ClusterName="ml")["ClusterArn"]
    tags = aws.sagemaker.list_tags(ResourceArn=arn)["Tags"]
    return {tag["Key"]: tag["Value"] for tag in tags if not tag["Key"].startswith("hyperpod-cdk:")}


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


def test_create_then_delete(made: Stack, aws: Aws) -> None:
    assert made.delete().ok
    assert made.physical_id == ""


def test_create_tells_the_identifier_that_reads_it(stack: Stack, aws: Aws) -> None:
    response = stack.create(REQUEST)
    shown = aws.sagemaker.describe_cluster(ClusterName=response.physical_id)
    assert shown["ClusterArn"] == response.data["ClusterArn"]


def test_update_keeps_the_identifier(made: Stack) -> None:
    assert made.update(BIGGER).physical_id == made.physical_id == "ml"


def test_update_without_a_change_succeeds_and_changes_nothing(made: Stack, aws: Aws, calls: Calls) -> None:
    before = aws.sagemaker.describe_cluster(ClusterName="ml")
    calls.clear()
    assert made.update(REQUEST).ok
    assert calls.mutating == []
    after = aws.sagemaker.describe_cluster(ClusterName="ml")
    assert {**after, "ResponseMetadata": None} == {**before, "ResponseMetadata": None}


def test_update_twice_with_the_same_values(made: Stack, aws: Aws, calls: Calls) -> None:
    assert made.update(BIGGER).ok
    calls.clear()
    assert made.update(BIGGER).ok
    assert calls.mutating == []


def test_update_of_what_can_only_be_given_at_creation_fails(made: Stack, aws: Aws) -> None:
    response = made.update(regroup(REQUEST, "compute", InstanceType="ml.c5.xlarge"))
    assert not response.ok
    assert response.physical_id == "ml"
    shown = aws.sagemaker.describe_cluster(ClusterName="ml")
    assert {entry["InstanceType"] for entry in shown["InstanceGroups"]} == {"ml.c5.large"}


def test_update_with_a_wrong_request_changes_nothing(made: Stack, aws: Aws) -> None:
    assert not made.update({**REQUEST, "InstanceGroups": []}).ok
    assert counts(aws) == {"controller": 1, "compute": 2}


def test_tags_are_read_as_they_were_given(made: Stack, aws: Aws) -> None:
    assert users_tags(aws) == {"team": "llm"}
    assert made.update({**REQUEST, "Tags": [{"Key": "stage", "Value": "prod"}]}).ok
    assert users_tags(aws) == {"stage": "prod"}


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


def test_delete_of_what_never_was_succeeds(stack: Stack) -> None:
    event = stack.event("Delete", properties(REQUEST), physical_id="ml")
    assert stack.framework.run(event).ok


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
