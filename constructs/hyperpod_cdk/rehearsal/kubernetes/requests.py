"""What a request to the API asks for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes import protobuf
from hyperpod_cdk.rehearsal.kubernetes.errors import bad_request, no_such_page, unsupported
from hyperpod_cdk.rehearsal.kubernetes.kinds import Kind, Kinds

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete", "GET": "get"}
_SUBRESOURCES = frozenset({"", "status", "finalize"})


@dataclass(frozen=True, kw_only=True)
class User:
    """Who asks.

    Args:
        name: such as an ARN.
        groups: Kubernetes groups.
        principal: whom the name stands for, where identities come from elsewhere.
    """

    name: str
    groups: tuple[str, ...] = ()
    principal: str = ""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request of HTTP.

    Args:
        method: such as ``GET``.
        path: below the API's own address.
        query: parameters, each once.
        body: as it came.
        media_type: of the body, without parameters.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    media_type: str = ""

    @property
    def document(self) -> dict[str, Any]:
        """The body, as JSON; JSON is YAML too, and that is how clients write what they apply.

        Raises:
            StatusError: it is something else.
        """
        if self.media_type == protobuf.MEDIA_TYPE:
            return protobuf.decode(self.body)
        found = self.json
        if not isinstance(found, dict):
            raise bad_request("the body is no object")
        return found

    @property
    def json(self) -> Any:
        """The body, whatever it holds.

        Raises:
            StatusError: it is no JSON.
        """
        if self.media_type not in ("", "application/json") and not self.media_type.endswith(
            ("+json", "+yaml")
        ):
            raise unsupported(self.media_type)
        try:
            return json.loads(self.body or b"{}")
        except ValueError:
            raise bad_request(f"the body is no JSON: {self.body[:80]!r}") from None

    @property
    def manager(self) -> str:
        """Who the fields that this request sets belong to."""
        return self.query.get("fieldManager") or "unknown"

    @property
    def dry_run(self) -> bool:
        """Whether nothing shall happen."""
        return "dryRun" in self.query


@dataclass(frozen=True, kw_only=True)
class Target:
    """What a path names.

    Args:
        kind: of the objects.
        namespace: where they lie; empty for all.
        name: of the object; empty for a collection.
        subresource: part of the object that is asked for.
        verb: as in rules of access.
    """

    kind: Kind
    namespace: str
    name: str
    subresource: str
    verb: str


def target(kinds: Kinds, request: Request) -> Target:
    """Read a path such as ``/apis/apps/v1/namespaces/kube-system/daemonsets/aws-node``.

    Raises:
        StatusError: there is no such path.
    """
    parts = request.path.strip("/").split("/")
    core = parts[0] == "api"
    group, parts = ("", parts[1:]) if core else (parts[1] if len(parts) > 1 else "", parts[2:])
    if len(parts) < 2 or not (core or group):
        raise no_such_page()
    version, *rest = parts
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    kind = kinds.find(group, version, rest[0])
    name, subresource = [*rest[1:], "", ""][:2]
    if subresource not in _SUBRESOURCES or len(rest) > 3 or bool(namespace) > kind.namespaced:
        raise no_such_page()
    return Target(
        kind=kind, namespace=namespace, name=name, subresource=subresource, verb=_verb(request, bool(name))
    )


def _verb(request: Request, names_one: bool) -> str:
    if request.method == "GET" and request.query.get("watch") in ("1", "true"):
        return "watch"
    if not names_one:
        return {"GET": "list", "DELETE": "deletecollection"}.get(
            request.method, _VERBS.get(request.method, "")
        )
    return _VERBS.get(request.method, "")
