"""Task governance: one Kueue, and a policy after it."""

import aws_cdk as cdk
from aws_cdk.assertions import Template

from hyperpod_cdk.eks import TaskGovernance
from hyperpod_cdk.eks.task_governance import ADD_ON
from hyperpod_cdk.spec import governance as spec
from tests.unit.eks.order import before, one, resources

ARN = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abcdefghijkl"


def build(governance: spec.TaskGovernance) -> Template:
    stack = cdk.Stack(cdk.App(), "S")
    cluster = cdk.CfnResource(stack, "HyperPod", type="AWS::SageMaker::Cluster")
    TaskGovernance(
        stack,
        "Governance",
        eks_cluster_name="eks",
        cluster_arn=ARN,
        name="policy",
        governance=governance,
        depends_on=[cluster],
    )
    return Template.from_stack(stack)


def test_90_136_cluster_then_add_on_then_policy_and_back() -> None:
    """A policy made before the add-on is ready fails (failure mode 90); it goes first (field report 136)."""
    every = resources(build(spec.TaskGovernance()))
    add_on = one(every, "AWS::EKS::Addon", AddonName=ADD_ON)
    assert "HyperPod" in before(every, add_on)
    assert add_on in before(every, one(every, "AWS::SageMaker::ClusterSchedulerConfig"))


def test_the_policy() -> None:
    template = build(
        spec.TaskGovernance(
            fair_share=False,
            idle_resource_sharing=True,
            priority_classes=[spec.PriorityClass(name="inference", weight=100)],
        )
    )
    template.has_resource_properties(
        "AWS::SageMaker::ClusterSchedulerConfig",
        {
            "ClusterArn": ARN,
            "Name": "policy",
            "SchedulerConfig": {
                "FairShare": "Disabled",
                "IdleResourceSharing": "Enabled",
                "PriorityClasses": [{"Name": "inference", "Weight": 100}],
            },
        },
    )


def test_135_no_kueue_beside_the_add_on() -> None:
    """Field report 135."""
    template = build(spec.TaskGovernance())
    assert len(template.find_resources("AWS::EKS::Addon")) == 1
    assert template.find_resources("Custom::AWSCDK-EKS-HelmChart") == {}


def test_what_is_not_said_is_the_services() -> None:
    policy = next(
        iter(build(spec.TaskGovernance()).find_resources("AWS::SageMaker::ClusterSchedulerConfig").values())
    )
    assert policy["Properties"]["SchedulerConfig"] == {"FairShare": "Enabled"}
