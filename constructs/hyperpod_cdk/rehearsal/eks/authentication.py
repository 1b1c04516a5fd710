"""Who a token of ``aws eks get-token`` belongs to, and whether its owner reaches the API at all.

The token is a presigned GetCallerIdentity (github.com/kubernetes-sigs/aws-iam-authenticator). Signatures are
not checked, as nowhere in moto.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from moto.awslambda.utils import get_backend
from moto.sts.models import sts_backends

from hyperpod_cdk.rehearsal.eks.service import AmazonEks
from hyperpod_cdk.rehearsal.eks.state import Cluster, Entry
from hyperpod_cdk.rehearsal.kubernetes import StatusError, Unreachable, User

_PREFIX = "k8s-aws-v1."
_HTTPS = 443


@dataclass(frozen=True, kw_only=True)
class Caller:
    """Who calls.

    Args:
        arn: as GetCallerIdentity gives it.
        session: of an assumed role; a function's is the function's name.
    """

    arn: str
    session: str

    @property
    def role_name(self) -> str:
        """Name of the role that was assumed; empty for others."""
        parts = self.arn.split(":", 5)[5].split("/")
        return parts[1] if parts[0] == "assumed-role" else ""


def caller(eks: AmazonEks, token: str) -> Caller:
    """Read a token.

    Raises:
        StatusError: 401, it is none.
    """
    try:
        text = token.removeprefix(_PREFIX)
        url = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()
        key = parse_qs(urlsplit(url).query)["X-Amz-Credential"][0].partition("/")[0]
    except (ValueError, KeyError):
        raise StatusError(401, "Unauthorized", "Unauthorized") from None
    account = eks.account
    identity = sts_backends[account.account_id][account.partition].get_caller_identity(key, account.region)
    arn = str(identity[1])
    return Caller(arn=arn, session=arn.rpartition("/")[2])


def user_of(cluster: Cluster, who: Caller) -> User:
    """Give the Kubernetes user of a caller.

    Raises:
        StatusError: 401, no access entry is the caller's.
    """
    entry = next((one for one in cluster.entries.values() if _is_theirs(one, who)), None)
    if entry is None:
        raise StatusError(401, "Unauthorized", "the server has asked for the client to provide credentials")
    name = str(entry.about["username"]).replace("{{SessionName}}", who.session)
    groups = (*entry.about["kubernetesGroups"], "system:authenticated")
    return User(name=name, groups=groups, principal=entry.about["principalArn"])


def _is_theirs(entry: Entry, who: Caller) -> bool:
    principal = str(entry.about["principalArn"])
    if not who.role_name:
        return principal == who.arn
    return ":role/" in principal and principal.rpartition("/")[2] == who.role_name


def require_way(eks: AmazonEks, cluster: Cluster, who: Caller) -> None:
    """Require that the network leads from a caller to the API of a cluster.

    A function in the VPC goes to the private endpoint and needs to be let in; everybody else needs the
    public one.

    Raises:
        Unreachable: it does not.
    """
    lambdas = get_backend(eks.account.account_id, eks.account.region)
    function = next((one for one in lambdas.list_functions() if one.function_name == who.session), None)
    vpc = (function.vpc_config or {}) if function is not None else {}
    subnets = vpc.get("subnet_ids") or vpc.get("SubnetIds") or []
    groups = vpc.get("security_group_ids") or vpc.get("SecurityGroupIds") or []
    inside = any(eks.account.ec2.get_subnet(subnet).vpc_id == cluster.vpc["vpcId"] for subnet in subnets)
    if inside and cluster.vpc["endpointPrivateAccess"]:
        if _lets_in(eks, cluster, set(groups)):
            return
        raise Unreachable("no security group lets the function in")
    if not cluster.vpc["endpointPublicAccess"]:
        raise Unreachable("the endpoint is private")


def _lets_in(eks: AmazonEks, cluster: Cluster, groups: set[str]) -> bool:
    """Whether a group of the control plane takes https from the caller's."""
    ours = (cluster.vpc["clusterSecurityGroupId"], *cluster.vpc["securityGroupIds"])
    for group_id in ours:
        group = eks.account.ec2.get_security_group_from_id(group_id)
        for rule in group.ingress_rules if group is not None else ():
            low, high = int(rule.from_port or 0), int(rule.to_port or 65535)
            source = rule.source_group.get("GroupId") in groups or bool(rule.ip_range)
            if source and (str(rule.ip_protocol) == "-1" or low <= _HTTPS <= high):
                return True
    return False
