"""What the custom resource's handler may do, statement by statement.

What an action can be narrowed to is in the service authorization reference
(https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemakerai.html, 2026-10). A
condition on a key that the action does not have allows nothing, so only keys that it names stand here.

CloudFormation changes these policies before the custom resource, in a rollback too, and deletes a replaced
cluster under the new ones. So nothing that DeleteCluster needs follows from the request.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from hyperpod_cdk.cluster import permissions

OWNERSHIP_TAGS = ("hyperpod-cdk:stack-id", "hyperpod-cdk:logical-id")
"""Tags that the handler gives a cluster, and without which it changes none."""

_SERVICE = "hyperpod.sagemaker.amazonaws.com"
# Its name: https://docs.aws.amazon.com/sagemaker/latest/dg/security-iam-awsmanpol-AmazonSageMakerHyperPodServiceRolePolicy.html
_SERVICE_LINKED_ROLE = f"aws-service-role/{_SERVICE}/AWSServiceRoleForSageMakerHyperPod"
# A managed policy holds 6144 characters (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html,
# 2026-10); an ARN of a role or plan takes up to 130 of them,
_ARNS_IN_A_POLICY = 40
# and an instance type or id in one of the three lists up to 27.
_VALUES_IN_A_LIST = 50

Statements = list[iam.PolicyStatement]


def policies(request: Mapping[str, Any], *, stack: cdk.Stack, logical_id: str) -> dict[str, Statements]:
    """The statements that follow from a request, by the name of the policy that they are to be in.

    Args:
        request: the CreateCluster request; tokens allowed.
        stack: of the custom resource.
        logical_id: of the custom resource.
    """
    found = {
        "Policy": [*_own_clusters(stack, logical_id), *_round_clusters(stack, request)],
        "Bounds": list(_bounds(stack, request)),
        "Eks": list(_control_plane(stack, request)),
        **_in_parts("PassRoles", _values(request, "ExecutionRole"), _pass_roles),
        **_in_parts("TrainingPlans", _values(request, "TrainingPlanArn"), partial(use_plans, stack)),
    }
    return {name: statements for name, statements in found.items() if statements}


def clusters_of(stack: cdk.Stack) -> str:
    """ARN of any cluster: it ends in an id that the service draws, so a name cannot narrow it."""
    return stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")


def reserved_capacity_of(stack: cdk.Stack) -> str:
    """ARN of any reserved capacity: which belongs to a training plan is not known here."""
    return stack.format_arn(service="sagemaker", resource="reserved-capacity", resource_name="*")


def _own_clusters(stack: cdk.Stack, logical_id: str) -> Statements:
    """Make clusters with our tags, and change those that have them.

    `sagemaker:TaggingAction` would keep AddTags to the call that makes a cluster, so that no other could be
    tagged as ours; but no page tells its value for CreateCluster, and a wrong one would let nothing be made.
    """
    clusters = [clusters_of(stack)]
    return [
        allow("LookAtClusters", permissions.LOOK_AT_CLUSTERS, clusters),
        allow("CreateCluster", permissions.CREATE_CLUSTER, clusters, owned("aws:RequestTag", logical_id)),
        allow(
            "ChangeOwnCluster",
            [*permissions.CHANGE_CLUSTER, *permissions.CHANGE_NODES],
            clusters,
            owned("aws:ResourceTag", logical_id),
        ),
    ]


def _round_clusters(stack: cdk.Stack, request: Mapping[str, Any]) -> Statements:
    service_linked = stack.format_arn(
        service="iam", region="", resource="role", resource_name=_SERVICE_LINKED_ROLE
    )
    statements = [
        allow(
            "CreateServiceLinkedRole",
            permissions.CREATE_SERVICE_LINKED_ROLE,
            [service_linked],
            {"StringEquals": {"iam:AWSServiceName": _SERVICE}},
        ),
        allow("FindLingeringInterfaces", permissions.FIND_INTERFACES, ["*"]),
    ]
    if _values(request, "ImageId"):
        statements += use_images(stack)
    return statements


def use_images(stack: cdk.Stack) -> Statements:
    """Of any image: while a group goes from one to another, it is updated with the one that it runs."""
    images = [
        stack.format_arn(service="ec2", account="", resource=kind, resource_name="*")
        for kind in ("image", "snapshot")
    ]
    return [
        allow("ReadImages", permissions.READ_IMAGES, ["*"]),
        allow("ShareImages", permissions.SHARE_IMAGES, images),
    ]


def _bounds(stack: cdk.Stack, request: Mapping[str, Any]) -> Iterator[iam.PolicyStatement]:
    """Refuse nodes of another kind or in another place than the request's.

    Said as a refusal, it holds for making and for changing at once, and for a call that brings none of the
    keys it says nothing. A list too long for a policy is left out.
    """
    for sid, key, names in (
        ("OtherInstanceTypes", "sagemaker:InstanceTypes", ("InstanceType", "InstanceTypes")),
        ("OtherSubnets", "sagemaker:VpcSubnets", ("Subnets",)),
        ("OtherSecurityGroups", "sagemaker:VpcSecurityGroupIds", ("SecurityGroupIds",)),
    ):
        values = _values(request, *names)
        if 0 < len(values) <= _VALUES_IN_A_LIST:
            yield iam.PolicyStatement(
                sid=sid,
                effect=iam.Effect.DENY,
                actions=permissions.PLACE_NODES,
                resources=[clusters_of(stack)],
                conditions={"ForAnyValue:StringNotEquals": {key: values}},
            )


def _control_plane(stack: cdk.Stack, request: Mapping[str, Any]) -> Iterator[iam.PolicyStatement]:
    """What making and deleting a cluster on Amazon EKS takes beside.

    These follow from the request, against the rule above: a cluster on Amazon EKS has a provider of its own
    (`HyperPodCluster`), which goes only after the cluster.
    """
    arn = request.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
    if arn is None:
        return
    yield from admit_nodes(stack, arn)
    yield allow("FindGovernance", permissions.FIND_GOVERNANCE, ["*"])
    governed = [
        stack.format_arn(service="sagemaker", resource=kind, resource_name="*")
        for kind in ("cluster-scheduler-config", "compute-quota")
    ]
    yield allow("DeleteGovernance", permissions.DELETE_GOVERNANCE, governed)
    roles = _values(request, "ClusterRole")
    if roles:
        # no page tells which of the two it is passed to; the role's own trust names the first alone
        to_service = {"StringEquals": {"iam:PassedToService": [_SERVICE, "sagemaker.amazonaws.com"]}}
        yield allow("PassClusterRole", permissions.PASS_ROLE, roles, to_service)


def _pass_roles(arns: Sequence[str]) -> Statements:
    to_service = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    return [allow("PassExecutionRoles", permissions.PASS_ROLE, arns, to_service)]


def admit_nodes(stack: cdk.Stack, arn: str) -> Statements:
    """Letting nodes into the control plane of an ARN, as whoever asks for nodes must."""
    known = not cdk.Token.is_unresolved(arn)
    name = arn.rpartition("/")[2] if known else cdk.Fn.select(1, cdk.Fn.split("/", arn))
    entries = stack.format_arn(service="eks", resource="access-entry", resource_name=f"{name}/*")
    return [
        allow("LookAtControlPlane", permissions.READ_EKS, [arn]),
        allow("AdmitNodes", permissions.ADMIT_NODES, [arn, entries]),
    ]


def use_plans(stack: cdk.Stack, arns: Sequence[str]) -> Statements:
    """Nodes by training plans, and by the reserved capacity that belongs to them."""
    resources = [*arns, reserved_capacity_of(stack)]
    return [allow("UseTrainingPlans", permissions.USE_TRAINING_PLAN, resources)]


def allow(
    sid: str, actions: Sequence[str], resources: Sequence[str], conditions: Mapping[str, Any] | None = None
) -> iam.PolicyStatement:
    """A statement that allows."""
    return iam.PolicyStatement(sid=sid, actions=actions, resources=resources, conditions=conditions or {})


def owned(key: str, logical_id: str) -> dict[str, Any]:
    """The condition that a cluster is, or becomes, that of a custom resource of this stack."""
    tags = zip(OWNERSHIP_TAGS, (cdk.Aws.STACK_ID, logical_id), strict=True)
    return {"StringEquals": {f"{key}/{name}": value for name, value in tags}}


def _in_parts(
    name: str, arns: Sequence[str], statements: Callable[[Sequence[str]], Statements]
) -> dict[str, Statements]:
    return {
        f"{name}{start // _ARNS_IN_A_POLICY or ''}": statements(arns[start : start + _ARNS_IN_A_POLICY])
        for start in range(0, len(arns), _ARNS_IN_A_POLICY)
    }


def _values(request: Any, *names: str) -> list[str]:
    """Every different value that members of these names have, anywhere in a request."""
    return list(dict.fromkeys(_found(request, names)))


def _found(part: Any, names: Sequence[str]) -> Iterator[str]:
    if isinstance(part, list):
        for item in part:
            yield from _found(item, names)
    elif isinstance(part, Mapping):
        for name, value in part.items():
            if name in names:
                yield from value if isinstance(value, list) else [value]
            else:
                yield from _found(value, names)
