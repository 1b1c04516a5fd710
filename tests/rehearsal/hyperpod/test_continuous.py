"""Continuous provisioning: order, partial capacity, retries, MinInstanceCount, events."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import (
    HyperPodService,
    InsufficientCapacity,
    LifecycleFailure,
    UpdateRollsBack,
)
from tests.rehearsal.hyperpod.samples import Account, counts, nodes, status

Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]
HOUR = 3600


def group_status(sagemaker: Any, name: str) -> str:
    groups = sagemaker.describe_cluster(ClusterName="ml")["InstanceGroups"]
    return next(str(group["Status"]) for group in groups if group["InstanceGroupName"] == name)


@pytest.fixture
def request_(account: Account) -> dict[str, Any]:
    return account.cluster(
        account.group("compute", count=3),
        account.group("controller", "Controller"),
        account.group("login", "Login"),
        continuous=True,
    )


def test_controller_comes_first(request_: Any, service: HyperPodService, sagemaker: Any) -> None:
    sagemaker.create_cluster(**request_)
    service.clock.advance(500)
    assert [node["InstanceGroupName"] for node in nodes(sagemaker)] == ["controller"]
    service.clock.advance(100)
    assert {node["InstanceGroupName"] for node in nodes(sagemaker)} == {"controller", "login", "compute"}
    assert status(sagemaker) == "Creating"
    service.clock.advance(500)
    assert status(sagemaker) == "InService"


def test_minimum_that_nobody_gave(request_: Any, in_service: Create) -> None:
    groups = in_service(**request_)["InstanceGroups"]
    assert {group["InstanceGroupName"]: group["MinCount"] for group in groups} == {
        "compute": 0,
        "controller": 1,
        "login": 1,
    }


def test_in_service_without_compute(request_: Any, service: HyperPodService, in_service: Create) -> None:
    service.faults.add(InsufficientCapacity(group="compute"))
    described = in_service(**request_)
    assert described["ClusterStatus"] == "InService"
    states = {group["InstanceGroupName"]: group for group in described["InstanceGroups"]}
    assert (states["compute"]["CurrentCount"], states["compute"]["TargetCount"]) == (0, 3)
    assert states["compute"]["Status"] == "Degraded"


def test_not_in_service_without_login(request_: Any, service: HyperPodService, in_service: Create) -> None:
    service.faults.add(InsufficientCapacity(group="login", times=4))
    assert in_service(**request_)["ClusterStatus"] == "Creating"


def test_failed_nodes_are_tried_again(
    request_: Any, service: HyperPodService, in_service: Create, sagemaker: Any
) -> None:
    service.faults.add(LifecycleFailure(group="compute", nodes=frozenset({2}), times=2))
    in_service(**request_)
    assert counts(sagemaker)["compute"] == (2, 3)
    service.clock.advance(2 * HOUR)
    assert counts(sagemaker)["compute"] == (3, 3)
    assert group_status(sagemaker, "compute") == "InService"
    levels = [event["EventLevel"] for event in sagemaker.list_cluster_events(ClusterName="ml")["Events"]]
    assert levels.count("Error") == 2


@pytest.mark.parametrize("fault", [LifecycleFailure, InsufficientCapacity])
def test_failed_controller_fails_the_creation(
    request_: Any, service: HyperPodService, in_service: Create, fault: Any, sagemaker: Any
) -> None:
    service.faults.add(fault(group="controller"))
    described = in_service(**request_)
    assert described["ClusterStatus"] == "Failed"
    assert described["FailureMessage"]
    service.settle()
    assert nodes(sagemaker) == []


def test_login_that_never_comes_fails_the_creation(
    request_: Any, service: HyperPodService, in_service: Create, sagemaker: Any
) -> None:
    service.faults.add(LifecycleFailure(group="login"))
    in_service(**request_)
    service.clock.advance(HOUR)
    described = sagemaker.describe_cluster(ClusterName="ml")
    assert described["ClusterStatus"] == "Failed"
    assert "controller and login nodes did not become ready" in described["FailureMessage"]


def test_minimum_is_waited_for(
    account: Account, service: HyperPodService, in_service: Create, sagemaker: Any, refused: Refused
) -> None:
    service.faults.add(InsufficientCapacity(group="compute", nodes=frozenset({3}), times=4))
    in_service(
        **account.cluster(
            account.group("controller", "Controller"),
            account.group("compute", count=3, MinInstanceCount=3),
            continuous=True,
        )
    )
    assert (status(sagemaker), group_status(sagemaker, "compute")) == ("InService", "Creating")
    code, message = refused(sagemaker.update_cluster_software, ClusterName="ml")
    assert code == "ConflictException"
    assert "wait for their MinInstanceCount: compute" in message
    service.clock.advance(HOUR)
    assert (group_status(sagemaker, "compute"), counts(sagemaker)["compute"]) == ("InService", (3, 3))


def test_a_node_taken_away_on_its_way_leaves_its_place_to_another(
    request_: Any, service: HyperPodService, in_service: Create, sagemaker: Any
) -> None:
    in_service(**request_)
    compute = request_["InstanceGroups"][0]
    for count in (9, 1, 9):
        groups = [{**compute, "InstanceCount": count}]
        sagemaker.update_cluster(ClusterName="ml", InstanceGroups=groups)
        service.clock.advance(service.durations.settings + service.durations.launch / 2)
    service.clock.advance(HOUR)
    assert counts(sagemaker)["compute"] == (9, 9)


def test_minimum_that_is_not_met_empties_a_new_group(
    account: Account, service: HyperPodService, in_service: Create, sagemaker: Any
) -> None:
    service.faults.add(InsufficientCapacity(group="compute", nodes=frozenset({3})))
    in_service(
        **account.cluster(
            account.group("controller", "Controller"),
            account.group("compute", count=3, MinInstanceCount=3),
            continuous=True,
        )
    )
    service.clock.advance(3 * HOUR)
    assert (group_status(sagemaker, "compute"), counts(sagemaker)["compute"]) == ("InService", (0, 0))
    warnings = [
        event["Description"]
        for event in sagemaker.list_cluster_events(ClusterName="ml")["Events"]
        if event["EventLevel"] == "Warn"
    ]
    assert warnings == ["Instance group compute was rolled back."]


def test_minimum_that_is_not_met_restores_an_old_group(
    request_: Any, account: Account, service: HyperPodService, in_service: Create, sagemaker: Any
) -> None:
    in_service(**request_)
    service.faults.add(InsufficientCapacity(group="compute"))
    update = account.group("compute", count=5, MinInstanceCount=5)
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[update])
    service.clock.advance(HOUR)
    assert (group_status(sagemaker, "compute"), counts(sagemaker)["compute"]) == ("Updating", (3, 5))
    service.clock.advance(2 * HOUR)
    assert (group_status(sagemaker, "compute"), counts(sagemaker)["compute"]) == ("InService", (3, 3))


def test_update_starts_the_wait_anew(
    request_: Any, account: Account, service: HyperPodService, in_service: Create, sagemaker: Any
) -> None:
    in_service(**request_)
    service.faults.add(InsufficientCapacity(group="compute"))
    for count in (5, 6):
        update = account.group("compute", count=count, MinInstanceCount=count)
        sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[update])
        service.clock.advance(2 * HOUR)
    assert (group_status(sagemaker, "compute"), counts(sagemaker)["compute"]) == ("Updating", (3, 6))
    service.clock.advance(HOUR)
    assert (group_status(sagemaker, "compute"), counts(sagemaker)["compute"]) == ("InService", (3, 3))


def test_update_is_in_service_before_its_nodes(
    request_: Any, account: Account, service: HyperPodService, in_service: Create, sagemaker: Any
) -> None:
    in_service(**request_)
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("compute", count=5)])
    assert status(sagemaker) == "Updating"
    service.clock.advance(60)
    assert (status(sagemaker), counts(sagemaker)["compute"]) == ("InService", (3, 5))
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("compute", count=4)])
    service.clock.advance(900)
    assert counts(sagemaker)["compute"] == (4, 4)
    assert len(nodes(sagemaker, InstanceGroupNameContains="compute")) == 4


def test_group_goes_when_its_nodes_are_gone(
    request_: Any, service: HyperPodService, in_service: Create, sagemaker: Any
) -> None:
    in_service(**request_)
    sagemaker.update_cluster(ClusterName="ml", InstanceGroupsToDelete=["compute"])
    service.clock.advance(60)
    assert group_status(sagemaker, "compute") == "Deleting"
    service.clock.advance(200)
    assert set(counts(sagemaker)) == {"controller", "login"}


def test_failed_update_rolls_back(
    request_: Any, account: Account, service: HyperPodService, in_service: Create, sagemaker: Any
) -> None:
    in_service(**request_)
    service.faults.add(UpdateRollsBack(reason="Partition configuration drift/mismatch detected."))
    sagemaker.update_cluster(
        ClusterName="ml",
        InstanceGroups=[account.group("compute", count=5), account.group("more")],
    )
    service.clock.advance(30)
    assert status(sagemaker) == "RollingBack"
    service.settle()
    described = sagemaker.describe_cluster(ClusterName="ml")
    assert described["FailureMessage"] == "Partition configuration drift/mismatch detected."
    assert counts(sagemaker) == {"compute": (3, 3), "controller": (1, 1), "login": (1, 1)}
    assert len(nodes(sagemaker)) == 5


def test_events(request_: Any, in_service: Create, sagemaker: Any, refused: Refused) -> None:
    in_service(**request_)
    newest_first = sagemaker.list_cluster_events(ClusterName="ml")["Events"]
    assert newest_first[-1]["Description"] == "Cluster creation started."
    of_login = sagemaker.list_cluster_events(
        ClusterName="ml", InstanceGroupName="login", ResourceType="Instance", SortOrder="Ascending"
    )["Events"]
    assert [event["Description"].split()[0] for event in of_login] == ["Launching", "Instance"]
    details = sagemaker.describe_cluster_event(ClusterName="ml", EventId=of_login[0]["EventId"])
    metadata = details["EventDetails"]["EventDetails"]["EventMetadata"]["Instance"]
    assert metadata["CustomerEni"].startswith("eni-")
    unknown = "00000000-0000-0000-0000-000000000000"
    code, _ = refused(sagemaker.describe_cluster_event, ClusterName="ml", EventId=unknown)
    assert code == "ResourceNotFound"


def test_no_events_otherwise(in_service: Create, sagemaker: Any, refused: Refused) -> None:
    in_service()
    code, message = refused(sagemaker.list_cluster_events, ClusterName="ml")
    assert code == "ValidationException"
    assert "Continuous" in message


def test_eks_starts_empty(account: Account, in_service: Create, sagemaker: Any) -> None:
    described = in_service(
        ClusterName="ml",
        Orchestrator={"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k8s"}},
        VpcConfig=account.vpc_config,
        NodeProvisioningMode="Continuous",
    )
    assert (described["ClusterStatus"], described["InstanceGroups"]) == ("InService", [])
