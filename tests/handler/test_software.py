"""Images and release versions, by UpdateClusterSoftware."""

from collections.abc import Iterator

import pytest
from handler.clients import Aws

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService, LifecycleFailure
from tests.handler.cloudformation import Stack
from tests.handler.conftest import Calls
from tests.handler.images import images_in
from tests.handler.samples import Request, cluster, group, regroup

OLD, NEW = "ami-0123456789abcdef0", "ami-0fedcba9876543210"
ROLLING = {
    "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}},
    "WaitIntervalInSeconds": 60,
}
REQUEST = cluster(
    group("controller", "Controller", ImageId=OLD),
    group("compute", count=2, ImageId=OLD),
    group("gpu", count=2, ImageId=OLD),
)


@pytest.fixture
def made(stack: Stack, calls: Calls, aws: Aws) -> Iterator[Stack]:
    with images_in(aws, OLD):
        assert stack.create(REQUEST).ok
    calls.clear()
    yield stack


def images(service: HyperPodService) -> dict[str, str]:
    return {node.group_name: node.image_id for node in service.clusters["ml"].nodes}


def test_a_new_image_is_a_software_update_of_that_group(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    response = made.update(regroup(REQUEST, "gpu", ImageId=NEW), DeploymentConfig=ROLLING)
    assert response.ok, response.reason
    assert images(service) == {"controller": OLD, "compute": OLD, "gpu": NEW}
    assert calls.mutating == ["UpdateClusterSoftware"]
    assert calls.sent("UpdateClusterSoftware") == [
        {
            "ClusterName": "ml",
            "ImageId": NEW,
            "InstanceGroups": [{"InstanceGroupName": "gpu"}],
            "DeploymentConfig": ROLLING,
        }
    ]


def test_groups_with_one_image_go_together(made: Stack, service: HyperPodService, calls: Calls) -> None:
    both = regroup(regroup(REQUEST, "gpu", ImageId=NEW), "compute", ImageId=NEW)
    assert made.update(both).ok
    (sent,) = calls.sent("UpdateClusterSoftware")
    assert [entry["InstanceGroupName"] for entry in sent["InstanceGroups"]] == ["compute", "gpu"]
    assert "DeploymentConfig" not in sent


def test_groups_with_one_image_go_one_after_the_other_where_asked(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    both = regroup(regroup(REQUEST, "gpu", ImageId=NEW), "compute", ImageId=NEW)
    assert made.update(both, DeploymentConfig=ROLLING, GroupByGroup=True).ok
    sent = calls.sent("UpdateClusterSoftware")
    assert [[entry["InstanceGroupName"] for entry in one["InstanceGroups"]] for one in sent] == [
        ["compute"],
        ["gpu"],
    ]
    assert [one["DeploymentConfig"] for one in sent] == [ROLLING, ROLLING]
    assert images(service) == {"controller": OLD, "compute": NEW, "gpu": NEW}


def test_the_rolling_policy_of_the_groups_schedule_holds(made: Stack, calls: Calls) -> None:
    schedule = {"ScheduleExpression": "cron(0 3 ? * SUN *)", "DeploymentConfig": ROLLING}
    assert made.update(regroup(REQUEST, "gpu", ImageId=NEW, ScheduledUpdateConfig=schedule)).ok
    assert calls.sent("UpdateClusterSoftware")[0]["DeploymentConfig"] == ROLLING


def test_images_and_nodes_change_one_after_the_other(
    made: Stack, service: HyperPodService, calls: Calls
) -> None:
    """Each call makes the cluster busy: the next waits on the cluster for its turn."""
    other = "ami-0aaaaaaaaaaaaaaaa"
    wanted = regroup(REQUEST, "gpu", ImageId=NEW, InstanceCount=3)
    response = made.update(regroup(wanted, "compute", ImageId=other))
    assert response.ok, response.reason
    assert images(service) == {"controller": OLD, "compute": other, "gpu": NEW}
    assert service.clusters["ml"].groups["gpu"].target == 3
    steps = [name for name in calls.mutating if name.startswith("UpdateCluster")]
    assert steps == ["UpdateCluster", "UpdateClusterSoftware", "UpdateClusterSoftware"]
    assert "hyperpod-cdk:pending-update" not in {tag["Key"] for tag in service.clusters["ml"].tags}


def test_the_call_for_nodes_leaves_the_image_as_it_runs(made: Stack, calls: Calls) -> None:
    assert made.update(regroup(REQUEST, "gpu", ImageId=NEW, InstanceCount=3)).ok
    (sent,) = calls.sent("UpdateCluster")
    assert {entry["ImageId"] for entry in sent["InstanceGroups"]} == {OLD}


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_a_release_version_is_given_for_each_group(
    stack: Stack, service: HyperPodService, calls: Calls, version: str
) -> None:
    plain = cluster()
    assert stack.create(plain).ok
    calls.clear()
    response = stack.update(regroup(plain, "compute", ImageReleaseVersion=version))
    assert response.ok, response.reason
    assert service.clusters["ml"].groups["compute"].image_release == version
    entry = {"InstanceGroupName": "compute", "ImageReleaseVersion": version}
    expected = [] if version == service.image_release else [{"ClusterName": "ml", "InstanceGroups": [entry]}]
    assert calls.sent("UpdateClusterSoftware") == expected
    calls.clear()
    assert stack.update(plain).ok
    assert calls.mutating == [], "no release version means any"


def test_a_software_update_that_fails_is_no_success(made: Stack, service: HyperPodService) -> None:
    service.faults.add(LifecycleFailure(group="gpu", lines=("driver does not load",), times=1))
    response = made.update(regroup(REQUEST, "gpu", ImageId=NEW))
    assert not response.ok
    assert "did not keep InstanceGroups[gpu].ImageId" in response.reason
    assert made.last.ok


def test_an_image_that_vanished_goes_back_to_hyperpods_own(made: Stack, calls: Calls) -> None:
    wanted: Request = regroup(REQUEST, "gpu", ImageId=None)
    response = made.update(wanted)
    assert response.ok, response.reason
    assert calls.sent("UpdateClusterSoftware")[0]["ImageId"] == "default"
