"""Compute quotas: the request of a team, their order, and what their handler may do."""

import json
from collections.abc import Sequence
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.eks import ComputeQuota, ComputeQuotas, TaskGovernance
from hyperpod_cdk.eks.quota_request import create_compute_quota_request
from hyperpod_cdk.eks.task_governance import ADD_ON
from hyperpod_cdk.spec import (
    AcceleratorPartition,
    ComputeQuotaResource,
    PreemptTeamTasks,
    ResourceSharingConfig,
    ResourceSharingStrategy,
    Team,
)
from hyperpod_cdk.spec import governance as spec
from tests.api_shapes import input_shape, walk
from tests.unit.eks.order import before, one, resources

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"
TYPE = "ml.p5.48xlarge"
WHOLE = Team(
    team_name="vision",
    description="images",
    fair_share_weight=40,
    compute_quota_resources=[
        ComputeQuotaResource(instance_type=TYPE, count=2),
        ComputeQuotaResource(instance_type="ml.g5.12xlarge", accelerators=2, vcpu=9.5, memory_in_gib=100),
        ComputeQuotaResource(
            instance_type="ml.p4d.24xlarge",
            accelerator_partition=AcceleratorPartition(type="mig-1g.5gb", count=4),
        ),
    ],
    resource_sharing_config=ResourceSharingConfig(
        strategy=ResourceSharingStrategy.LEND_AND_BORROW,
        borrow_limit=100,
        absolute_borrow_limits=[ComputeQuotaResource(instance_type=TYPE, count=1)],
    ),
    preempt_team_tasks=PreemptTeamTasks.NEVER,
    active=False,
    tags={"cost": "1"},
)


def governed(
    teams: Sequence[Team] = (WHOLE, Team(team_name="audio")), *, with_key: bool = False
) -> cdk.Stack:
    """A stack with task governance of a cluster."""
    stack = cdk.Stack(cdk.App(), "S")
    cluster = cdk.CfnResource(stack, "HyperPod", type="AWS::SageMaker::Cluster")
    TaskGovernance(
        stack,
        "Governance",
        eks_cluster_name="eks",
        cluster_arn=cluster.ref,
        name="policy",
        governance=spec.TaskGovernance(teams=teams),
        depends_on=[cluster],
        encryption_key=kms.Key(stack, "Key", enable_key_rotation=True) if with_key else None,
    )
    return stack


@pytest.fixture(scope="module")
def template() -> Template:
    return Template.from_stack(governed())


def quotas(template: Template) -> dict[str, dict[str, Any]]:
    """The quotas' custom resources by team."""
    found = template.find_resources("Custom::HyperPodComputeQuota")
    return {
        resource["Properties"]["Request"]["Name"]: {"id": logical_id, **resource}
        for logical_id, resource in found.items()
    }


def test_the_request_of_a_team() -> None:
    assert create_compute_quota_request(WHOLE, cluster_arn=ARN) == {
        "Name": "vision",
        "Description": "images",
        "ClusterArn": ARN,
        "ComputeQuotaConfig": {
            "ComputeQuotaResources": [
                {"InstanceType": TYPE, "Count": 2},
                {"InstanceType": "ml.g5.12xlarge", "Accelerators": 2, "VCpu": 9.5, "MemoryInGiB": 100},
                {
                    "InstanceType": "ml.p4d.24xlarge",
                    "AcceleratorPartition": {"Type": "mig-1g.5gb", "Count": 4},
                },
            ],
            "ResourceSharingConfig": {
                "Strategy": "LendAndBorrow",
                "BorrowLimit": 100,
                "AbsoluteBorrowLimits": [{"InstanceType": TYPE, "Count": 1}],
            },
            "PreemptTeamTasks": "Never",
        },
        "ComputeQuotaTarget": {"TeamName": "vision", "FairShareWeight": 40},
        "ActivationState": "Disabled",
        "Tags": [{"Key": "cost", "Value": "1"}],
    }


def test_every_member_of_the_request_can_be_asked_for() -> None:
    """A member that comes with another botocore is missed here."""

    def names(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set(value) | {name for inner in value.values() for name in names(inner)}
        return {name for inner in value for name in names(inner)} if isinstance(value, list) else set()

    request = create_compute_quota_request(WHOLE, cluster_arn=ARN)
    assert names(request) == {member.name for member in walk(input_shape("CreateComputeQuota"))}


def test_what_is_not_said_is_the_services() -> None:
    assert create_compute_quota_request(Team(team_name="audio"), cluster_arn=ARN) == {
        "Name": "audio",
        "ClusterArn": ARN,
        "ComputeQuotaConfig": {"ComputeQuotaResources": []},
        "ComputeQuotaTarget": {"TeamName": "audio"},
    }


def test_one_resource_a_team_and_one_handler_for_all(template: Template) -> None:
    assert set(quotas(template)) == {"vision", "audio"}
    tokens = [json.dumps(one["Properties"]["ServiceToken"]) for one in quotas(template).values()]
    assert len(set(tokens)) == 1
    assert {one["Properties"]["Format"] for one in quotas(template).values()} == {"1"}


def test_91_quotas_come_last_and_go_first(template: Template) -> None:
    """Deleting a cluster fails where its quotas and policy stand in the way (failure mode 91)."""
    every = resources(template)
    add_on = one(every, "AWS::EKS::Addon", AddonName=ADD_ON)
    policy = one(every, "AWS::SageMaker::ClusterSchedulerConfig")
    for quota in quotas(template).values():
        earlier = before(every, quota["id"])
        assert {"HyperPod", add_on, policy} <= earlier
        assert {
            name for name, resource in every.items() if resource["Type"] == "AWS::IAM::ManagedPolicy"
        } <= earlier
        assert not {other["id"] for other in quotas(template).values()} & earlier, "side by side"


def statements(template: Template) -> dict[str, dict[str, Any]]:
    found = template.find_resources("AWS::IAM::ManagedPolicy").values()
    return {
        statement["Sid"]: statement
        for policy in found
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    }


def test_the_handler_changes_the_quotas_of_its_resources_alone(template: Template) -> None:
    found = statements(template)
    ids = [one["id"] for one in quotas(template).values()]
    owner = {"hyperpod-cdk:stack-id": {"Ref": "AWS::StackId"}, "hyperpod-cdk:logical-id": ids}
    for sid, key in (("CreateQuota", "aws:RequestTag"), ("ChangeOwnQuota", "aws:ResourceTag")):
        assert found[sid]["Condition"] == {
            "StringEquals": {f"{key}/{name}": value for name, value in owner.items()}
        }
    assert set(found["ChangeOwnQuota"]["Action"]) == {
        "sagemaker:AddTags",
        "sagemaker:DeleteComputeQuota",
        "sagemaker:DeleteTags",
        "sagemaker:UpdateComputeQuota",
    }
    assert {"Ref": "HyperPod"} in found["CreateQuota"]["Resource"]


def test_the_service_gets_a_policy_of_its_own_and_no_administrators(template: Template) -> None:
    statement = statements(template)["GiveTheServiceAccess"]
    (pattern,) = statement["Condition"]["ArnLike"].values()
    assert pattern["Fn::Join"][1][-1] == ":eks::aws:cluster-access-policy/AmazonSagemakerHyperpod*"
    assert json.dumps(statement["Resource"]).endswith(':access-entry/eks/*"]]}')


def test_what_is_called_is_allowed_and_nothing_else(template: Template) -> None:
    """By the operations that the handler's code names."""
    allowed = {
        action
        for statement in statements(template).values()
        for action in ([statement["Action"]] if isinstance(statement["Action"], str) else statement["Action"])
        if action.startswith("sagemaker:")
    }
    called = {
        f"sagemaker:{name}"
        for name in (
            *("CreateComputeQuota", "UpdateComputeQuota", "DeleteComputeQuota"),
            *("DescribeComputeQuota", "ListComputeQuotas", "AddTags", "DeleteTags", "ListTags"),
        )
    }
    assert allowed == called | {"sagemaker:DescribeCluster"}, "which CreateComputeQuota depends on"


def test_attributes_for_outputs() -> None:
    stack = cdk.Stack(cdk.App(), "S")
    governance = TaskGovernance(
        stack,
        "Governance",
        eks_cluster_name="eks",
        cluster_arn=ARN,
        name="policy",
        governance=spec.TaskGovernance(teams=[Team(team_name="audio")]),
        depends_on=[],
    )
    assert governance.quotas is not None
    quota = governance.quotas.quotas["audio"]
    cdk.CfnOutput(stack, "Queue", value=quota.queue_name)
    cdk.CfnOutput(stack, "Namespace", value=quota.namespace)
    cdk.CfnOutput(stack, "Id", value=quota.compute_quota_id)
    outputs = Template.from_stack(stack).to_json()["Outputs"].values()
    found = {output["Value"]["Fn::GetAtt"][1] for output in outputs}
    assert found == {"QueueName", "Namespace", "ComputeQuotaId"}


def test_quotas_of_a_cluster_that_is_there_already() -> None:
    """A stack of one's own, beside another that has the cluster, its add-on and its policy."""
    stack = cdk.Stack(cdk.App(), "S")
    quotas = ComputeQuotas(
        stack, "Quotas", teams=[WHOLE], cluster_arn=ARN, eks_cluster_name="eks", depends_on=[]
    )
    assert isinstance(quotas.quotas["vision"], ComputeQuota)
    Template.from_stack(stack).resource_count_is("Custom::HyperPodComputeQuota", 1)


def test_without_teams_there_is_no_handler() -> None:
    template = Template.from_stack(governed([]))
    assert template.find_resources("AWS::Lambda::Function") == {}
    assert template.find_resources("Custom::HyperPodComputeQuota") == {}


def test_the_functions_are_the_clusters_handler(template: Template) -> None:
    for function in ("on_event", "is_complete"):
        template.has_resource_properties(
            "AWS::Lambda::Function",
            {
                "Handler": f"handler.index.{function}",
                "Description": Match.string_like_regexp("compute quota"),
                "Environment": {"Variables": {"AWS_DATA_PATH": "/var/task/models"}},
            },
        )
