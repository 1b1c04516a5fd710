"""UpdateCluster, all or nothing: what it changes, what it refuses, and the way back."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import (
    HyperPodService,
    InsufficientCapacity,
    LifecycleFailure,
    NodeSetupResult,
    UpdateRollsBack,
)
from tests.rehearsal.hyperpod.samples import Account, client, counts, nodes, status

Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]


def test_scale_up(in_service: Create, account: Account, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    before = {node["InstanceId"] for node in nodes(sagemaker)}
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("compute", count=4)])
    assert (status(sagemaker), counts(sagemaker)["compute"]) == ("Updating", (2, 4))
    service.clock.advance(700)
    assert (status(sagemaker), counts(sagemaker)["compute"]) == ("InService", (4, 4))
    assert before < {node["InstanceId"] for node in nodes(sagemaker)}


def test_scale_down(in_service: Create, account: Account, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    before = {node["InstanceId"] for node in nodes(sagemaker)}
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("compute", count=0)])
    service.clock.advance(100)
    leaving = [node for node in nodes(sagemaker) if node["InstanceStatus"]["Status"] == "ShuttingDown"]
    assert len(leaving) == 2
    service.clock.advance(200)
    assert (status(sagemaker), counts(sagemaker)["compute"]) == ("InService", (0, 0))
    assert {node["InstanceId"] for node in nodes(sagemaker)} < before


def test_add_a_group(in_service: Create, account: Account, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("login", "Login")])
    service.clock.advance(700)
    assert counts(sagemaker) == {"controller": (1, 1), "compute": (2, 2), "login": (1, 1)}


def test_remove_a_group(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any
) -> None:
    in_service()
    sagemaker.update_cluster(ClusterName="ml", InstanceGroupsToDelete=["compute"])
    groups = sagemaker.describe_cluster(ClusterName="ml")["InstanceGroups"]
    assert [(group["InstanceGroupName"], group["Status"]) for group in groups] == [
        ("controller", "InService"),
        ("compute", "Deleting"),
    ]
    service.clock.advance(400)
    assert (status(sagemaker), counts(sagemaker)) == ("InService", {"controller": (1, 1)})
    assert len(nodes(sagemaker)) == 1


def test_groups_that_are_not_named_stay(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any
) -> None:
    in_service()
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("compute", count=1)])
    service.clock.advance(400)
    assert counts(sagemaker) == {"controller": (1, 1), "compute": (1, 1)}


def test_new_scripts_are_for_new_nodes(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any
) -> None:
    in_service()
    old, new = account.scripts, "s3://sagemaker-scripts/other"
    config = {"SourceS3Uri": new, "OnInitComplete": "x.sh"}
    service.node_setup = lambda setup: NodeSetupResult()
    sagemaker.update_cluster(
        ClusterName="ml", InstanceGroups=[account.group("compute", count=3, LifeCycleConfig=config)]
    )
    service.clock.advance(900)
    uris = [
        sagemaker.describe_cluster_node(ClusterName="ml", NodeId=node["InstanceId"])["NodeDetails"][
            "LifeCycleConfig"
        ]["SourceS3Uri"]
        for node in nodes(sagemaker)
    ]
    assert uris == [old, old, old, new]


def test_settings(in_service: Create, account: Account, service: HyperPodService, sagemaker: Any) -> None:
    in_service()
    slurm = {"Slurm": {"SlurmConfigStrategy": "Overwrite"}}
    sagemaker.update_cluster(ClusterName="ml", NodeRecovery="None", Orchestrator=slurm)
    assert status(sagemaker) == "Updating"
    service.clock.advance(30)
    described = sagemaker.describe_cluster(ClusterName="ml")
    assert (described["ClusterStatus"], described["NodeRecovery"], described["Orchestrator"]) == (
        "InService",
        "None",
        slurm,
    )


def test_change_to_continuous_drops_the_strategy(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any
) -> None:
    in_service()
    sagemaker.update_cluster(ClusterName="ml", NodeProvisioningMode="Continuous")
    service.clock.advance(60)
    described = sagemaker.describe_cluster(ClusterName="ml")
    assert (described["ClusterStatus"], described["Orchestrator"]) == ("InService", {"Slurm": {}})


FAILURES = {
    "script": (LifecycleFailure(group="compute", nodes=frozenset({4})), "Lifecycle scripts did not run"),
    "capacity": (InsufficientCapacity(group="compute"), "sufficient capacity"),
    "drift": (UpdateRollsBack(reason="Configuration drift detected."), "Configuration drift detected."),
}


@pytest.mark.parametrize(("fault", "text"), FAILURES.values(), ids=FAILURES)
def test_failed_update_rolls_back(
    in_service: Create, account: Account, service: HyperPodService, fault: Any, text: str
) -> None:
    sagemaker = client("sagemaker")
    in_service()
    before = {node["InstanceId"] for node in nodes(sagemaker)}
    service.faults.add(fault)
    sagemaker.update_cluster(
        ClusterName="ml",
        InstanceGroups=[account.group("compute", count=4), account.group("login", "Login")],
        NodeRecovery="None",
    )
    seen = [status(sagemaker)]
    for _ in range(20):
        service.clock.advance(60)
        seen.append(status(sagemaker))
    assert list(dict.fromkeys(seen)) == ["Updating", "RollingBack", "InService"]
    described = sagemaker.describe_cluster(ClusterName="ml")
    assert text in described["FailureMessage"]
    assert "NodeRecovery" not in described
    assert counts(sagemaker) == {"controller": (1, 1), "compute": (2, 2)}
    assert {node["InstanceId"] for node in nodes(sagemaker)} == before
    assert {group["Status"] for group in described["InstanceGroups"]} == {"InService"}


def test_next_update_takes_the_old_failure_away(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any
) -> None:
    in_service()
    service.faults.add(UpdateRollsBack())
    for count in (3, 4):
        sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[account.group("compute", count=count)])
        service.clock.advance(900)
    assert sagemaker.describe_cluster(ClusterName="ml").get("FailureMessage", "") == ""
    assert counts(sagemaker)["compute"] == (4, 4)


def test_only_in_service(
    account: Account, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    sagemaker.create_cluster(**account.cluster())
    update = {"ClusterName": "ml", "InstanceGroups": [account.group("compute", count=3)]}
    code, message = refused(sagemaker.update_cluster, **update)
    assert code == "ConflictException"
    assert "Creating" in message
    service.clock.advance(700)
    sagemaker.update_cluster(**update)
    assert refused(sagemaker.update_cluster, **update)[0] == "ConflictException"


def test_unknown_cluster(sagemaker: Any, refused: Refused) -> None:
    assert refused(sagemaker.update_cluster, ClusterName="no", NodeRecovery="None")[0] == "ResourceNotFound"


def test_missing_role_of_a_new_group(
    in_service: Create, account: Account, sagemaker: Any, refused: Refused
) -> None:
    in_service()
    login = {**account.group("login", "Login"), "ExecutionRole": "arn:aws:iam::123456789012:role/no"}
    code, message = refused(sagemaker.update_cluster, ClusterName="ml", InstanceGroups=[login])
    assert code == "ValidationException"
    assert "Could not assume role" in message
    assert status(sagemaker) == "InService"


WITH_KEY = {"VolumeSizeInGB": 1, "VolumeKmsKeyId": "k"}
Changes = Callable[[Account], dict[str, Any]]
REFUSALS: dict[str, tuple[Changes, str]] = {
    "type": (
        lambda account: {"InstanceGroups": [account.group("compute", InstanceType="ml.c5.xlarge")]},
        "InstanceType of instance group 'compute' can not be changed from ml.c5.large to ml.c5.xlarge",
    ),
    "threads": (
        lambda account: {"InstanceGroups": [account.group("compute", ThreadsPerCore=1)]},
        "ThreadsPerCore of instance group 'compute' can not be changed",
    ),
    "capacity": (
        lambda account: {"InstanceGroups": [account.group("compute", CapacityRequirements={"OnDemand": {}})]},
        "CapacityRequirements of instance group 'compute' can not be changed",
    ),
    "role": (
        lambda account: {
            "InstanceGroups": [account.group("compute", ExecutionRole="arn:aws:iam::123456789012:role/other")]
        },
        "ExecutionRole of instance group 'compute' can not be changed",
    ),
    "network": (
        lambda account: {"InstanceGroups": [account.group("compute", OverrideVpcConfig=account.vpc_config)]},
        "OverrideVpcConfig of instance group 'compute' can not be changed",
    ),
    "node type": (
        lambda account: {"InstanceGroups": [account.group("compute", SlurmConfig={"NodeType": "Login"})]},
        "NodeType of instance group 'compute' can not be changed from Compute to Login",
    ),
    "kind of type": (
        lambda account: {
            "InstanceGroups": [
                account.group("compute", InstanceRequirements={"InstanceTypes": ["ml.c5.large"]})
            ]
        },
        "can not change from InstanceType to InstanceRequirements",
    ),
    "key": (
        lambda account: {
            "InstanceGroups": [
                account.group(
                    "compute",
                    InstanceStorageConfigs=[
                        {"EbsVolumeConfig": {"VolumeSizeInGB": 1, "VolumeKmsKeyId": "k"}}
                    ],
                )
            ]
        },
        "VolumeKmsKeyId of instance group 'compute' can not be changed",
    ),
    "empty new group": (
        lambda account: {"InstanceGroups": [account.group("new", count=0)]},
        "InstanceCount of the new instance group 'new' must be at least 1",
    ),
    "controller removed": (
        lambda account: {"InstanceGroupsToDelete": ["controller"]},
        "The Controller instance group 'controller' can not be deleted",
    ),
    "unknown group removed": (lambda account: {"InstanceGroupsToDelete": ["no"]}, "'no' in InstanceGroups"),
    "group kept and removed": (
        lambda account: {
            "InstanceGroups": [account.group("compute")],
            "InstanceGroupsToDelete": ["compute"],
        },
        "must not be in both",
    ),
    "second controller": (
        lambda account: {"InstanceGroups": [account.group("other", "Controller")]},
        "exactly one InstanceGroup with Controller node type",
    ),
    "controller scaled": (
        lambda account: {"InstanceGroups": [account.group("controller", "Controller", count=2)]},
        "must be 1 with SlurmConfig",
    ),
    "Slurm to EKS": (
        lambda account: {
            "Orchestrator": {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k8s"}}
        },
        "can not be changed",
    ),
}


@pytest.mark.parametrize(("change", "text"), REFUSALS.values(), ids=REFUSALS)
def test_refused(in_service: Create, account: Account, refused: Refused, change: Changes, text: str) -> None:
    sagemaker = client("sagemaker")
    in_service()
    code, message = refused(sagemaker.update_cluster, ClusterName="ml", **change(account))
    assert code == "ValidationException"
    assert text in message
    assert status(sagemaker) == "InService"


def test_fixed_members_may_be_left_out(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any
) -> None:
    group = account.group("compute", ThreadsPerCore=2)
    in_service(**account.cluster(account.group("controller", "Controller"), group))
    del group["ThreadsPerCore"], group["SlurmConfig"]
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[{**group, "InstanceCount": 2}])
    service.clock.advance(900)
    described = sagemaker.describe_cluster(ClusterName="ml")["InstanceGroups"][1]
    assert (described["CurrentCount"], described["ThreadsPerCore"]) == (2, 2)
    assert described["SlurmConfig"]["NodeType"] == "Compute"


def test_no_update_of_eks_during_deep_health_checks(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    eks = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k8s"}}
    checked = account.group("checked", None, OnStartDeepHealthChecks=["InstanceStress"])
    checked["InstanceType"] = "ml.g5.8xlarge"
    in_service(**account.cluster(checked, Orchestrator=eks))
    update = {"ClusterName": "ml", "NodeRecovery": "None"}
    code, message = refused(sagemaker.update_cluster, **update)
    assert (code, "deep health checks run on i-" in message) == ("ConflictException", True)
    service.settle()
    assert sagemaker.update_cluster(**update)["ClusterArn"]


def test_flexible_type_in_use_stays(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    def flexible(*types: str) -> dict[str, Any]:
        group = account.group("compute", InstanceRequirements={"InstanceTypes": list(types)})
        del group["InstanceType"]
        return group

    controller = account.group("controller", "Controller")
    in_service(**account.cluster(controller, flexible("ml.c5.large", "ml.c5.xlarge"), continuous=True))
    service.settle()
    _, message = refused(
        sagemaker.update_cluster, ClusterName="ml", InstanceGroups=[flexible("ml.c5.xlarge")]
    )
    assert "Instance types ml.c5.large of instance group 'compute' can not be removed" in message
    sagemaker.update_cluster(ClusterName="ml", InstanceGroups=[flexible("ml.c5.large")])


def test_last_group_stays(account: Account, in_service: Create, sagemaker: Any, refused: Refused) -> None:
    request = account.cluster(account.group("only", None))
    del request["Orchestrator"]
    in_service(**request)
    _, message = refused(sagemaker.update_cluster, ClusterName="ml", InstanceGroupsToDelete=["only"])
    assert message == "At least one instance group must remain in the cluster."
