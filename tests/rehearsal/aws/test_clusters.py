"""AWS::SageMaker::Cluster in front of the emulated service."""

from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from hyperpod_cdk.rehearsal import hyperpod
from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from tests.rehearsal.aws.samples import Deployer, role

NETWORK = {
    "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    "Subnet": {
        "Type": "AWS::EC2::Subnet",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24"},
        "DeletionPolicy": "Retain",
    },
    "Group": {
        "Type": "AWS::EC2::SecurityGroup",
        "Properties": {"VpcId": {"Ref": "Vpc"}, "GroupDescription": "of the nodes"},
        "DeletionPolicy": "Retain",
    },
    "Role": role("sagemaker.amazonaws.com"),
}


def group(name: str, node_type: str, count: int, **slurm: Any) -> dict[str, Any]:
    return {
        "InstanceGroupName": name,
        "InstanceType": "ml.c5.xlarge",
        "InstanceCount": count,
        "ExecutionRole": {"Fn::GetAtt": ["Role", "Arn"]},
        "SlurmConfig": {"NodeType": node_type, **slurm},
    }


def cluster(name: str, *compute: int) -> dict[str, Any]:
    computing = [
        group(f"compute-{number}", "Compute", count, PartitionNames=[f"p{number}"])
        for number, count in enumerate(compute)
    ]
    properties = {
        "ClusterName": name,
        "InstanceGroups": [group("controller", "Controller", 1), *computing],
        "VpcConfig": {"SecurityGroupIds": [{"Ref": "Group"}], "Subnets": [{"Ref": "Subnet"}]},
        "Orchestrator": {"Slurm": {"SlurmConfigStrategy": "Managed"}},
    }
    return {**NETWORK, "Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": properties}}


@pytest.fixture
def service(aws: EmbeddedAws) -> Iterator[hyperpod.HyperPodService]:
    service = hyperpod.service(aws.account_id, aws.region)
    yield service
    service.faults.clear()


def test_cluster_is_created_changed_and_deleted(aws: EmbeddedAws, stack: Deployer) -> None:
    outputs = {"Arn": {"Value": {"Fn::GetAtt": ["Cluster", "ClusterArn"]}}}
    created = stack.create(cluster(stack.name, 2), Outputs=outputs)
    assert created.status == "CREATE_COMPLETE", created.events("Cluster")
    sagemaker = aws.client("sagemaker")

    def counts() -> dict[str, int]:
        described = sagemaker.describe_cluster(ClusterName=stack.name)
        assert described["ClusterArn"] == created.outputs["Arn"]
        return {g["InstanceGroupName"]: g["CurrentCount"] for g in described["InstanceGroups"]}

    assert counts() == {"controller": 1, "compute-0": 2}
    updated = stack.update(cluster(stack.name, 3, 1), Outputs=outputs)
    assert updated.status == "UPDATE_COMPLETE", updated.events("Cluster")
    assert counts() == {"controller": 1, "compute-0": 3, "compute-1": 1}
    stack.update(cluster(stack.name, 3), Outputs=outputs)
    assert counts() == {"controller": 1, "compute-0": 3}
    stack.delete()
    with pytest.raises(ClientError, match="Could not find cluster"):
        sagemaker.describe_cluster(ClusterName=stack.name)


def test_failed_cluster_tells_its_message_and_is_deleted(
    aws: EmbeddedAws, stack: Deployer, service: hyperpod.HyperPodService
) -> None:
    service.faults.add(hyperpod.InsufficientCapacity(group="controller"))
    created = stack.create(cluster(stack.name, 1))
    failed = dict(created.events("Cluster"))["CREATE_FAILED"]
    assert "capacity" in failed.lower()
    assert created.events("Cluster")[-1][0] == "DELETE_COMPLETE"
    names = {c["ClusterName"] for c in aws.client("sagemaker").list_clusters()["ClusterSummaries"]}
    assert stack.name not in names
