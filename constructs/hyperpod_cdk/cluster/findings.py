"""Findings of cdk-nag on the custom resource's provider, and why each stands."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import custom_resources as cr
from constructs import IConstruct

from hyperpod_cdk.nag import acknowledge, acknowledge_resources

_PACKS = ("HIPAA.Security", "NIST.800.53.R5", "PCI.DSS.321")
_FUNCTION = {
    **{
        f"{pack}-LambdaInsideVPC": "calls AWS APIs alone; in a VPC it would hold up the deletion of subnets"
        for pack in _PACKS
    },
    **{
        f"{pack}-LambdaDLQ": "the provider framework reports every failure to CloudFormation"
        for pack in _PACKS[:2]
    },
    **{
        f"{pack}-LambdaConcurrency": "runs at deployments alone; a reservation would take from the account's"
        for pack in _PACKS[:2]
    },
}
_INLINE = {
    f"{pack}-IAMNoInlinePolicy": "made by CDK's provider framework; belongs to one role and goes with it"
    for pack in _PACKS
}
_BASIC_EXECUTION = (
    "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole]"
)
_DRAWN_IDS = (
    "the action takes no resource, or the resource ends in an id that the service draws when it is made: a "
    "cluster, its log group, a compute quota, an access entry, reserved capacity, an image and its snapshots"
)
_FRAMEWORK_FUNCTIONS = ("framework-onEvent", "framework-isComplete", "framework-onTimeout")
_WAITER = "waiter-state-machine"


def acknowledge_functions(functions: Sequence[lambda_.Function]) -> None:
    """Accept what stands on the handler's functions."""
    for function in functions:
        acknowledge(_child(function, "Resource"), _FUNCTION)


def acknowledge_framework(framework: cr.Provider, functions: Sequence[lambda_.Function]) -> None:
    """Accept what stands on CDK's provider framework.

    Args:
        framework: round the handler's functions.
        functions: the handler's.
    """
    any_version = dict.fromkeys((_versions(function) for function in functions), "versions of one function")
    for name in _FRAMEWORK_FUNCTIONS:
        acknowledge(_child(framework, name, "Resource"), _FUNCTION)
        acknowledge(
            _child(framework, name, "ServiceRole", "Resource"),
            {_BASIC_EXECUTION: "made by CDK's provider framework"},
        )
        acknowledge(
            _child(framework, name, "ServiceRole", "DefaultPolicy", "Resource"), {**_INLINE, **any_version}
        )
    acknowledge(
        _child(framework, _WAITER, "Resource"),
        {
            "AwsSolutions-SF2": "polls one function; its log tells each poll",
        },
    )
    polled = [_versions(_child(framework, name)) for name in _FRAMEWORK_FUNCTIONS[1:]]
    acknowledge(
        _child(framework, _WAITER, "Role", "DefaultPolicy", "Resource"),
        {
            **_INLINE,
            **dict.fromkeys(polled, "versions of one function"),
            "AwsSolutions-IAM5[Resource::*]": "delivering logs of a state machine takes no resource",
        },
    )


def acknowledge_policy(policy: iam.ManagedPolicy, statements: Sequence[iam.PolicyStatement]) -> None:
    """Accept wildcards in the resources of the handler's statements.

    Args:
        policy: of the handler.
        statements: in it.
    """
    allowed = [statement for statement in statements if statement.effect is iam.Effect.ALLOW]
    resources = dict.fromkeys(resource for statement in allowed for resource in statement.resources)
    acknowledge_resources(_child(policy, "Resource"), resources, _DRAWN_IDS)


def acknowledge_watch(state_machine: sfn.StateMachine, look: lambda_.IFunction) -> None:
    """Accept what stands on the state machine that waits for nodes."""
    acknowledge(
        _child(state_machine, "Resource"),
        {"AwsSolutions-SF2": "polls one function; its log tells each poll"},
    )
    acknowledge(
        _child(state_machine, "Role", "DefaultPolicy", "Resource"),
        {
            **_INLINE,
            _versions(look): "versions of one function",
            "AwsSolutions-IAM5[Resource::*]": "delivering logs of a state machine takes no resource",
        },
    )


def _child(construct: IConstruct, *path: str) -> IConstruct:
    for name in path:
        construct = construct.node.find_child(name)
    return construct


def _versions(function: IConstruct) -> str:
    """The finding on a permission to invoke any version of a function."""
    resource = _child(function, "Resource")
    assert isinstance(resource, lambda_.CfnFunction)
    return f"AwsSolutions-IAM5[Resource::<{cdk.Stack.of(function).get_logical_id(resource)}.Arn>:*]"
