"""What pods may do in AWS: roles that service accounts take, in either of two ways."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Fn, Token
from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.access.arns import ACCOUNT_ID, arn
from hyperpod_cdk.nag import acknowledge, aws_policies, wildcards

_PODS = "pods.eks.amazonaws.com"
_AUDIENCE = "sts.amazonaws.com"
_VERSION = "2012-10-17"
WILDCARDS = "the action takes no resource, or its resources are made by what the role is for"
"""Why statements name resources with wildcards."""

Statement = Mapping[str, Any]


def statement(actions: Sequence[str], *resources: str, condition: Statement | None = None) -> Statement:
    """Allow actions on resources."""
    made: dict[str, Any] = {"Effect": "Allow", "Action": list(actions), "Resource": list(resources)}
    return {**made, "Condition": condition} if condition else made


class PodRole(Construct):
    """A role by EKS Pod Identity, which one service account of one cluster takes.

    The association is a resource of its own: some add-ons refuse to bring it (field report 126).

    Args:
        cluster_name: of the EKS cluster.
        account: namespace and service account.
        description: of the role.
        managed_policies: names of AWS's own policies.
        statements: of a policy beside them. Default: none.
        depends_on: what must be there before: the EKS cluster.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        account: tuple[str, str],
        description: str,
        managed_policies: Sequence[str] = (),
        statements: Sequence[Statement] = (),
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        cluster = arn("eks", f"cluster/{cluster_name}")
        trust = {
            "Effect": "Allow",
            "Principal": {"Service": _PODS},
            "Action": ["sts:AssumeRole", "sts:TagSession"],
            "Condition": {
                "StringEquals": {"aws:SourceAccount": ACCOUNT_ID, "aws:SourceArn": cluster},
            },
        }
        self.role = _role(self, description, {"Version": _VERSION, "Statement": [trust]}, managed_policies)
        self.role_arn: str = self.role.attr_arn
        policy = grant(self, self.role, statements)
        namespace, service_account = account
        self.association = eks.CfnPodIdentityAssociation(
            self,
            "Identity",
            cluster_name=cluster_name,
            namespace=namespace,
            service_account=service_account,
            role_arn=self.role_arn,
        )
        self.association.node.add_dependency(*depends_on, *([policy] if policy else []))


class WebIdentityRole(Construct):
    """A role by the cluster's own tokens (IRSA), for add-ons that take nothing else.

    Args:
        provider: the cluster's.
        account: namespace and service account; each may have ``*``.
        description: of the role.
        role_name: default: a generated one.
        managed_policies: names of AWS's own policies.
        statements: of a policy beside them. Default: none.
        service: a service that takes the role too, such as ``sagemaker.amazonaws.com``. Default: none.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        provider: "OidcProvider",
        account: tuple[str, str],
        description: str,
        role_name: str | None = None,
        managed_policies: Sequence[str] = (),
        statements: Sequence[Statement] = (),
        service: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.role = _role(self, description, provider.trust(account, service), managed_policies)
        self.role.role_name = role_name
        self.role_arn: str = self.role.attr_arn
        self.policy = grant(self, self.role, statements)


class OidcProvider:
    """The provider of a cluster's tokens.

    Args:
        arn: of the provider in IAM.
        issuer: its host and path, ``oidc.eks.<region>.amazonaws.com/id/…``.
    """

    def __init__(self, *, arn: str, issuer: str) -> None:
        self.arn = arn
        self.issuer = issuer

    @staticmethod
    def of_url(scope: Construct, construct_id: str, issuer_url: str) -> "OidcProvider":
        """A new provider for a cluster's issuer, ``https://…``."""
        made = iam.CfnOIDCProvider(scope, construct_id, url=issuer_url, client_id_list=[_AUDIENCE])
        return OidcProvider(arn=made.attr_arn, issuer=Fn.select(1, Fn.split("//", issuer_url)))

    @staticmethod
    def of_arn(arn: str) -> "OidcProvider":
        """A provider that is there already, ``arn:…:oidc-provider/<issuer>``."""
        return OidcProvider(arn=arn, issuer=Fn.select(1, Fn.split(":oidc-provider/", arn)))

    def trust(self, account: tuple[str, str], service: str | None) -> str | Statement:
        """Who may take a role; as text if the issuer, which is part of keys, is known only at deployment."""
        namespace, service_account = account
        operator = "StringLike" if "*" in f"{namespace}{service_account}" else "StringEquals"
        token: dict[str, Any] = {
            "Effect": "Allow",
            "Principal": {"Federated": self.arn},
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {
                operator: {
                    f"{self.issuer}:aud": _AUDIENCE,
                    f"{self.issuer}:sub": f"system:serviceaccount:{namespace}:{service_account}",
                }
            },
        }
        statements = [token]
        if service is not None:
            principal = {"Service": service}
            statements.append({"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"})
        document = {"Version": _VERSION, "Statement": statements}
        return json.dumps(document) if Token.is_unresolved(self.issuer) else document


def grant(
    scope: Construct, role: iam.CfnRole, statements: Sequence[Statement]
) -> iam.CfnManagedPolicy | None:
    """A policy with these statements for a role; none without statements."""
    if not statements:
        return None
    policy = iam.CfnManagedPolicy(
        scope,
        "Policy",
        roles=[role.ref],
        policy_document={"Version": _VERSION, "Statement": list(statements)},
    )
    resources = {resource for one in statements for resource in one["Resource"]}
    acknowledge(policy, wildcards(policy, sorted(resources), WILDCARDS))
    return policy


def _role(
    scope: Construct, description: str, trust: str | Mapping[str, Any], managed_policies: Sequence[str]
) -> iam.CfnRole:
    role = iam.CfnRole(
        scope,
        "Role",
        assume_role_policy_document=trust,
        description=description,
        managed_policy_arns=[
            arn("iam", f"policy/{name}", region="", account="aws") for name in managed_policies
        ]
        or None,
    )
    acknowledge(role, aws_policies(managed_policies))
    return role
