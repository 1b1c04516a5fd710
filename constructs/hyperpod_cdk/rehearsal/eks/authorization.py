"""What a user of Kubernetes may do: by access policies, and by the roles that Kubernetes itself binds.

docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_cdk.rehearsal.eks.state import Cluster, Spec
from hyperpod_cdk.rehearsal.kubernetes import KubernetesApi, Target, User

_READ = frozenset({"get", "list", "watch"})
_RBAC = "rbac.authorization.k8s.io"
MASTERS = "system:masters"
"""Group that Kubernetes refuses nothing, and that no access entry can have.

kubernetes.io/docs/reference/access-authn-authz/rbac/
"""


def _view(target: Target) -> bool:
    return target.verb in _READ and target.kind.namespaced and target.kind.plural != "secrets"


def _edit(target: Target) -> bool:
    return target.kind.namespaced and (target.kind.group != _RBAC)


def _admin(target: Target) -> bool:
    quota = target.kind.plural == "resourcequotas" and target.verb not in _READ
    return target.kind.namespaced and not quota


_POLICIES: Mapping[str, Callable[[Target], bool]] = {
    "AmazonEKSClusterAdminPolicy": lambda _: True,
    "AmazonEKSAdminPolicy": _admin,
    "AmazonEKSAdminViewPolicy": lambda target: target.verb in _READ,
    "AmazonEKSEditPolicy": _edit,
    "AmazonEKSViewPolicy": _view,
}


def may(cluster: Cluster, user: User, target: Target) -> bool:
    """Tell whether a user may do what a request asks for.

    Args:
        cluster: whose Kubernetes.
        user: who asks.
        target: what for.
    """
    if MASTERS in user.groups:
        return True
    entry = cluster.entries.get(user.principal)
    policies = entry.policies.values() if entry is not None else ()
    return any(_allows(policy, target) for policy in policies) or any(
        _permits(rule, target) for rule in _rules(cluster.api, user, target.namespace)
    )


def _allows(policy: Spec, target: Target) -> bool:
    scope = policy["accessScope"]
    if scope["type"] == "namespace" and target.namespace not in scope["namespaces"]:
        return False
    judge = _POLICIES.get(str(policy["policyArn"]).rpartition("/")[2])
    return judge is not None and judge(target)


def _rules(api: KubernetesApi, user: User, namespace: str) -> Iterator[Mapping[str, Any]]:
    """Rules of the roles that are bound to a user or one of their groups."""
    for plural in ("clusterrolebindings", "rolebindings"):
        for binding in api.objects(plural, group=_RBAC):
            if plural == "rolebindings" and binding["metadata"]["namespace"] != namespace:
                continue
            if any(_is(user, subject) for subject in binding.get("subjects") or ()):
                yield from _role(api, binding)


def _is(user: User, subject: Mapping[str, Any]) -> bool:
    name = str(subject["name"])
    if subject["kind"] == "Group":
        return name in user.groups
    return bool(subject["kind"] == "User" and name == user.name)


def _role(api: KubernetesApi, binding: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    reference = binding["roleRef"]
    namespace = binding["metadata"].get("namespace", "")
    plural = f"{reference['kind'].lower()}s"
    for role in api.objects(plural, group=_RBAC, namespace="" if plural == "clusterroles" else namespace):
        if role["metadata"]["name"] == reference["name"]:
            return list(role.get("rules") or ())
    return []


def _permits(rule: Mapping[str, Any], target: Target) -> bool:
    names = rule.get("resourceNames")
    return (
        _has(rule.get("verbs"), target.verb)
        and _has(rule.get("apiGroups"), target.kind.group)
        and _has(rule.get("resources"), target.kind.plural)
        and (not names or target.name in names)
    )


def _has(values: Any, wanted: str) -> bool:
    return "*" in (values or ()) or wanted in (values or ())
