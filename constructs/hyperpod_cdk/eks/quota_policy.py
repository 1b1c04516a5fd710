"""What the handler of compute quotas may do, statement by statement.

What an action can be narrowed to, and what it depends on, is in the service authorization reference
(https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonsagemakerai.html and
…/list_amazonelastickubernetesservice.html, 2026-10).
"""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam

from hyperpod_cdk.access.arns import arn
from hyperpod_cdk.cluster.handler_policy import OWNERSHIP_TAGS, allow

LIST_QUOTAS = ["sagemaker:ListComputeQuotas"]
"""Takes no resource."""
LOOK_AT_QUOTAS = ["sagemaker:DescribeComputeQuota", "sagemaker:ListTags"]
"""Of any quota: the handler must see whose a name or a team is."""
CREATE_QUOTA = ["sagemaker:AddTags", "sagemaker:CreateComputeQuota"]
"""On the quota and on its cluster; tags in the request need AddTags."""
CHANGE_QUOTA = [
    "sagemaker:AddTags",
    "sagemaker:DeleteComputeQuota",
    "sagemaker:DeleteTags",
    "sagemaker:UpdateComputeQuota",
]
"""What the handler calls on a quota that it made."""
DESCRIBE_CLUSTERS = ["sagemaker:DescribeCluster"]
"""CreateComputeQuota depends on it, and on those below."""
DESCRIBE_CONTROL_PLANE = ["eks:DescribeCluster"]
LIST_ACCESS = ["eks:ListAssociatedAccessPolicies"]
ASSOCIATE_ACCESS = ["eks:AssociateAccessPolicy"]
"""The service gives itself a way to the team's namespace, with a policy of its own."""

# AmazonSagemakerHyperpodClusterPolicy, …ControllerPolicy, …SystemNamespacePolicy and more
# (https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html, 2026-10). Which one it is,
# no page tells; none of them is an administrator's.
_ACCESS_POLICIES = "cluster-access-policy/AmazonSagemakerHyperpod*"


def statements(
    stack: cdk.Stack, *, cluster_arn: str, eks_cluster_name: str, logical_ids: Sequence[str]
) -> list[iam.PolicyStatement]:
    """The statements for the quotas of one cluster.

    What is needed to delete a quota follows from no request: CloudFormation deletes a replaced one under the
    policies of its successor.

    Args:
        stack: of the custom resources.
        cluster_arn: of the HyperPod cluster.
        eks_cluster_name: of the EKS cluster.
        logical_ids: of the custom resources.
    """
    quotas = [stack.format_arn(service="sagemaker", resource="compute-quota", resource_name="*")]
    control_plane = stack.format_arn(service="eks", resource="cluster", resource_name=eks_cluster_name)
    entries = [
        stack.format_arn(service="eks", resource="access-entry", resource_name=f"{eks_cluster_name}/*")
    ]
    return [
        allow("ListQuotas", LIST_QUOTAS, ["*"]),
        allow("LookAtQuotas", LOOK_AT_QUOTAS, quotas),
        allow("CreateQuota", CREATE_QUOTA, [*quotas, cluster_arn], _tagged("aws:RequestTag", logical_ids)),
        allow("ChangeOwnQuota", CHANGE_QUOTA, quotas, _tagged("aws:ResourceTag", logical_ids)),
        allow("DescribeCluster", DESCRIBE_CLUSTERS, [cluster_arn]),
        allow("DescribeControlPlane", DESCRIBE_CONTROL_PLANE, [control_plane]),
        allow("ListAccess", LIST_ACCESS, entries),
        allow(
            "GiveTheServiceAccess",
            ASSOCIATE_ACCESS,
            entries,
            {"ArnLike": {"eks:policyArn": arn("eks", _ACCESS_POLICIES, region="", account="aws")}},
        ),
    ]


def _tagged(key: str, logical_ids: Sequence[str]) -> dict[str, dict[str, object]]:
    stack_tag, logical_tag = OWNERSHIP_TAGS
    return {
        "StringEquals": {
            f"{key}/{stack_tag}": cdk.Aws.STACK_ID,
            f"{key}/{logical_tag}": list(logical_ids),
        }
    }
