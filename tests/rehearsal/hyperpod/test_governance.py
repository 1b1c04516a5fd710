"""Compute quotas and cluster policies: states, versions, conflicts, limits and faults."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import (
    GovernanceFails,
    HyperPodService,
    NotYetListed,
    Quotas,
    ServerError,
)
from hyperpod_cdk.rehearsal.hyperpod.errors import NotFoundError
from tests.rehearsal.hyperpod.samples import Account, Request, error_of

Refused = Callable[..., tuple[str, str]]
TYPE = "ml.p4d.24xlarge"


@pytest.fixture
def arn(account: Account, service: HyperPodService) -> str:
    """A cluster on Amazon EKS."""
    group = account.group("pool", None)
    eks = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k8s"}}
    made = service.call("CreateCluster", account.cluster(group, ClusterName="k8s", Orchestrator=eks))
    service.settle()
    return str(made["ClusterArn"])


def quota(arn: str, team: str = "vision", **members: Any) -> Request:
    return {
        "Name": team,
        "ClusterArn": arn,
        "ComputeQuotaConfig": {"ComputeQuotaResources": [{"InstanceType": TYPE, "Count": 2}]},
        "ComputeQuotaTarget": {"TeamName": team},
        **members,
    }


@pytest.fixture
def made(arn: str, sagemaker: Any, service: HyperPodService) -> str:
    """Id of a quota that is there."""
    found = sagemaker.create_compute_quota(**quota(arn))["ComputeQuotaId"]
    service.clock.advance(30)
    return str(found)


def state(sagemaker: Any, quota_id: str) -> tuple[str, int]:
    found = sagemaker.describe_compute_quota(ComputeQuotaId=quota_id)
    return found["Status"], found["ComputeQuotaVersion"]


def test_a_life(arn: str, sagemaker: Any, service: HyperPodService) -> None:
    created = sagemaker.create_compute_quota(**quota(arn))
    wanted = created["ComputeQuotaId"]
    assert created["ComputeQuotaArn"].endswith(f":compute-quota/{wanted}")
    assert state(sagemaker, wanted) == ("Creating", 1)
    service.clock.advance(30)
    assert state(sagemaker, wanted) == ("Created", 1)
    updated = sagemaker.update_compute_quota(ComputeQuotaId=wanted, TargetVersion=1, Description="theirs")
    assert updated["ComputeQuotaVersion"] == 2
    assert state(sagemaker, wanted) == ("Updating", 2)
    service.clock.advance(30)
    assert state(sagemaker, wanted) == ("Updated", 2)
    sagemaker.delete_compute_quota(ComputeQuotaId=wanted)
    assert state(sagemaker, wanted) == ("Deleting", 2)
    service.clock.advance(30)
    assert state(sagemaker, wanted) == ("Deleted", 2)
    service.clock.advance(60)
    with pytest.raises(sagemaker.exceptions.ResourceNotFound):
        state(sagemaker, wanted)


def test_what_an_update_does_not_say_stays(made: str, sagemaker: Any) -> None:
    sagemaker.update_compute_quota(ComputeQuotaId=made, TargetVersion=1, ActivationState="Disabled")
    now = sagemaker.describe_compute_quota(ComputeQuotaId=made)
    before = sagemaker.describe_compute_quota(ComputeQuotaId=made, ComputeQuotaVersion=1)
    assert (before["ActivationState"], now["ActivationState"]) == ("Enabled", "Disabled")
    assert now["ComputeQuotaConfig"] == before["ComputeQuotaConfig"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ({"Count": 2}, {"Accelerators": 16, "VCpu": 192.0, "MemoryInGiB": 2304.0}),
        ({"Accelerators": 4}, {"Accelerators": 4, "VCpu": 48.0, "MemoryInGiB": 576.0}),
        ({"VCpu": 24.0}, {"Accelerators": 0, "VCpu": 24.0, "MemoryInGiB": 288.0}),
        ({"MemoryInGiB": 288.0}, {"Accelerators": 0, "VCpu": 24.0, "MemoryInGiB": 288.0}),
        ({"Accelerators": 4, "VCpu": 1.5}, {"VCpu": 1.5, "MemoryInGiB": 576.0}),
    ],
)
def test_parts_follow_from_those_that_are_given(
    arn: str, sagemaker: Any, given: Request, shown: Request
) -> None:
    config = {"ComputeQuotaResources": [{"InstanceType": TYPE, **given}]}
    wanted = sagemaker.create_compute_quota(**quota(arn, ComputeQuotaConfig=config))["ComputeQuotaId"]
    found = sagemaker.describe_compute_quota(ComputeQuotaId=wanted)
    (resource,) = found["ComputeQuotaConfig"]["ComputeQuotaResources"]
    assert shown.items() <= resource.items()
    assert found["ComputeQuotaConfig"]["ResourceSharingConfig"] == {
        "Strategy": "LendAndBorrow",
        "BorrowLimit": 50,
    }
    assert found["ComputeQuotaTarget"]["FairShareWeight"] == 0


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"Name": "other"}, ("ConflictException", "Team 'vision' already has the compute quota 'vision'")),
        ({"ComputeQuotaTarget": {"TeamName": "other"}}, ("ConflictException", "already exists")),
        (
            {"ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"},
            ("ResourceNotFound", ""),
        ),
        ({"ComputeQuotaTarget": {"TeamName": "V"}}, ("ValidationException", "pattern")),
    ],
)
@pytest.mark.usefixtures("made")
def test_what_is_not_made(
    arn: str, sagemaker: Any, refused: Refused, changes: Request, expected: tuple[str, str]
) -> None:
    code, text = refused(sagemaker.create_compute_quota, **{**quota(arn), **changes})
    assert code == expected[0]
    assert expected[1] in text
    assert len(sagemaker.list_compute_quotas()["ComputeQuotaSummaries"]) == 1


def test_a_slurm_cluster_has_no_quotas(
    account: Account, sagemaker: Any, service: HyperPodService, refused: Refused
) -> None:
    arn = sagemaker.create_cluster(**account.cluster())["ClusterArn"]
    service.settle()
    assert refused(sagemaker.create_compute_quota, **quota(arn))[0] == "ValidationException"


def test_the_same_names_in_another_cluster(
    account: Account, made: str, sagemaker: Any, service: HyperPodService
) -> None:
    eks = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/other"}}
    request = account.cluster(account.group("pool", None), ClusterName="other", Orchestrator=eks)
    other = service.call("CreateCluster", request)["ClusterArn"]
    service.settle()
    sagemaker.create_compute_quota(**quota(other))
    listed = sagemaker.list_compute_quotas(ClusterArn=other)["ComputeQuotaSummaries"]
    assert [one["ClusterArn"] for one in listed] == [other]


@pytest.mark.parametrize("version", [0, 2])
def test_an_update_names_the_version_that_it_changes(
    made: str, sagemaker: Any, refused: Refused, version: int
) -> None:
    request = {"ComputeQuotaId": made, "TargetVersion": version, "Description": "x"}
    code, text = refused(sagemaker.update_compute_quota, **request)
    assert code == "ConflictException"
    assert "which is 1" in text
    assert state(sagemaker, made) == ("Created", 1)


def test_one_operation_at_a_time(made: str, sagemaker: Any, refused: Refused) -> None:
    sagemaker.update_compute_quota(ComputeQuotaId=made, TargetVersion=1, Description="x")
    again = {"ComputeQuotaId": made, "TargetVersion": 2, "Description": "y"}
    assert refused(sagemaker.update_compute_quota, **again)[0] == "ConflictException"
    assert refused(sagemaker.delete_compute_quota, ComputeQuotaId=made)[0] == "ConflictException"


def test_a_team_that_has_a_quota_gets_no_other_by_an_update(
    made: str, arn: str, sagemaker: Any, service: HyperPodService, refused: Refused
) -> None:
    other = sagemaker.create_compute_quota(**quota(arn, "audio"))["ComputeQuotaId"]
    service.clock.advance(30)
    target = {"ComputeQuotaId": other, "TargetVersion": 1, "ComputeQuotaTarget": {"TeamName": "vision"}}
    assert refused(sagemaker.update_compute_quota, **target)[0] == "ConflictException"
    found = sagemaker.describe_compute_quota(ComputeQuotaId=other)
    assert found["ComputeQuotaTarget"]["TeamName"] == "audio"


def test_versions_are_limited(made: str, sagemaker: Any, service: HyperPodService, refused: Refused) -> None:
    service.quotas = Quotas(governance_versions=2)
    sagemaker.update_compute_quota(ComputeQuotaId=made, TargetVersion=1, Description="x")
    service.clock.advance(30)
    again = {"ComputeQuotaId": made, "TargetVersion": 2, "Description": "y"}
    assert refused(sagemaker.update_compute_quota, **again)[0] == "ResourceLimitExceeded"


@pytest.mark.parametrize(
    ("verb", "status"),
    [
        ("Create", "CreateFailed"),
        ("Create", "CreateRollbackFailed"),
        ("Update", "UpdateFailed"),
        ("Update", "UpdateRollbackFailed"),
        ("Delete", "DeleteFailed"),
        ("Delete", "DeleteRollbackFailed"),
    ],
)
def test_each_way_to_fail(arn: str, sagemaker: Any, service: HyperPodService, verb: str, status: str) -> None:
    back = "Rollback" not in status
    service.faults.add(GovernanceFails(operation=f"{verb}ComputeQuota", reason="no add-on", rolled_back=back))
    wanted = {"ComputeQuotaId": sagemaker.create_compute_quota(**quota(arn))["ComputeQuotaId"]}
    service.clock.advance(30)
    if verb == "Update":
        sagemaker.update_compute_quota(**wanted, TargetVersion=1, Description="x")
    if verb == "Delete":
        sagemaker.delete_compute_quota(**wanted)
    service.clock.advance(30)
    found = sagemaker.describe_compute_quota(**wanted)
    assert (found["Status"], found["FailureReason"]) == (status, "no add-on")
    assert "Description" not in found, "an update that fails is undone"
    sagemaker.delete_compute_quota(**wanted)
    service.clock.advance(30)
    assert state(sagemaker, wanted["ComputeQuotaId"])[0] == "Deleted"


def test_a_cluster_that_is_not_ready_fails_later(arn: str, sagemaker: Any, service: HyperPodService) -> None:
    """Failure mode 90."""
    service.governance_readiness = lambda cluster: f"add-on missing in {cluster.name}"
    config = {"Name": "policy", "ClusterArn": arn, "SchedulerConfig": {"FairShare": "Enabled"}}
    wanted = sagemaker.create_cluster_scheduler_config(**config)["ClusterSchedulerConfigId"]
    service.clock.advance(30)
    found = sagemaker.describe_cluster_scheduler_config(ClusterSchedulerConfigId=wanted)
    assert (found["Status"], found["FailureReason"]) == ("CreateFailed", "add-on missing in k8s")


def test_lists_are_filtered_sorted_and_paged(
    arn: str, made: str, sagemaker: Any, service: HyperPodService
) -> None:
    for team in ("audio", "video"):
        service.clock.advance(1)
        sagemaker.create_compute_quota(**quota(arn, team))

    def names(**request: Any) -> list[str]:
        return [one["Name"] for one in sagemaker.list_compute_quotas(**request)["ComputeQuotaSummaries"]]

    assert names() == ["video", "audio", "vision"], "the newest first"
    assert names(SortBy="Name", SortOrder="Ascending") == ["audio", "video", "vision"]
    assert names(NameContains="vi") == ["video", "vision"]
    assert names(Status="Created") == ["vision"]
    first = sagemaker.list_compute_quotas(MaxResults=2)
    assert names(NextToken=first["NextToken"]) == ["vision"]
    service.faults.add(NotYetListed())
    assert names() == ["audio", "vision"]
    assert names() == ["video", "audio", "vision"]


def test_tags(arn: str, sagemaker: Any) -> None:
    tags = [{"Key": "team", "Value": "v"}]
    found = sagemaker.create_compute_quota(**quota(arn, Tags=tags))["ComputeQuotaArn"]
    sagemaker.add_tags(ResourceArn=found, Tags=[{"Key": "b", "Value": "2"}])
    sagemaker.delete_tags(ResourceArn=found, TagKeys=["team"])
    assert sagemaker.list_tags(ResourceArn=found)["Tags"] == [{"Key": "b", "Value": "2"}]


def test_tags_of_what_is_not_there(sagemaker: Any, refused: Refused) -> None:
    gone = "arn:aws:sagemaker:us-west-2:123456789012:compute-quota/abcdefghijkl"
    assert refused(sagemaker.list_tags, ResourceArn=gone)[0] == "ResourceNotFound"


def test_what_belongs_to_a_cluster_goes_with_it(made: str, service: HyperPodService) -> None:
    service.call("DeleteCluster", {"ClusterName": "k8s"})
    service.settle()
    with pytest.raises(NotFoundError):
        service.call("DescribeComputeQuota", {"ComputeQuotaId": made})


def test_an_answer_that_is_lost_leaves_a_quota(arn: str, sagemaker: Any, service: HyperPodService) -> None:
    service.faults.add(ServerError(operation="CreateComputeQuota", answer_lost=True))
    with pytest.raises(sagemaker.exceptions.ClientError) as caught:
        sagemaker.create_compute_quota(**quota(arn))
    assert error_of(caught.value)[0] == "InternalFailure"
    assert len(sagemaker.list_compute_quotas()["ComputeQuotaSummaries"]) == 1
