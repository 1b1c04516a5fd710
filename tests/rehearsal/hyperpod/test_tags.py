"""Tags of clusters, through SageMaker and through moto's tagging of everything."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.rehearsal.hyperpod.samples import Account, client

Refused = Callable[..., tuple[str, str]]


@pytest.fixture
def arn(account: Account, sagemaker: Any) -> str:
    tags = [{"Key": "team", "Value": "a"}, {"Key": "stage", "Value": "test"}]
    found: str = sagemaker.create_cluster(**account.cluster(Tags=tags))["ClusterArn"]
    return found


def tags_of(sagemaker: Any, arn: str) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in sagemaker.list_tags(ResourceArn=arn)["Tags"]}


def test_add_and_delete(sagemaker: Any, arn: str) -> None:
    added = [{"Key": "team", "Value": "b"}, {"Key": "new", "Value": ""}]
    answer = sagemaker.add_tags(ResourceArn=arn, Tags=added)
    assert {tag["Key"]: tag["Value"] for tag in answer["Tags"]} == tags_of(sagemaker, arn)
    assert tags_of(sagemaker, arn) == {"team": "b", "stage": "test", "new": ""}
    assert len(answer["Tags"]) == 3
    sagemaker.delete_tags(ResourceArn=arn, TagKeys=["stage", "none"])
    assert tags_of(sagemaker, arn) == {"team": "b", "new": ""}


def test_limits(sagemaker: Any, arn: str, refused: Refused) -> None:
    many = [{"Key": f"k{number}", "Value": ""} for number in range(49)]
    code, message = refused(sagemaker.add_tags, ResourceArn=arn, Tags=many)
    assert (code, "would have 51" in message) == ("ValidationException", True)
    code, message = refused(sagemaker.add_tags, ResourceArn=arn, Tags=[{"Key": "", "Value": "x"}])
    assert (code, "tags.1.member.key" in message) == ("ValidationException", True)


def test_unknown_cluster(sagemaker: Any, refused: Refused) -> None:
    arn = "arn:aws:sagemaker:us-west-2:123456789012:cluster/000000000000"
    assert refused(sagemaker.list_tags, ResourceArn=arn)[0] == "ResourceNotFound"


def test_other_resources_are_moto_s_own(sagemaker: Any, arn: str) -> None:
    experiment = sagemaker.create_experiment(ExperimentName="x")["ExperimentArn"]
    sagemaker.add_tags(ResourceArn=experiment, Tags=[{"Key": "k", "Value": "v"}])
    assert tags_of(sagemaker, experiment) == {"k": "v"}
    sagemaker.delete_tags(ResourceArn=experiment, TagKeys=["k"])
    assert tags_of(sagemaker, experiment) == {}


def test_tagging_service_finds_clusters(arn: str) -> None:
    tagging = client("resourcegroupstaggingapi")
    found = tagging.get_resources(TagFilters=[{"Key": "team", "Values": ["a"]}])["ResourceTagMappingList"]
    assert [entry["ResourceARN"] for entry in found] == [arn]
