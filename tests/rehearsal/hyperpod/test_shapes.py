"""Every answer is of the output shape of botocore's model, member by member."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import GovernanceFails, HyperPodService, LifecycleFailure, model
from hyperpod_cdk.rehearsal.hyperpod.governance import POLICY, QUOTA, Kind
from hyperpod_cdk.rehearsal.hyperpod.operations import OPERATIONS, governance
from tests.rehearsal.hyperpod.samples import Account

Request = dict[str, Any]
Call = Callable[[str, Request], Request]
PLAN = {
    "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:123456789012:training-plan/big",
    "TrainingPlanName": "big",
    "Status": "Active",
}
ROLLING = {
    "RollingUpdatePolicy": {"MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1}},
    "WaitIntervalInSeconds": 0,
}


def as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: as_json(member) for name, member in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value.timestamp() if isinstance(value, datetime) else value


seen: set[str] = set()


@pytest.fixture
def call(service: HyperPodService) -> Call:
    """Call the service and compare the answer with its shape."""
    seen.clear()

    def checked(operation: str, request: Request) -> Request:
        answer = service.call(operation, request)
        shape = model.operation(operation).output_shape
        assert answer == {} if shape is None else model.breaches(as_json(answer), shape) == []
        seen.add(operation)
        return answer

    return checked


def slurm_request(account: Account) -> Request:
    """A request with every member that a Slurm cluster can have."""
    storage = [
        {"EbsVolumeConfig": {"RootVolume": True, "VolumeKmsKeyId": "key"}},
        {"EbsVolumeConfig": {"VolumeSizeInGB": 500}},
        {"FsxLustreConfig": {"DnsName": "fs-0123456789abcdef0.fsx.aws", "MountName": "abc"}},
        {"FsxOpenZfsConfig": {"DnsName": "fs-1123456789abcdef0.fsx.aws", "MountPath": "/data"}},
    ]
    compute = account.group(
        "compute",
        count=2,
        InstanceType="ml.c5n.18xlarge",
        ThreadsPerCore=1,
        InstanceStorageConfigs=storage,
        OnStartDeepHealthChecks=["InstanceStress"],
        TrainingPlanArn="arn:aws:sagemaker:us-west-2:123456789012:training-plan/big",
        OverrideVpcConfig=account.vpc_config,
        ScheduledUpdateConfig={"ScheduleExpression": "cron(0 0 ? * SUN *)", "DeploymentConfig": ROLLING},
        ImageId="default",
        ImageReleaseVersion="1.2.3",
        MinInstanceCount=1,
        CapacityRequirements={"Spot": {}},
        NetworkInterface={"InterfaceType": "efa"},
    )
    flexible = account.group(
        "flexible", InstanceRequirements={"InstanceTypes": ["ml.c5.large", "ml.g5.xlarge"]}
    )
    del flexible["InstanceType"]
    controller = account.group("controller", "Controller")
    database = {
        "Endpoint": "db.example.com",
        "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:x",
    }
    return account.cluster(
        controller,
        compute,
        flexible,
        continuous=True,
        Orchestrator={"Slurm": {"AccountingDatabase": database}},
        NodeRecovery="Automatic",
        Tags=[{"Key": "k", "Value": "v"}],
    )


def eks_request(account: Account) -> Request:
    """A request with every member that only a cluster on Amazon EKS can have."""
    fsx = {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}
    group = account.group(
        "pool",
        None,
        KubernetesConfig={"Labels": {"a": "b"}, "Taints": [{"Key": "a", "Effect": "NoSchedule"}]},
        AutoPatchConfig={"PatchingStrategy": "WhenIdle", "PatchSchedule": {"NextPatchDate": 1800000000}},
    )
    restricted = account.group("restricted", None)
    del restricted["LifeCycleConfig"]
    restricted["EnvironmentConfig"] = {"FSxLustreConfig": fsx}
    shared = {"FSxLustreDeletionPolicy": "Keep", "FSxLustreConfig": fsx}
    return account.cluster(
        group,
        ClusterName="k8s",
        RestrictedInstanceGroups=[restricted],
        RestrictedInstanceGroupsConfig={"SharedEnvironmentConfig": shared},
        NodeProvisioningMode="Continuous",
        Orchestrator={"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k8s"}},
        AutoScaling={"Mode": "Enable", "AutoScalerType": "Karpenter"},
        ClusterRole=account.scaling_role_arn,
        TieredStorageConfig={"Mode": "Enable", "InstanceMemoryAllocationPercentage": 30},
    )


def read_all(call: Call, name: str) -> list[Request]:
    """Ask everything that can be asked of a cluster; gives its nodes."""
    call("DescribeCluster", {"ClusterName": name})
    call("ListClusters", {})
    listed = call("ListClusterNodes", {"ClusterName": name, "IncludeNodeLogicalIds": True})
    summaries: list[Request] = listed["ClusterNodeSummaries"]
    for node in summaries:
        call("DescribeClusterNode", {"ClusterName": name, "NodeId": node["InstanceId"]})
    for event in call("ListClusterEvents", {"ClusterName": name})["Events"]:
        call("DescribeClusterEvent", {"ClusterName": name, "EventId": event["EventId"]})
    return summaries


def test_answers_of_a_slurm_cluster(account: Account, service: HyperPodService, call: Call) -> None:
    service.faults.add(LifecycleFailure(group="compute", nodes=frozenset({2}), times=1))
    name = {"ClusterName": "ml"}
    call("CreateCluster", slurm_request(account))
    for _ in range(5):
        read_all(call, "ml")
        service.clock.advance(450)
    service.settle()
    ids = [node["InstanceId"] for node in read_all(call, "ml") if node["InstanceGroupName"] == "compute"]
    call("BatchRebootClusterNodes", {**name, "NodeIds": [*ids, "i-00000000000000000"]})
    service.settle()
    call("BatchReplaceClusterNodes", {**name, "NodeIds": [ids[0], "i-00000000000000000"]})
    more = [{"InstanceGroupName": group, "IncrementTargetCountBy": 1} for group in ("flexible", "none")]
    call("BatchAddClusterNodes", {**name, "NodesToAdd": more})
    service.settle()
    unknown = {"NodeIds": ["i-00000000000000000"], "NodeLogicalIds": ["node-x"]}
    call("BatchDeleteClusterNodes", {**name, "NodeIds": [ids[1], *unknown["NodeIds"]]})
    service.settle()
    service.image_release = "2.0.0"
    call("UpdateClusterSoftware", {**name, "DeploymentConfig": ROLLING})
    read_all(call, "ml")
    service.settle()
    call("UpdateCluster", {**name, "InstanceGroupsToDelete": ["flexible"]})
    read_all(call, "ml")
    service.settle()
    call("DeleteCluster", name)
    read_all(call, "ml")
    service.training_plans["big"] = PLAN
    call("DescribeTrainingPlan", {"TrainingPlanName": "big"})
    assert seen | set(governance.OPERATIONS) == set(OPERATIONS)


def test_answers_of_an_eks_cluster(account: Account, service: HyperPodService, call: Call) -> None:
    arn = call("CreateCluster", eks_request(account))["ClusterArn"]
    service.settle()
    nodes = read_all(call, "k8s")
    assert {node["InstanceGroupName"] for node in nodes} == {"pool", "restricted"}
    quota = {
        "ComputeQuotaConfig": {
            "ComputeQuotaResources": [{"InstanceType": "ml.p4d.24xlarge", "Count": 1}],
            "ResourceSharingConfig": {"Strategy": "LendAndBorrow", "BorrowLimit": 100},
        },
        "ComputeQuotaTarget": {"TeamName": "a", "FairShareWeight": 10},
        "Description": "a's",
    }
    classes = [{"Name": "inference", "Weight": 100}]
    govern(call, service, QUOTA, {"ClusterArn": arn, **quota})
    govern(call, service, POLICY, {"ClusterArn": arn, "SchedulerConfig": {"PriorityClasses": classes}})
    assert set(governance.OPERATIONS) <= seen


def govern(call: Call, service: HyperPodService, kind: Kind, request: Request) -> None:
    """The life of a quota or policy, looked at after each step; it fails once."""
    tags = [{"Key": "k", "Value": "v"}]
    wanted = {
        kind.id_member: call(f"Create{kind.word}", {"Name": "a", "Tags": tags, **request})[kind.id_member]
    }
    service.settle()
    service.faults.add(GovernanceFails())
    changes = {name: value for name, value in request.items() if name in kind.members}
    call(f"Update{kind.word}", {**wanted, "TargetVersion": 1, **changes})
    for _ in range(2):
        call(f"Describe{kind.word}", wanted)
        call(f"List{kind.word}s", {"ClusterArn": request["ClusterArn"], "MaxResults": 1})
        service.settle()
    call(f"Delete{kind.word}", wanted)


def test_describes_every_member_that_it_was_given(account: Account, service: HyperPodService) -> None:
    for request in (slurm_request(account), eks_request(account)):
        service.call("CreateCluster", request)
        described = service.call("DescribeCluster", {"ClusterName": request["ClusterName"]})
        assert set(request) - {"Tags"} <= set(described)
        kept_elsewhere = {"InstanceCount", "MinInstanceCount", "ImageId", "ImageReleaseVersion"}
        for kind in ("InstanceGroups", "RestrictedInstanceGroups"):
            for asked, given in zip(request.get(kind, []), described.get(kind, []), strict=True):
                assert set(asked) - kept_elsewhere <= set(given)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_requires_what_the_model_requires(service: HyperPodService, operation: str) -> None:
    shape = model.operation(operation).input_shape
    found = model.breaches({}, shape)
    assert len(found) == len(shape.required_members)
