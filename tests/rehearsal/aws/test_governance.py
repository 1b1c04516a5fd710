"""AWS::SageMaker::ClusterSchedulerConfig and ComputeQuota in front of the emulated service."""

import json
from typing import Any

import pytest

from hyperpod_cdk.rehearsal import eks, hyperpod
from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from hyperpod_cdk.rehearsal.eks.provided import provide
from hyperpod_cdk.rehearsal.hyperpod.orchestrator import GOVERNANCE
from tests.rehearsal.aws.samples import Deployer

ADD_ON = {
    "Type": "AWS::EKS::Addon",
    "Properties": {"ClusterName": "governed", "AddonName": GOVERNANCE},
}


@pytest.fixture(scope="module")
def cluster_arn(aws: EmbeddedAws) -> str:
    """A HyperPod cluster of one node on an EKS cluster."""
    service = hyperpod.service(aws.account_id, aws.region)
    plane_service = eks.service(aws.account_id, aws.region)
    plane_service.clock.speed = 5000.0
    service.node_setup = lambda _: hyperpod.NodeSetupResult()
    ec2, iam = service.account.ec2, aws.client("iam")
    vpc = ec2.create_vpc("10.7.0.0/16")
    subnets = [
        ec2.create_subnet(vpc.id, f"10.7.{number}.0/24", availability_zone=zone).id
        for number, zone in enumerate(("us-west-2a", "us-west-2b"))
    ]
    group = ec2.create_security_group("governed", "test", vpc.id)
    plane = provide(plane_service, "governed", subnet_ids=subnets)
    principal = {"Service": "sagemaker.amazonaws.com"}
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": principal}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    role = iam.create_role(RoleName="governed", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    s3 = aws.client("s3")
    s3.create_bucket(
        Bucket="sagemaker-governed", CreateBucketConfiguration={"LocationConstraint": aws.region}
    )
    s3.put_object(Bucket="sagemaker-governed", Key="on_create.sh", Body=b"")
    life_cycle = {"SourceS3Uri": "s3://sagemaker-governed/", "OnCreate": "on_create.sh"}
    made = service.call(
        "CreateCluster",
        {
            "ClusterName": "governed",
            "Orchestrator": {"Eks": {"ClusterArn": plane.arn}},
            "VpcConfig": {"Subnets": subnets[:1], "SecurityGroupIds": [group.id]},
            "InstanceGroups": [
                {
                    "InstanceGroupName": "g",
                    "InstanceType": "ml.p5.48xlarge",
                    "InstanceCount": 1,
                    "ExecutionRole": role,
                    "LifeCycleConfig": life_cycle,
                }
            ],
        },
    )
    service.settle()
    return str(made["ClusterArn"])


def policy(arn: str, *, weight: int = 50, after: tuple[str, ...] = ()) -> dict[str, Any]:
    config = {"FairShare": "Enabled", "PriorityClasses": [{"Name": "training", "Weight": str(weight)}]}
    properties = {"Name": "policy", "ClusterArn": arn, "SchedulerConfig": config}
    return {
        "Type": "AWS::SageMaker::ClusterSchedulerConfig",
        "Properties": properties,
        "DependsOn": list(after),
    }


def quota(arn: str, *, count: int = 1) -> dict[str, Any]:
    resources = [{"InstanceType": "ml.p5.48xlarge", "Count": count}]
    properties = {
        "Name": "team",
        "ClusterArn": arn,
        "ComputeQuotaConfig": {"ComputeQuotaResources": resources},
        "ComputeQuotaTarget": {"TeamName": "team"},
    }
    return {"Type": "AWS::SageMaker::ComputeQuota", "Properties": properties, "DependsOn": ["Policy"]}


def test_they_come_change_and_go(aws: EmbeddedAws, stack: Deployer, cluster_arn: str) -> None:
    after = ("AddOn",)
    created = stack.create(
        {"AddOn": ADD_ON, "Policy": policy(cluster_arn, after=after), "Quota": quota(cluster_arn)}
    )
    assert created.status == "CREATE_COMPLETE", aws.failures()
    arns = {name: created.id_of(name) for name in ("Policy", "Quota")}
    sagemaker, plane = aws.client("sagemaker"), eks.service(aws.account_id, aws.region).cluster("governed")
    sagemaker.list_clusters()
    spaces = {one["metadata"]["name"] for one in plane.api.objects("namespaces")}
    assert "hyperpod-ns-team" in spaces
    queues = plane.api.objects("localqueues", group="kueue.x-k8s.io", version="v1beta1")
    assert [one["metadata"]["name"] for one in queues] == ["hyperpod-ns-team-localqueue"]

    changed = {
        "AddOn": ADD_ON,
        "Policy": policy(cluster_arn, weight=70, after=after),
        "Quota": quota(cluster_arn, count=2),
    }
    updated = stack.update(changed)
    assert updated.status == "UPDATE_COMPLETE", aws.failures()
    assert {name: updated.id_of(name) for name in arns} == arns
    found = sagemaker.describe_cluster_scheduler_config(
        ClusterSchedulerConfigId=arns["Policy"].rpartition("/")[2]
    )
    assert found["ClusterSchedulerConfigVersion"] == 2
    assert found["SchedulerConfig"]["PriorityClasses"] == [{"Name": "training", "Weight": 70}]
    assert stack.delete().status == "DELETE_COMPLETE"
    left = [
        one for one in sagemaker.list_compute_quotas()["ComputeQuotaSummaries"] if one["Status"] != "Deleted"
    ]
    assert left == []


def test_a_policy_before_its_add_on_fails_with_the_reason(stack: Deployer, cluster_arn: str) -> None:
    """Failure mode 90."""
    failed = stack.create({"Policy": policy(cluster_arn)})
    assert failed.status == "ROLLBACK_COMPLETE"
    ((_, reason),) = [event for event in failed.events("Policy") if event[0] == "CREATE_FAILED"]
    assert reason.startswith("CreateFailed: ") and f"{GOVERNANCE} is not installed" in reason
