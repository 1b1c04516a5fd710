"""CreateCluster, all or nothing: the way to InService or to Failed, and what it leaves in other services."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import (
    HyperPodService,
    InsufficientCapacity,
    LifecycleFailure,
    service,
)
from tests.rehearsal.hyperpod.samples import Account, client, counts, nodes, status

Create = Callable[..., dict[str, Any]]
Refused = Callable[..., tuple[str, str]]


def test_way_to_in_service(account: Account, service: HyperPodService, sagemaker: Any) -> None:
    sagemaker.create_cluster(**account.cluster())
    assert (status(sagemaker), counts(sagemaker)) == ("Creating", {"controller": (0, 1), "compute": (0, 2)})
    service.clock.advance(300)
    assert status(sagemaker) == "Creating"
    assert [node["InstanceStatus"]["Status"] for node in nodes(sagemaker)] == ["Pending"] * 3
    service.clock.advance(300)  # ten minutes, as the service's guide has it
    assert (status(sagemaker), counts(sagemaker)) == ("InService", {"controller": (1, 1), "compute": (2, 2)})
    groups = sagemaker.describe_cluster(ClusterName="ml")["InstanceGroups"]
    assert {group["Status"] for group in groups} == {"InService"}


def test_describes_what_was_asked_for(account: Account, sagemaker: Any) -> None:
    storage = [{"EbsVolumeConfig": {"VolumeSizeInGB": 500}}]
    compute = account.group("compute", ThreadsPerCore=2, InstanceStorageConfigs=storage)
    request = account.cluster(account.group("controller", "Controller"), compute, NodeRecovery="Automatic")
    sagemaker.create_cluster(**request)
    described = sagemaker.describe_cluster(ClusterName="ml")
    for member in ("VpcConfig", "Orchestrator", "NodeRecovery"):
        assert described[member] == request[member]
    for member in ("InstanceType", "ExecutionRole", "LifeCycleConfig", "ThreadsPerCore", "SlurmConfig"):
        assert described["InstanceGroups"][1][member] == compute[member]
    assert described["InstanceGroups"][1]["InstanceStorageConfigs"] == storage


@pytest.mark.parametrize(
    ("region", "partition"),
    [("us-west-2", "aws"), ("us-gov-west-1", "aws-us-gov"), ("cn-north-1", "aws-cn")],
)
def test_arn(account: Account, region: str, partition: str) -> None:
    elsewhere = service(region=region)
    elsewhere.check_references = False
    there = client("sagemaker", region)
    request = account.cluster()
    del request["VpcConfig"]
    arn = there.create_cluster(**request)["ClusterArn"]
    assert re.fullmatch(rf"arn:{partition}:sagemaker:{region}:123456789012:cluster/[a-z0-9]{{12}}", arn)
    assert there.describe_cluster(ClusterName=arn)["ClusterName"] == "ml"


def test_name_in_use(in_service: Create, account: Account, sagemaker: Any, refused: Refused) -> None:
    in_service()
    code, message = refused(sagemaker.create_cluster, **account.cluster())
    assert code == "ResourceInUse"
    assert "Cluster with name ml already exists" in message


def test_name_of_a_failed_cluster_is_in_use(
    in_service: Create, account: Account, service: HyperPodService, sagemaker: Any, refused: Refused
) -> None:
    service.faults.add(LifecycleFailure())
    assert in_service()["ClusterStatus"] == "Failed"
    assert refused(sagemaker.create_cluster, **account.cluster())[0] == "ResourceInUse"


def test_nodes_have_addresses_and_interfaces_in_the_subnet(
    in_service: Create, account: Account, sagemaker: Any
) -> None:
    in_service()
    interfaces = client("ec2").describe_network_interfaces(
        Filters=[{"Name": "group-id", "Values": [account.security_group_id]}]
    )["NetworkInterfaces"]
    details = [
        sagemaker.describe_cluster_node(ClusterName="ml", NodeId=node["InstanceId"])["NodeDetails"]
        for node in nodes(sagemaker)
    ]
    addresses = {node["PrivatePrimaryIp"] for node in details}
    assert addresses == {"10.0.0.4", "10.0.0.5", "10.0.0.6"}  # EC2 keeps the first three for itself
    assert addresses == {interface["PrivateIpAddress"] for interface in interfaces}
    assert {interface["SubnetId"] for interface in interfaces} == {account.subnet_id}
    assert {node["Placement"]["AvailabilityZone"] for node in details} == {"us-west-2a"}
    assert all(re.fullmatch("i-[0-9a-f]{17}", node["InstanceId"]) for node in details)


def test_p5_takes_an_interface_for_each_network_card(account: Account, sagemaker: Any, service: Any) -> None:
    gpu = account.group("gpu", count=2, InstanceType="ml.p5.48xlarge")
    sagemaker.create_cluster(**account.cluster(account.group("controller", "Controller"), gpu))
    service.clock.advance(60)
    assert len(nodes(sagemaker)) == 3
    assert len(client("ec2").describe_network_interfaces()["NetworkInterfaces"]) == 1 + 2 * 32


def test_group_in_its_own_subnet(account: Account, in_service: Create, sagemaker: Any) -> None:
    own = {**account.vpc_config, "Subnets": [account.small_subnet_id]}
    in_service(
        **account.cluster(
            account.group("controller", "Controller"), account.group("compute", OverrideVpcConfig=own)
        )
    )
    zones = {
        node["InstanceGroupName"]: sagemaker.describe_cluster_node(
            ClusterName="ml", NodeId=node["InstanceId"]
        )["NodeDetails"]["Placement"]["AvailabilityZone"]
        for node in nodes(sagemaker)
    }
    assert zones == {"controller": "us-west-2a", "compute": "us-west-2b"}


def test_subnet_without_enough_addresses(account: Account, in_service: Create) -> None:
    own = {**account.vpc_config, "Subnets": [account.small_subnet_id]}
    gpu = account.group("gpu", InstanceType="ml.p5.48xlarge", OverrideVpcConfig=own)
    described = in_service(**account.cluster(account.group("controller", "Controller"), gpu))
    assert described["ClusterStatus"] == "Failed"
    assert f"Subnets {account.small_subnet_id} do not have the 32 free IP" in described["FailureMessage"]


def test_failed_script_fails_the_cluster(account: Account, service: HyperPodService, sagemaker: Any) -> None:
    service.faults.add(LifecycleFailure(group="compute", nodes=frozenset({2}), lines=("mount failed",)))
    sagemaker.create_cluster(**account.cluster())
    service.clock.advance(545)
    assert status(sagemaker) == "RollingBack"
    service.clock.advance(300)
    described = sagemaker.describe_cluster(ClusterName="ml")
    assert described["ClusterStatus"] == "Failed"
    assert nodes(sagemaker) == []
    named = re.search(
        r"log group '(\S+)' and log stream '(LifecycleConfig/compute/i-\w+)'", described["FailureMessage"]
    )
    assert named is not None
    assert named[1] == f"/aws/sagemaker/Clusters/ml/{described['ClusterArn'].split('/')[1]}"
    events = client("logs").get_log_events(logGroupName=named[1], logStreamName=named[2])["events"]
    assert [event["message"] for event in events] == [
        "mount failed",
        "[SageMaker] The lifecycle scripts failed with exit code 1.",
    ]


def test_no_capacity_fails_the_cluster(in_service: Create, service: HyperPodService) -> None:
    service.faults.add(InsufficientCapacity(group="compute"))
    described = in_service()
    assert described["ClusterStatus"] == "Failed"
    assert "sufficient capacity to launch new ml.c5.large" in described["FailureMessage"]


def test_first_failure_is_the_reason(account: Account, in_service: Create, service: HyperPodService) -> None:
    service.faults.add(InsufficientCapacity())
    groups = [account.group("first", None), account.group("second", None, InstanceType="ml.g5.xlarge")]
    request = account.cluster(*groups)
    del request["Orchestrator"]
    assert "ml.c5.large" in in_service(**request)["FailureMessage"]


def test_failed_cluster_frees_its_addresses(in_service: Create, service: HyperPodService) -> None:
    service.faults.add(LifecycleFailure())
    in_service()
    service.settle()
    assert client("ec2").describe_network_interfaces()["NetworkInterfaces"] == []


def test_without_a_vpc(account: Account, in_service: Create, sagemaker: Any) -> None:
    request = account.cluster()
    del request["VpcConfig"]
    assert in_service(**request)["ClusterStatus"] == "InService"
    assert client("ec2").describe_network_interfaces()["NetworkInterfaces"] == []


MISSING: dict[str, tuple[dict[str, Any], str]] = {
    "subnet": ({"Subnets": ["subnet-0"]}, "The subnet ID 'subnet-0' does not exist"),
    "security group": ({"SecurityGroupIds": ["sg-0"]}, "The security group ID 'sg-0' does not exist"),
}


@pytest.mark.parametrize(("config", "text"), MISSING.values(), ids=MISSING)
def test_missing_network(
    account: Account, sagemaker: Any, refused: Refused, config: dict[str, Any], text: str
) -> None:
    request = account.cluster(VpcConfig={**account.vpc_config, **config})
    code, message = refused(sagemaker.create_cluster, **request)
    assert code == "ValidationException"
    assert text in message


def test_security_group_of_another_vpc(account: Account, sagemaker: Any, refused: Refused) -> None:
    ec2 = client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    foreign = ec2.create_security_group(GroupName="x", Description="x", VpcId=vpc)["GroupId"]
    request = account.cluster(VpcConfig={**account.vpc_config, "SecurityGroupIds": [foreign]})
    assert "must belong to the same VPC" in refused(sagemaker.create_cluster, **request)[1]


@pytest.mark.parametrize("role", ["missing", "for-ec2"])
def test_role_that_can_not_be_assumed(account: Account, sagemaker: Any, refused: Refused, role: str) -> None:
    trust = (
        '{"Statement": {"Effect": "Allow", "Action": "sts:AssumeRole",'
        ' "Principal": {"Service": "ec2.amazonaws.com"}}}'
    )
    client("iam").create_role(RoleName="for-ec2", AssumeRolePolicyDocument=trust)
    arn = f"arn:aws:iam::123456789012:role/{role}"
    controller = {**account.group("controller", "Controller"), "ExecutionRole": arn}
    code, message = refused(sagemaker.create_cluster, **account.cluster(controller))
    assert code == "ValidationException"
    assert message.startswith(f"Could not assume role {arn}.")


def test_legacy_file_beside_api_configuration(account: Account, sagemaker: Any, refused: Refused) -> None:
    key = "scripts/provisioning_parameters.json"
    client("s3").put_object(Bucket=account.bucket, Key=key, Body=b"{}")
    code, message = refused(sagemaker.create_cluster, **account.cluster())
    assert code == "ValidationException"
    assert "cannot include both a SLURM Orchestrator Config and a provisioning_parameters.json" in message
    legacy = account.cluster(account.group("controller", None), account.group("compute", None))
    del legacy["Orchestrator"]
    assert sagemaker.create_cluster(**legacy)["ClusterArn"]


def test_deep_health_checks_do_not_hold_the_cluster_back(
    account: Account, in_service: Create, service: HyperPodService, sagemaker: Any
) -> None:
    checked = account.group("compute", OnStartDeepHealthChecks=["InstanceStress", "InstanceConnectivity"])
    described = in_service(**account.cluster(account.group("controller", "Controller"), checked))
    assert described["ClusterStatus"] == "InService"
    filters = {"InstanceGroupNameContains": "compute"}
    assert nodes(sagemaker, **filters)[0]["InstanceStatus"]["Status"] == "DeepHealthCheckInProgress"
    service.clock.advance(4200)
    assert nodes(sagemaker, **filters)[0]["InstanceStatus"]["Status"] == "Running"
