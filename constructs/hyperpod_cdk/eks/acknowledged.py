"""What cdk-nag finds in the CDK's own constructs for Amazon EKS, each with its reason."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct, IConstruct

from hyperpod_cdk.nag import FUNCTION_PACKS, acknowledge, aws_policies, in_packs, wildcards

_BY_THE_CDK = "made by the CDK's kubectl provider, which gives no way to it"
_ONE_CALLER = "CloudFormation alone calls it, one call a deployment, and is told of every failure"
_CHART = "the CDK's grant to read; a chart of this app lies among its assets, under a name that is a hash"

CONTROL_PLANE_POLICIES = ("AmazonEKSClusterPolicy",)
NODE_POLICIES = (
    "AmazonEC2ContainerRegistryReadOnly",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEKS_CNI_Policy",
)
_FUNCTION_POLICIES = (
    "service-role/AWSLambdaBasicExecutionRole",
    "service-role/AWSLambdaVPCAccessExecutionRole",
)
_FUNCTION = {
    **aws_policies(_FUNCTION_POLICIES, _BY_THE_CDK),
    **in_packs("IAMNoInlinePolicy", _BY_THE_CDK),
    **in_packs("LambdaConcurrency", _ONE_CALLER, FUNCTION_PACKS),
    **in_packs("LambdaDLQ", _ONE_CALLER, FUNCTION_PACKS),
}
_REGISTRY_POLICY = "AmazonEC2ContainerRegistryReadOnly"


def acknowledge_kubectl(cluster: Construct) -> None:
    """Accept what the kubectl provider of a cluster is like.

    Args:
        cluster: the CDK's EKS cluster, if it has a provider.
    """
    provider = cluster.node.try_find_child("KubectlProvider")
    if provider is None:
        return
    handler = provider.node.find_child("Handler")
    role = handler.node.find_child("ServiceRole")
    arn = cast(lambda_.Function, handler).function_arn
    framework = provider.node.find_child("Provider").node.find_child("framework-onEvent")
    acknowledge(
        handler,
        _FUNCTION,
        {"AwsSolutions-L1": "the runtime that the CDK's provider is written for and tested on"},
        aws_policies([_REGISTRY_POLICY], "charts may lie in a registry"),
        {_conditional(role): "charts may lie in the public registry"},
    )
    acknowledge(framework, _FUNCTION, wildcards(framework, [f"{arn}:*"], _BY_THE_CDK))


def acknowledge_chart(cluster: Construct, objects: str) -> None:
    """Accept that the kubectl provider reads a chart by the CDK's grant.

    Args:
        cluster: the CDK's EKS cluster.
        objects: ARN of what is read.
    """
    provider = cluster.node.find_child("KubectlProvider")
    policy = (
        provider.node.find_child("Handler").node.find_child("ServiceRole").node.find_child("DefaultPolicy")
    )
    actions = ("s3:GetBucket*", "s3:GetObject*", "s3:List*")
    acknowledge(
        policy,
        {f"AwsSolutions-IAM5[Action::{action}]": _CHART for action in actions},
        wildcards(policy, [objects], _CHART),
    )


def _conditional(role: IConstruct) -> str:
    """The finding of the policy that only some partitions have; its condition's name is generated."""
    resource = cast(iam.CfnRole, role.node.default_child)
    arns: Sequence[Any] = Stack.of(role).resolve(resource.managed_policy_arns)
    chosen = next(arn for arn in arns if isinstance(arn, Mapping) and "Fn::If" in arn)
    return f"AwsSolutions-IAM4[Policy::{json.dumps(chosen, separators=(',', ':'))}]"
