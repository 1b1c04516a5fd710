"""What cdk-nag finds in the CDK's own constructs for Amazon EKS, each with its reason."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct, IConstruct

from hyperpod_cdk.nag import acknowledge, acknowledge_everywhere, acknowledge_resources

_BY_THE_CDK = "made by the CDK's kubectl provider, which gives no way to it"
_NAMED = "the policy that the service names for it"
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
_REGISTRY_POLICY = "AmazonEC2ContainerRegistryReadOnly"
_FUNCTION_RULES = ("LambdaConcurrency", "LambdaDLQ")
_FUNCTION_PACKS = ("HIPAA.Security", "NIST.800.53.R5")


def acknowledge_managed_policies(role: IConstruct, names: Sequence[str], reason: str = _NAMED) -> None:
    """Accept managed policies of a role.

    Args:
        role: the narrowest construct that has them.
        names: as in their ARNs, behind ``policy/``.
        reason: why.
    """
    acknowledge(
        role,
        {f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{name}]": reason for name in names},
    )


def acknowledge_kubectl(cluster: Construct) -> None:
    """Accept what the kubectl provider of a cluster is like.

    Args:
        cluster: the CDK's EKS cluster, if it has a provider.
    """
    provider = cluster.node.try_find_child("KubectlProvider")
    if provider is None:
        return
    handler = provider.node.find_child("Handler")
    framework = provider.node.find_child("Provider").node.find_child("framework-onEvent")
    for function in (handler, framework):
        role = function.node.find_child("ServiceRole")
        acknowledge_managed_policies(role, _FUNCTION_POLICIES, _BY_THE_CDK)
        acknowledge_everywhere(_policy(role), "IAMNoInlinePolicy", _BY_THE_CDK)
        for rule in _FUNCTION_RULES:
            acknowledge_everywhere(function, rule, _ONE_CALLER, packs=_FUNCTION_PACKS)
    handler_role = handler.node.find_child("ServiceRole")
    acknowledge(
        handler, {"AwsSolutions-L1": "the runtime that the CDK's provider is written for and tested on"}
    )
    acknowledge_managed_policies(handler_role, [_REGISTRY_POLICY], "charts may lie in a registry")
    acknowledge(handler_role, {_conditional(handler_role): "charts may lie in the public registry"})
    arn = cast(lambda_.Function, handler).function_arn
    acknowledge_resources(_policy(framework.node.find_child("ServiceRole")), [f"{arn}:*"], _BY_THE_CDK)


def acknowledge_chart(cluster: Construct, objects: str) -> None:
    """Accept that the kubectl provider reads a chart by the CDK's grant.

    Args:
        cluster: the CDK's EKS cluster.
        objects: ARN of what is read.
    """
    provider = cluster.node.find_child("KubectlProvider")
    policy = _policy(provider.node.find_child("Handler").node.find_child("ServiceRole"))
    actions = ("s3:GetBucket*", "s3:GetObject*", "s3:List*")
    acknowledge(policy, {f"AwsSolutions-IAM5[Action::{action}]": _CHART for action in actions})
    acknowledge_resources(policy, [objects], _CHART)


def _policy(role: IConstruct) -> IConstruct:
    return role.node.find_child("DefaultPolicy")


def _conditional(role: IConstruct) -> str:
    """The finding of the policy that only some partitions have; its condition's name is generated."""
    resource = cast(iam.CfnRole, role.node.default_child)
    arns: Sequence[Any] = Stack.of(role).resolve(resource.managed_policy_arns)
    chosen = next(arn for arn in arns if isinstance(arn, Mapping) and "Fn::If" in arn)
    return f"AwsSolutions-IAM4[Policy::{json.dumps(chosen, separators=(',', ':'))}]"
