"""Who may use Kubernetes."""

from collections.abc import Sequence

from aws_cdk import aws_eks as eks
from constructs import Construct

from hyperpod_cdk.access.arns import arn
from hyperpod_cdk.spec.eks import AccessEntry, AccessPolicy


def grant_access(
    scope: Construct, *, cluster_name: str, entries: Sequence[AccessEntry]
) -> list[eks.CfnAccessEntry]:
    """An access entry for each principal.

    HyperPod makes the one of its nodes itself, with the rights of whoever creates the cluster.

    Args:
        scope: the construct that they are part of.
        cluster_name: of the EKS cluster.
        entries: principals, each once.
    """
    return [
        eks.CfnAccessEntry(
            scope,
            f"Access{index}",
            cluster_name=cluster_name,
            principal_arn=entry.principal_arn,
            kubernetes_groups=list(entry.kubernetes_groups) or None,
            access_policies=[_policy(policy) for policy in entry.policies] or None,
        )
        for index, entry in enumerate(entries)
    ]


def _policy(policy: AccessPolicy) -> eks.CfnAccessEntry.AccessPolicyProperty:
    return eks.CfnAccessEntry.AccessPolicyProperty(
        # https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html (2026-10)
        policy_arn=arn("eks", f"cluster-access-policy/{policy.name}", region="", account="aws"),
        access_scope=eks.CfnAccessEntry.AccessScopeProperty(
            type="namespace" if policy.namespaces else "cluster",
            namespaces=list(policy.namespaces) or None,
        ),
    )
