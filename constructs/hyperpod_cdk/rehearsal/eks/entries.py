"""How access entries are made, by users and by services."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_cdk.rehearsal.eks.state import Cluster, Entry, Spec

if TYPE_CHECKING:
    from hyperpod_cdk.rehearsal.eks.service import AmazonEks

STANDARD = "STANDARD"


def new_entry(eks: AmazonEks, cluster: Cluster, request: Spec) -> Entry:
    """Make an entry that nobody has yet.

    Args:
        eks: the service.
        cluster: whose entry.
        request: members of CreateAccessEntry.
    """
    principal, now = request["principalArn"], eks.now()
    *_, account_id, path = principal.split(":", 5)
    kind, _, rest = path.partition("/")
    name = rest.rpartition("/")[2]
    session = f"arn:{eks.account.partition}:sts::{account_id}:assumed-role/{name}/{{{{SessionName}}}}"
    return Entry(
        about={
            "clusterName": cluster.name,
            "principalArn": principal,
            "kubernetesGroups": request.get("kubernetesGroups", []),
            "accessEntryArn": eks.arn("access-entry", cluster.name, kind, account_id, name, eks.new_id(36)),
            "createdAt": now,
            "modifiedAt": now,
            "tags": request.get("tags", {}),
            "username": request.get("username") or (session if kind == "role" else principal),
            "type": request.get("type", STANDARD),
        }
    )


def associate(eks: AmazonEks, entry: Entry, arn: str, scope: Spec) -> Spec:
    """Associate a policy; of one that is associated already the scope is changed.

    Args:
        eks: the service.
        entry: whose.
        arn: of the policy.
        scope: accessScope of the API.
    """
    now = eks.now()
    began = entry.policies.get(arn, {}).get("associatedAt", now)
    scope = {"namespaces": [], **scope}
    entry.policies[arn] = {"policyArn": arn, "accessScope": scope, "associatedAt": began, "modifiedAt": now}
    return entry.policies[arn]


def policy_arn(eks: AmazonEks, name: str) -> str:
    """Give the ARN of an access policy."""
    return f"arn:{eks.account.partition}:eks::aws:cluster-access-policy/{name}"
