"""Findings of cdk-nag on the custom resource's provider, and why each stands."""

from collections.abc import Sequence
from typing import cast

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import custom_resources as cr

from hyperpod_cdk.nag import FUNCTION_PACKS, acknowledge, aws_policies, in_packs, wildcards

_INSIDE = "calls AWS APIs alone; in a VPC it would hold up the deletion of subnets"
_RESERVED = "runs at deployments alone; a reservation would take from the account's"
_FUNCTION = {
    **in_packs("LambdaInsideVPC", _INSIDE),
    **in_packs("LambdaDLQ", "the provider framework reports every failure to CloudFormation", FUNCTION_PACKS),
    **in_packs("LambdaConcurrency", _RESERVED, FUNCTION_PACKS),
}
_INLINE = in_packs(
    "IAMNoInlinePolicy", "made by CDK's provider framework; belongs to one role and goes with it"
)
_ROLE = aws_policies(["service-role/AWSLambdaBasicExecutionRole"], "made by CDK's provider framework")
_STATE_MACHINE = {
    **_INLINE,
    "AwsSolutions-SF2": "polls one function; its log tells each poll",
    "AwsSolutions-IAM5[Resource::*]": "delivering logs of a state machine takes no resource",
}
_VERSIONS = "versions of one function"
_DRAWN_IDS = (
    "the action takes no resource, or the resource ends in an id that the service draws when it is made: a "
    "cluster, its log group, a compute quota, an access entry, reserved capacity, an image and its snapshots"
)
_POLLED = ("framework-isComplete", "framework-onTimeout")


def acknowledge_functions(functions: Sequence[lambda_.Function]) -> None:
    """Accept what stands on the handler's functions."""
    for function in functions:
        acknowledge(function, _FUNCTION)


def acknowledge_framework(framework: cr.Provider, functions: Sequence[lambda_.Function]) -> None:
    """Accept what stands on CDK's provider framework: its functions, and the state machine that polls.

    Args:
        framework: round the handler's functions.
        functions: the handler's.
    """
    polled = [cast(lambda_.Function, framework.node.find_child(name)) for name in _POLLED]
    versions = [f"{function.function_arn}:*" for function in (*functions, *polled)]
    acknowledge(framework, _FUNCTION, _ROLE, _STATE_MACHINE, wildcards(framework, versions, _VERSIONS))


def acknowledge_policy(policy: iam.ManagedPolicy, statements: Sequence[iam.PolicyStatement]) -> None:
    """Accept wildcards in the resources of the handler's statements.

    Args:
        policy: of the handler.
        statements: in it.
    """
    allowed = [statement for statement in statements if statement.effect is iam.Effect.ALLOW]
    resources = dict.fromkeys(resource for statement in allowed for resource in statement.resources)
    acknowledge(policy, wildcards(policy, resources, _DRAWN_IDS))


def acknowledge_watch(state_machine: sfn.StateMachine, look: lambda_.IFunction) -> None:
    """Accept what stands on the state machine that waits for nodes."""
    versions = wildcards(state_machine, [f"{look.function_arn}:*"], _VERSIONS)
    acknowledge(state_machine, _STATE_MACHINE, versions)
