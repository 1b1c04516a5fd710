"""Update (field reports 19, 20, 47, 48, 53, 55)."""

from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, Throttle
from tests.handler.cloudformation import Framework, Stack
from tests.handler.conftest import Calls
from tests.handler.samples import (
    NEW_SCRIPTS,
    OTHER_ROLE,
    Request,
    changed,
    cluster,
    group,
    properties,
    regroup,
)

CONTROLLER = group("controller", "Controller")
REQUEST = cluster(CONTROLLER, group("compute", count=2), NodeRecovery="Automatic")


@pytest.fixture(params=[False, True], ids=["all-at-once", "continuous"])
def request_of_mode(request: Any) -> Request:
    return cluster(CONTROLLER, group("compute", count=2), continuous=request.param, NodeRecovery="Automatic")


@pytest.fixture
def made(stack: Stack, calls: Calls) -> Stack:
    assert stack.create(REQUEST).ok
    calls.clear()
    return stack


def with_groups(request: Request, *groups: Request) -> Request:
    return changed(request, lambda copied: copied.update(InstanceGroups=list(groups)))


def test_a_reordered_request_makes_no_mutating_call(made: Stack, calls: Calls) -> None:
    response = made.update(with_groups(REQUEST, *reversed(REQUEST["InstanceGroups"])))
    assert response.ok
    assert calls.mutating == []
    begun = ["DescribeCluster", "ListTags", "ListTags", "AddTags", "ListTags"]
    assert calls.names == [*begun, "DescribeCluster", "ListTags", "ListClusterNodes"]


@pytest.mark.parametrize(
    "same",
    [
        changed(REQUEST, lambda r: r.pop("NodeRecovery")),
        regroup(REQUEST, "compute", InstanceStorageConfigs=[]),
        regroup(REQUEST, "compute", ImageId="default"),
        regroup(REQUEST, "compute", CapacityRequirements={"OnDemand": {}}),
    ],
    ids=["default left out", "empty list", "default image", "default capacity"],
)
def test_defaults_spelled_out_or_left_out_make_no_mutating_call(
    made: Stack, calls: Calls, same: Request
) -> None:
    assert made.update(same).ok
    assert calls.mutating == []
    assert made.update(REQUEST).ok
    assert calls.mutating == []


def test_scaling_is_one_call(
    stack: Stack, service: HyperPodService, calls: Calls, request_of_mode: Request
) -> None:
    assert stack.create(request_of_mode).ok
    for count in (5, 1, 0):
        calls.clear()
        response = stack.update(regroup(request_of_mode, "compute", InstanceCount=count))
        assert response.ok, response.reason
        assert service.clusters["ml"].groups["compute"].target == count
        assert calls.mutating == ["UpdateCluster"]
        assert response.physical_id == "ml"


def test_19_groups_are_added_removed_and_renamed(
    stack: Stack, service: HyperPodService, calls: Calls, request_of_mode: Request
) -> None:
    assert stack.create(request_of_mode).ok
    two = with_groups(request_of_mode, CONTROLLER, group("compute", count=2), group("gpu"))
    renamed = with_groups(request_of_mode, CONTROLLER, group("compute", count=2), group("gpu-2"))
    for request, deleted, left in (
        (two, None, {"controller", "compute", "gpu"}),
        (renamed, ["gpu"], {"controller", "compute", "gpu-2"}),
        (request_of_mode, ["gpu-2"], {"controller", "compute"}),
    ):
        calls.clear()
        response = stack.update(request)
        assert response.ok, response.reason
        assert calls.sent("UpdateCluster")[0].get("InstanceGroupsToDelete") == deleted
        assert set(service.clusters["ml"].groups) == left
        assert calls.mutating == ["UpdateCluster"]


def test_19_a_group_that_somebody_added_by_hand_goes(made: Stack, service: HyperPodService, aws: Any) -> None:
    aws.sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[group("extra")])
    service.settle()
    assert made.update(regroup(REQUEST, "compute", InstanceCount=3)).ok
    assert set(service.clusters["ml"].groups) == {"controller", "compute"}


def test_19_the_controller_is_never_removed_or_renamed(made: Stack, calls: Calls) -> None:
    head = group("head", "Controller")
    response = made.update(with_groups(REQUEST, head, group("compute", count=2)))
    assert "InstanceGroups[controller] is the controller's group" in response.reason
    assert calls.mutating == []
    assert made.last.ok


def test_53_new_scripts_move_the_group_to_their_prefix(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    scripts = {"SourceS3Uri": NEW_SCRIPTS, "OnCreate": "on_create.sh"}
    nodes = list(service.clusters["ml"].nodes)
    assert made.update(regroup(REQUEST, "compute", LifeCycleConfig=scripts)).ok
    assert calls.mutating == ["UpdateCluster"]
    assert service.clusters["ml"].groups["compute"].spec["LifeCycleConfig"] == scripts
    assert service.clusters["ml"].nodes == nodes


def test_20_tags_are_added_changed_and_taken_away(
    stack: Stack, service: HyperPodService, calls: Calls, aws: Any
) -> None:
    def tagged(**tags: str) -> Request:
        return {**REQUEST, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]}

    assert stack.create(tagged(team="llm", phase="try")).ok
    arn = service.clusters["ml"].arn
    aws.sagemaker.add_tags(ResourceArn=arn, Tags=[{"Key": "audit", "Value": "theirs"}])
    calls.clear()
    assert stack.update(tagged(team="vision", cost="42")).ok
    tags = {tag["Key"]: tag["Value"] for tag in service.clusters["ml"].tags if ":" not in tag["Key"]}
    assert tags == {"team": "vision", "cost": "42", "audit": "theirs"}
    assert calls.mutating == ["AddTags", "DeleteTags"]


VPC = {"Subnets": ["subnet-2"], "SecurityGroupIds": ["sg-2"]}
ENCRYPTED = {"EbsVolumeConfig": {"VolumeKmsKeyId": "k"}}
TYPES = {"InstanceTypes": ["ml.c5.large"]}
EKS = "arn:aws:eks:us-west-2:123456789012:cluster/k"


@pytest.mark.parametrize(
    ("change", "member"),
    [
        (regroup(REQUEST, "compute", InstanceType="ml.c5.xlarge"), "InstanceGroups[compute].InstanceType"),
        (regroup(REQUEST, "compute", ExecutionRole=OTHER_ROLE), "InstanceGroups[compute].ExecutionRole"),
        (regroup(REQUEST, "compute", ThreadsPerCore=1), "InstanceGroups[compute].ThreadsPerCore"),
        (
            regroup(
                REQUEST, "compute", OverrideVpcConfig={"Subnets": ["subnet-2"], "SecurityGroupIds": ["sg-2"]}
            ),
            "InstanceGroups[compute].OverrideVpcConfig",
        ),
        (
            regroup(REQUEST, "compute", CapacityRequirements={"Spot": {}}),
            "InstanceGroups[compute].CapacityRequirements.Spot",
        ),
        (
            regroup(
                REQUEST, "compute", InstanceStorageConfigs=[{"EbsVolumeConfig": {"VolumeKmsKeyId": "k"}}]
            ),
            "InstanceGroups[compute].InstanceStorageConfigs[EbsVolumeConfig].EbsVolumeConfig.VolumeKmsKeyId",
        ),
        (
            regroup(REQUEST, "compute", SlurmConfig={"NodeType": "Login"}),
            "InstanceGroups[compute].SlurmConfig.NodeType",
        ),
        (
            regroup(
                REQUEST, "compute", InstanceType=None, InstanceRequirements={"InstanceTypes": ["ml.c5.large"]}
            ),
            "InstanceGroups[compute].InstanceRequirements",
        ),
    ],
)
def test_what_is_fixed_for_a_group_is_refused_before_any_call(
    made: Stack, service: HyperPodService, calls: Calls, change: Request, member: str
) -> None:
    response = made.update(change)
    assert not response.ok
    assert member in response.reason
    assert "Give the group another name (for example compute-2)" in response.reason
    assert response.physical_id == "ml"
    assert calls.mutating == []
    assert made.last.ok, "the rollback finds the old cluster as it was"


@pytest.mark.parametrize(
    ("change", "member"),
    [
        ({"VpcConfig": {"Subnets": ["subnet-1"], "SecurityGroupIds": ["sg-1"]}}, "VpcConfig"),
        (
            {"Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k"}}},
            "Orchestrator.Eks",
        ),
    ],
)
def test_20_what_is_fixed_for_a_cluster_is_refused_before_any_call(
    made: Stack, calls: Calls, change: Request, member: str
) -> None:
    response = made.update({**REQUEST, **change})
    assert member in response.reason
    assert "Change ClusterName as well" in response.reason
    assert calls.mutating == []
    assert made.last.ok


def test_every_refusal_is_told_at_once(made: Stack) -> None:
    change = regroup(REQUEST, "compute", InstanceType="ml.c5.xlarge", ExecutionRole=OTHER_ROLE)
    reason = made.update(change).reason
    assert "InstanceGroups[compute].InstanceType" in reason
    assert "InstanceGroups[compute].ExecutionRole" in reason


def test_48_a_new_name_makes_a_new_cluster_before_the_old_one_goes(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    response = made.update({**REQUEST, "ClusterName": "ml-2"})
    assert response.ok, response.reason
    assert response.physical_id == "ml-2"
    assert set(service.clusters) == {"ml-2"}
    assert calls.mutating == ["CreateCluster", "DeleteCluster"]


@pytest.mark.parametrize("after", ["Automatic", None])
def test_a_setting_that_vanished_is_reset_where_the_api_can(
    stack: Stack, service: HyperPodService, after: str | None
) -> None:
    assert stack.create({**REQUEST, "NodeRecovery": "None"}).ok
    assert stack.update({**REQUEST, "NodeRecovery": after}).ok
    assert service.clusters["ml"].settings["NodeRecovery"] == "Automatic"


def test_a_group_member_that_vanished_is_gone(stack: Stack, service: HyperPodService) -> None:
    assert stack.create(regroup(REQUEST, "compute", OnStartDeepHealthChecks=["InstanceStress"])).ok
    assert stack.update(REQUEST).ok
    assert "OnStartDeepHealthChecks" not in service.clusters["ml"].groups["compute"].spec


def test_a_member_that_can_not_be_taken_back_is_refused(stack: Stack, calls: Calls) -> None:
    assert stack.create(regroup(REQUEST, "compute", ThreadsPerCore=1)).ok
    calls.clear()
    response = stack.update(REQUEST)
    assert "InstanceGroups[compute].ThreadsPerCore can not be taken away (it is 1)" in response.reason
    assert calls.mutating == []


def test_all_at_once_becomes_continuous_but_not_back(
    stack: Stack, service: HyperPodService, calls: Calls
) -> None:
    assert stack.create(REQUEST).ok
    continuous = cluster(CONTROLLER, group("compute", count=2), continuous=True, NodeRecovery="Automatic")
    response = stack.update(continuous)
    assert response.ok, response.reason
    assert service.clusters["ml"].is_continuous
    assert "NodeProvisioningMode can not be taken away" in stack.update(REQUEST).reason


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"hyperpod-cdk:stack-id": "another"}, "Request.Tags[hyperpod-cdk:stack-id]: the name is kept"),
        ({f"k{number}": "" for number in range(46)}, "at most 45"),
    ],
)
def test_46_an_update_never_takes_our_tags_from_a_cluster(
    made: Stack, service: HyperPodService, calls: Calls, *, tags: Any, message: str
) -> None:
    """With another's tags it would be nobody's: not updated, and left behind when the stack goes."""
    before = list(service.clusters["ml"].tags)
    response = made.update({**REQUEST, "Tags": [{"Key": key, "Value": value} for key, value in tags.items()]})
    assert message in response.reason
    assert calls.mutating == []
    assert [
        tag for tag in service.clusters["ml"].tags if tag["Key"] != "hyperpod-cdk:newest-update"
    ] == before


def test_48_a_cluster_that_is_gone_is_no_success(made: Stack, service: HyperPodService) -> None:
    service.clusters.clear()
    response = made.update(regroup(REQUEST, "compute", InstanceCount=3))
    assert "cluster ml is gone" in response.reason
    assert "continue-update-rollback" in made.last.reason, "the rollback has nothing to go back to"
    assert response.physical_id == "ml"


def test_46_a_cluster_that_became_anothers_is_not_touched(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    service.clusters["ml"].tags = []
    response = made.update(regroup(REQUEST, "compute", InstanceCount=3))
    assert "is not this stack's any more: it has no tags" in response.reason
    assert calls.mutating == []


def test_what_the_framework_could_not_wait_for_is_refused_before_any_call(
    made: Stack, framework: Framework, calls: Calls
) -> None:
    """Its waiter takes 256 KiB. To fail there, after CreateCluster, would leave an orphan."""
    labels = {"Labels": {f"key-{number}": "v" * 60 for number in range(50)}}

    def labelled(count: int) -> Request:
        return cluster(CONTROLLER, *[group(f"gpu-{n}", KubernetesConfig=labels) for n in range(count)])

    create = Stack(framework=framework, logical_id="Other").create
    assert "bytes; CDK's provider framework takes 126976" in create(labelled(38)).reason
    assert "bytes; CDK's provider framework takes 253952" in made.update(labelled(76)).reason
    assert calls.mutating == []
    assert "provider framework" not in create(labelled(30)).reason
    assert "provider framework" not in made.update(labelled(38)).reason


def test_61_a_throttled_update_goes_through(made: Stack, service: HyperPodService) -> None:
    service.faults.add(Throttle(operation="UpdateCluster", times=3))
    assert made.update(regroup(REQUEST, "compute", InstanceCount=3)).ok


def test_55_properties_of_the_past_never_stop_an_update(
    framework: Framework, made: Stack, calls: Calls
) -> None:
    past = properties(
        {**REQUEST, "Retired": {"Mode": "x"}, "InstanceGroups": "not a list any more"}, Format="0"
    )
    event = made.event("Update", properties(REQUEST), past, "ml")
    response = framework.run(event)
    assert response.ok, response.reason
    assert calls.mutating == []


def test_what_the_service_refuses_is_rolled_back_to_what_was(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    login = group("login", "Login", count=0)
    response = made.update(with_groups(REQUEST, *REQUEST["InstanceGroups"], login))
    assert not response.ok
    assert "must be at least 1" in response.reason
    assert made.last.ok
    assert set(service.clusters["ml"].groups) == {"controller", "compute"}


def test_a_replacement_takes_over_what_is_left_of_an_earlier_one_with_its_tags(
    stack: Stack, service: HyperPodService
) -> None:
    """Its deletion failed once; what it was tagged with then is not asked for now."""
    assert stack.create(cluster(ClusterName="ml-2", Tags=[{"Key": "left", "Value": "over"}])).ok
    before = cluster(Tags=[{"Key": "kept", "Value": "v"}])
    stack.physical_id, stack.current = "", {}
    assert stack.create(before).ok
    assert stack.update({**before, "ClusterName": "ml-2"}).ok
    tags = {tag["Key"] for tag in service.clusters["ml-2"].tags if not tag["Key"].startswith("hyperpod-cdk:")}
    assert tags == {"kept"}
