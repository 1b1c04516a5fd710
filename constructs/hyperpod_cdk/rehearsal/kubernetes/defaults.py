"""What the API fills in of an object, where clients look for it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

Document = dict[str, Any]


def complete(kind: str, document: Document) -> None:
    """Fill in what Kubernetes itself would.

    Args:
        kind: of the object.
        document: the object; changed.
    """
    _DEFAULTS.get(kind, _nothing)(document)


def _nothing(_: Document) -> None:
    return


def _namespace(document: Document) -> None:
    document.setdefault("spec", {}).setdefault("finalizers", ["kubernetes"])
    document.setdefault("status", {}).setdefault("phase", "Active")
    name = document["metadata"]["name"]
    document["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def _secret(document: Document) -> None:
    document.setdefault("type", "Opaque")
    plain = document.pop("stringData", {})
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in plain.items()}
    if encoded:
        document["data"] = {**document.get("data", {}), **encoded}


def _definition(document: Document) -> None:
    names = document["spec"]["names"]
    names.setdefault("singular", names["kind"].lower())
    names.setdefault("listKind", f"{names['kind']}List")
    conditions = [
        {"type": type_, "status": "True", "reason": reason, "message": ""}
        for type_, reason in (("NamesAccepted", "NoConflicts"), ("Established", "InitialNamesAccepted"))
    ]
    versions = [version["name"] for version in document["spec"]["versions"] if version.get("storage")]
    document["status"] = {"acceptedNames": dict(names), "conditions": conditions, "storedVersions": versions}


_DEFAULTS: Mapping[str, Callable[[Document], None]] = {
    "Namespace": _namespace,
    "Secret": _secret,
    "CustomResourceDefinition": _definition,
}
