"""A Kubernetes API as far as helm, kubectl and an admission of nodes need one."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes import discovery, merge, ownership, reviews
from hyperpod_cdk.rehearsal.kubernetes.errors import StatusError, bad_request, no_such_page, unsupported
from hyperpod_cdk.rehearsal.kubernetes.json_patch import json_patch
from hyperpod_cdk.rehearsal.kubernetes.requests import Request, Target, User, target
from hyperpod_cdk.rehearsal.kubernetes.selectors import fields_match, labels_match
from hyperpod_cdk.rehearsal.kubernetes.store import Change, Document, Store, Validate

Authorize = Callable[[User, Target], bool]
"""Tells whether a user may do what a request asks for."""
Answer = tuple[int, Any]
"""HTTP status and the object; an iterator of lines instead of an object for a watch."""
_WATCH_SECONDS = 30.0
_APPLY = "application/apply-patch+yaml"


class KubernetesApi:
    """The API of one cluster.

    Args:
        version: of Kubernetes, such as ``1.33``.
        authorize: asked about every request for objects. Default: everybody may do everything.
        validate: asked about every object of Kubernetes' own kinds. Default: all are as they should be.
    """

    def __init__(
        self, version: str, *, authorize: Authorize | None = None, validate: Validate | None = None
    ) -> None:
        self.version = version
        self.store = Store(validate=validate)
        self.requests: list[str] = []
        """Methods and paths of every request that changed something, in order."""
        self._authorize = authorize

    def answer(self, request: Request, user: User) -> Answer:
        """Answer a request."""
        try:
            page = self._page(request.path.strip("/"))
            if page is not None:
                return 200, page
            review = reviews.answer(self.store.kinds, request, user, self._allowed)
            return (201, review) if review is not None else self._objects(request, user)
        except StatusError as error:
            return error.code, error.status

    def objects(
        self, plural: str, *, group: str = "", version: str = "v1", namespace: str = ""
    ) -> list[Document]:
        """Give the objects of a kind, for those who look from outside.

        Args:
            plural: such as ``daemonsets``.
            group: of the API; empty for the core group.
            version: of the group.
            namespace: empty for all.
        """
        kind = self.store.kinds.find(group, version, plural)
        return [entry.document for entry in self.store.entries(kind, namespace)]

    def _page(self, path: str) -> Any:
        kinds, parts = self.store.kinds, path.split("/")
        if path in ("healthz", "livez", "readyz"):
            return "ok"
        pages: Mapping[tuple[str, int], Callable[[], Document]] = {
            ("version", 1): lambda: discovery.version(self.version),
            ("api", 1): discovery.core_versions,
            ("api", 2): lambda: discovery.resources(kinds, parts[1]),
            ("apis", 1): lambda: discovery.groups(kinds),
            ("apis", 2): lambda: discovery.group(kinds, parts[1]),
            ("apis", 3): lambda: discovery.resources(kinds, "/".join(parts[1:])),
            ("openapi", 2): lambda: discovery.openapi_index(kinds),
            ("openapi", 4): lambda: discovery.openapi(kinds, "/".join(parts[2:])),
            ("openapi", 5): lambda: discovery.openapi(kinds, "/".join(parts[2:])),
        }
        if parts[0] == "openapi" and parts[1:2] != ["v3"]:
            raise no_such_page()
        make = pages.get((parts[0], len(parts)))
        return make() if make else None

    def _allowed(self, user: User, wanted: Target) -> bool:
        return self._authorize is None or self._authorize(user, wanted)

    def _objects(self, request: Request, user: User) -> Answer:
        wanted = target(self.store.kinds, request)
        if not self._allowed(user, wanted):
            raise _refusal(user, wanted)
        if wanted.verb not in _ACTIONS:
            raise StatusError(405, "MethodNotAllowed", f"{request.method} is not possible here")
        if wanted.verb not in ("get", "list", "watch") and not request.dry_run:
            self.requests.append(f"{request.method} {request.path}")
        return _ACTIONS[wanted.verb](self.store, request, wanted)


def _refusal(user: User, wanted: Target) -> StatusError:
    kind = wanted.kind
    place = f' in the namespace "{wanted.namespace}"' if wanted.namespace else " at the cluster scope"
    name = f'"{wanted.name}" ' if wanted.name else ""
    return StatusError(
        403,
        "Forbidden",
        f'{kind.resource} {name}is forbidden: User "{user.name}" cannot {wanted.verb} resource '
        f'"{kind.plural}" in API group "{kind.group}"{place}',
    )


def _get(store: Store, _: Request, wanted: Target) -> Answer:
    return 200, store.get(wanted.kind, wanted.namespace, wanted.name).document


def _selected(request: Request, document: Document) -> bool:
    labels = document["metadata"].get("labels") or {}
    return labels_match(request.query.get("labelSelector", ""), labels) and fields_match(
        request.query.get("fieldSelector", ""), document
    )


def _list(store: Store, request: Request, wanted: Target) -> Answer:
    entries = store.entries(wanted.kind, wanted.namespace)
    items = [entry.document for entry in entries if _selected(request, entry.document)]
    return 200, {
        "kind": f"{wanted.kind.kind}List",
        "apiVersion": wanted.kind.api_version,
        "metadata": {"resourceVersion": str(store.version)},
        "items": items,
    }


def _watch(store: Store, request: Request, wanted: Target) -> Answer:
    seconds = min(float(request.query.get("timeoutSeconds", _WATCH_SECONDS)), _WATCH_SECONDS)
    began = request.query.get("resourceVersion") or "0"
    query = dict(request.query)
    if wanted.name:
        query["fieldSelector"] = f"metadata.name={wanted.name}"
    narrowed = Request(method="GET", path=request.path, query=query)
    return 200, _changes(store, narrowed, wanted, int(began), time.monotonic() + seconds)


def _changes(store: Store, request: Request, wanted: Target, number: int, until: float) -> Iterator[bytes]:
    # sends the headers: a client waits for them before it can hang up
    yield b""
    while True:
        with store.changed:
            fresh = [change for change in store.history if change.number > number]
            if not fresh and not store.changed.wait(max(0.0, until - time.monotonic())):
                return
        for change in fresh:
            number = change.number
            if _concerns(change, wanted) and _selected(request, change.document):
                yield json.dumps({"type": change.type, "object": change.document}).encode() + b"\n"
        if time.monotonic() > until:
            return


def _concerns(change: Change, wanted: Target) -> bool:
    namespace = change.document["metadata"].get("namespace", "")
    return change.kind.resource == wanted.kind.resource and wanted.namespace in ("", namespace)


def _create(store: Store, request: Request, wanted: Target) -> Answer:
    document = request.document
    if wanted.namespace:
        named = document.setdefault("metadata", {}).setdefault("namespace", wanted.namespace)
        if named != wanted.namespace:
            raise bad_request("the namespace of the object does not match the namespace of the request")
    return 201, store.create(wanted.kind, document, manager=request.manager, dry_run=request.dry_run)


def _change(store: Store, request: Request, wanted: Target, make: Callable[[Document], Document]) -> Answer:
    made = store.change(
        wanted.kind,
        wanted.namespace,
        wanted.name,
        lambda old, _: make(old),
        manager=request.manager,
        dry_run=request.dry_run,
    )
    return 200, made


def _update(store: Store, request: Request, wanted: Target) -> Answer:
    document = request.document
    return _change(store, request, wanted, lambda _: document)


def _patch(store: Store, request: Request, wanted: Target) -> Answer:
    if request.media_type == _APPLY:
        return _apply(store, request, wanted)
    if request.media_type == "application/json-patch+json":
        operations = request.json
        return _change(store, request, wanted, lambda old: _as_document(json_patch(old, operations)))
    patch = request.document
    if request.media_type == "application/merge-patch+json":
        return _change(store, request, wanted, lambda old: _as_document(merge.json_merge(old, patch)))
    if request.media_type == "application/strategic-merge-patch+json" and not wanted.kind.custom:
        return _change(store, request, wanted, lambda old: _as_document(merge.strategic_merge(old, patch)))
    raise unsupported(request.media_type)


def _as_document(value: Any) -> Document:
    return dict(value)


def _apply(store: Store, request: Request, wanted: Target) -> Answer:
    if "fieldManager" not in request.query:
        raise bad_request("fieldManager is required for apply patch")
    config, force = request.document, request.query.get("force") == "true"
    config.setdefault("metadata", {}).pop("managedFields", None)

    def make(old: Document, owners: ownership.Owners) -> Document:
        return ownership.apply(
            old, config, owners=owners, manager=request.manager, force=force, keyed=not wanted.kind.custom
        )

    try:
        changed = store.change(
            wanted.kind, wanted.namespace, wanted.name, make, manager=None, dry_run=request.dry_run
        )
    except StatusError as error:
        if error.code != 404:
            raise
        config["metadata"]["name"] = wanted.name
        return _create(store, _with_document(request, config), wanted)
    return 200, changed


def _with_document(request: Request, document: Document) -> Request:
    body = json.dumps(document).encode()
    return Request(method="POST", path=request.path, query=request.query, body=body)


def _delete(store: Store, request: Request, wanted: Target) -> Answer:
    found = store.get(wanted.kind, wanted.namespace, wanted.name).document
    if not request.dry_run:
        store.delete(wanted.kind, wanted.namespace, wanted.name)
    about = {"name": wanted.name, "group": wanted.kind.group, "kind": wanted.kind.plural}
    details = {**about, "uid": found["metadata"]["uid"]}
    return 200, {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    }


def _delete_all(store: Store, request: Request, wanted: Target) -> Answer:
    code, listed = _list(store, request, wanted)
    for item in listed["items"]:
        store.delete(wanted.kind, item["metadata"].get("namespace", ""), item["metadata"]["name"])
    return code, listed


_ACTIONS: Mapping[str, Callable[[Store, Request, Target], Answer]] = {
    "get": _get,
    "list": _list,
    "watch": _watch,
    "create": _create,
    "update": _update,
    "patch": _patch,
    "delete": _delete,
    "deletecollection": _delete_all,
}
