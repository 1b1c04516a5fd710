"""The cases of CloudFormation's contract for resource handlers, over the quota's handler.

docs.aws.amazon.com/cloudformation-cli/latest/userguide/contract-tests.html names them; where a custom
resource has no read or list, the service's own answer stands in.
"""

from typing import Any

import pytest
from handler import index
from handler.clients import Aws

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.quota.samples import physical_id, quota, quota_stack, with_count
from tests.handler.samples import Request, properties


def names(aws: Aws) -> list[Any]:
    listed = aws.sagemaker.list_compute_quotas()["ComputeQuotaSummaries"]
    return [one["Name"] for one in listed if one["Status"] != "Deleted"]


def shown(aws: Aws, stack: Stack) -> dict[str, Any]:
    quota_id = stack.framework.responses[-1].data["ComputeQuotaId"]
    found = aws.sagemaker.describe_compute_quota(ComputeQuotaId=quota_id)
    return {name: value for name, value in found.items() if name != "ResponseMetadata"}


def count(aws: Aws, stack: Stack) -> int:
    resources = shown(aws, stack)["ComputeQuotaConfig"]["ComputeQuotaResources"]
    return int(resources[0]["Count"])


def users_tags(aws: Aws, stack: Stack) -> dict[str, str]:
    tags = aws.sagemaker.list_tags(ResourceArn=shown(aws, stack)["ComputeQuotaArn"])["Tags"]
    return {tag["Key"]: tag["Value"] for tag in tags if not tag["Key"].startswith("hyperpod-cdk:")}


def test_create_then_read(made: Stack, aws: Aws) -> None:
    found = shown(aws, made)
    assert found["Status"] == "Created"
    assert found["ComputeQuotaTarget"]["TeamName"] == "vision"
    assert count(aws, made) == 2


def test_create_then_list(made: Stack, aws: Aws) -> None:
    assert names(aws) == ["vision"]


def test_create_tells_the_identifier_that_reads_it(team: Stack, request_: Request, aws: Aws) -> None:
    response = team.create(request_)
    assert response.physical_id == physical_id(request_)
    assert response.data == {
        "ComputeQuotaArn": shown(aws, team)["ComputeQuotaArn"],
        "ComputeQuotaId": shown(aws, team)["ComputeQuotaId"],
        "TeamName": "vision",
        "Namespace": "hyperpod-ns-vision",
        "QueueName": "hyperpod-ns-vision-localqueue",
    }


def test_create_twice_by_another_resource_fails(made: Stack, request_: Request, aws: Aws) -> None:
    response = quota_stack(made, "Twin").create(request_)
    assert "it is Quota of stack ml" in response.reason
    assert names(aws) == ["vision"]


def test_create_with_a_wrong_request_makes_nothing(team: Stack, request_: Request, aws: Aws) -> None:
    assert not team.create({**request_, "ComputeQuotaTarget": {}}).ok
    assert names(aws) == []


def test_update_then_read(made: Stack, request_: Request, aws: Aws) -> None:
    assert made.update(with_count(request_, 3)).ok
    assert count(aws, made) == 3
    assert shown(aws, made)["ComputeQuotaVersion"] == 2


def test_update_keeps_the_identifier(made: Stack, request_: Request) -> None:
    assert made.update(with_count(request_, 3)).physical_id == physical_id(request_)


def test_update_without_a_change_succeeds_and_changes_nothing(
    made: Stack, request_: Request, aws: Aws, calls: Calls
) -> None:
    before = shown(aws, made)
    assert made.update(request_).ok
    assert calls.mutating == []
    assert shown(aws, made) == before


def test_update_twice_with_the_same_values(made: Stack, request_: Request, calls: Calls) -> None:
    assert made.update(with_count(request_, 3)).ok
    calls.clear()
    assert made.update(with_count(request_, 3)).ok
    assert calls.mutating == []


def test_update_with_a_wrong_request_changes_nothing(made: Stack, request_: Request, aws: Aws) -> None:
    assert not made.update({**request_, "ComputeQuotaTarget": {}}).ok
    assert count(aws, made) == 2


def test_tags_are_read_as_they_were_given(made: Stack, request_: Request, aws: Aws) -> None:
    assert users_tags(aws, made) == {"team": "v"}
    assert made.update({**request_, "Tags": [{"Key": "stage", "Value": "prod"}]}).ok
    assert users_tags(aws, made) == {"stage": "prod"}


def test_update_of_what_is_not_there_fails(team: Stack, request_: Request) -> None:
    event = team.event("Update", properties(request_), properties(request_), physical_id(request_))
    assert "is gone" in team.framework.run(event).reason


def test_update_that_changes_what_creates_anew_makes_one_and_leaves_one(
    made: Stack, cluster_arn: str, aws: Aws
) -> None:
    response = made.update(quota(cluster_arn, "audio"))
    assert response.ok
    assert response.physical_id.endswith("/audio")
    assert names(aws) == ["audio"]


def test_delete_then_list(made: Stack, aws: Aws) -> None:
    assert made.delete().ok
    assert names(aws) == []
    assert made.physical_id == ""


def test_delete_of_what_never_was_succeeds(team: Stack, request_: Request) -> None:
    event = team.event("Delete", properties(request_), physical_id=physical_id(request_))
    assert team.framework.run(event).ok


def test_delete_then_delete(made: Stack, request_: Request) -> None:
    event = made.event("Delete", properties(request_), physical_id=physical_id(request_))
    assert made.framework.run(event).ok
    assert made.framework.run(event).ok


def test_delete_then_update_fails(made: Stack, request_: Request) -> None:
    assert made.delete().ok
    event = made.event("Update", properties(request_), properties(request_), physical_id(request_))
    assert not made.framework.run(event).ok


def test_delete_then_create_again(made: Stack, request_: Request, aws: Aws) -> None:
    assert made.delete().ok
    assert made.create(request_).ok
    assert names(aws) == ["vision"]


def test_create_while_the_old_one_is_deleted_tells_to_wait(
    made: Stack, request_: Request, service: HyperPodService
) -> None:
    index.on_event(made.event("Delete", properties(request_), physical_id=physical_id(request_)))
    response = made.framework.run(made.event("Create", properties(request_)))
    assert "still being deleted" in response.reason


@pytest.mark.usefixtures("http")
def test_the_whole_way_over_http(team: Stack, request_: Request, aws: Aws) -> None:
    parts = {"InstanceType": "ml.g5.8xlarge", "Accelerators": 1, "VCpu": 2.5, "MemoryInGiB": 16.25}
    config = {"ComputeQuotaResources": [parts]}
    assert team.create({**request_, "ComputeQuotaConfig": config}).ok
    (resource,) = shown(aws, team)["ComputeQuotaConfig"]["ComputeQuotaResources"]
    assert resource == parts
    assert team.update(with_count(request_, 1)).ok
    assert count(aws, team) == 1
    assert team.delete().ok
