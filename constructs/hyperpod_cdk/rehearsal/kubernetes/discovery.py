"""What the API tells of itself: versions, kinds, and what their requests take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes.errors import no_such_page
from hyperpod_cdk.rehearsal.kubernetes.kinds import Kind

Document = dict[str, Any]
_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_WITH_STATUS = frozenset({"configmaps", "secrets"})


def version(kubernetes_version: str) -> Document:
    """Answer ``/version``.

    Args:
        kubernetes_version: such as ``1.33``.
    """
    major, minor = kubernetes_version.split(".")
    # Amazon EKS adds a commit behind the dash: https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"v{kubernetes_version}.0-eks-0000000",
        "gitTreeState": "clean",
        "platform": "linux/amd64",
    }


def groups(kinds: Iterable[Kind]) -> Document:
    """Answer ``/apis``."""
    found: dict[str, list[str]] = defaultdict(list)
    for kind in kinds:
        if kind.group and kind.version not in found[kind.group]:
            found[kind.group].append(kind.version)
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group(name, versions) for name, versions in sorted(found.items())],
    }


def group(kinds: Iterable[Kind], name: str) -> Document:
    """Answer ``/apis/GROUP``."""
    for one in groups(kinds)["groups"]:
        if one["name"] == name:
            return {"kind": "APIGroup", "apiVersion": "v1", **one}
    raise no_such_page()


def _group(name: str, versions: Sequence[str]) -> Document:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def core_versions() -> Document:
    """Answer ``/api``."""
    return {"kind": "APIVersions", "versions": ["v1"]}


def resources(kinds: Iterable[Kind], group_version: str) -> Document:
    """Answer ``/api/v1`` or ``/apis/GROUP/VERSION``."""
    found = [kind for kind in kinds if kind.api_version == group_version]
    if not found:
        raise no_such_page()
    listed: list[Document] = []
    for kind in found:
        names = {"name": kind.plural, "singularName": kind.kind.lower(), "shortNames": list(kind.short_names)}
        same = {"namespaced": kind.namespaced, "kind": kind.kind}
        listed.append({**names, **same, "verbs": _VERBS})
        if kind.plural not in _WITH_STATUS:
            listed.append(
                {
                    "name": f"{kind.plural}/status",
                    "singularName": "",
                    **same,
                    "verbs": ["get", "patch", "update"],
                }
            )
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": listed,
    }


def openapi_index(kinds: Iterable[Kind]) -> Document:
    """Answer ``/openapi/v3``."""
    paths = {_place(kind): {"serverRelativeURL": f"/openapi/v3/{_place(kind)}"} for kind in kinds}
    return {"paths": paths}


def openapi(kinds: Iterable[Kind], place: str) -> Document:
    """Answer ``/openapi/v3/api/v1`` or ``/openapi/v3/apis/GROUP/VERSION``.

    It has no schemas: clients learn that the server checks fields itself, and leave it to it.
    """
    found = [kind for kind in kinds if _place(kind) == place]
    if not found:
        raise no_such_page()
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": {_path(kind): _operations(kind) for kind in found},
    }


def _place(kind: Kind) -> str:
    return f"apis/{kind.api_version}" if kind.group else f"api/{kind.version}"


def _path(kind: Kind) -> str:
    namespace = "/namespaces/{namespace}" if kind.namespaced else ""
    return f"/{_place(kind)}{namespace}/{kind.plural}/{{name}}"


def _operations(kind: Kind) -> Document:
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
        for name in ("dryRun", "fieldManager", "fieldValidation")
    ]
    operation = {
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-group-version-kind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
    }
    patch = {"x-kubernetes-action": "patch", **operation}
    return {"get": {"x-kubernetes-action": "get", **operation}, "patch": patch}
