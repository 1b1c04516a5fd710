"""How a patch changes an object: by JSON merge patch, or by Kubernetes' strategic one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = dict[str, Any]

# patchMergeKey of https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.33/; of a name that stands
# for several lists the key that all items have counts
MERGE_KEYS: Mapping[str, tuple[str, ...]] = {
    "addresses": ("type",),
    "conditions": ("type",),
    "containers": ("name",),
    "env": ("name",),
    "ephemeralContainers": ("name",),
    "hostAliases": ("ip",),
    "imagePullSecrets": ("name",),
    "initContainers": ("name",),
    "ownerReferences": ("uid",),
    "ports": ("containerPort", "port"),
    "secrets": ("name",),
    "topologySpreadConstraints": ("topologyKey",),
    "volumeDevices": ("devicePath",),
    "volumeMounts": ("mountPath",),
    "volumes": ("name",),
    "webhooks": ("name",),
}
_PLAIN_SETS = frozenset({"finalizers"})
_DIRECTIVE = "$patch"


def merge_key(field: str, *lists: list[Any]) -> str | None:
    """Give the key by which items of lists are told apart; None for lists that are one value.

    Args:
        field: name of the lists.
        lists: all that are to be merged.
    """
    items = [item for one in lists for item in one]
    for key in MERGE_KEYS.get(field, ()):
        if items and all(isinstance(item, dict) and (key in item or _DIRECTIVE in item) for item in items):
            return key
    return None


def json_merge(target: Any, patch: Any) -> Any:
    """Merge by RFC 7386: null takes a member away, lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        else:
            merged[name] = json_merge(merged.get(name), value)
    return merged


def strategic_merge(target: Any, patch: Any) -> Any:
    """Merge as Kubernetes' strategic merge patch does: some lists are merged item by item.

    https://github.com/kubernetes/community/blob/master/contributors/devel/sig-api-machinery/strategic-merge-patch.md
    """
    if not isinstance(patch, dict):
        return patch
    if patch.get(_DIRECTIVE) == "replace":
        return {name: value for name, value in patch.items() if name != _DIRECTIVE}
    merged: Document = dict(target) if isinstance(target, dict) else {}
    for name in _dropped(merged, patch):
        del merged[name]
    for name, value in patch.items():
        if name.startswith("$"):
            _directive(merged, name, value)
        elif value is None:
            merged.pop(name, None)
        else:
            merged[name] = _member(name, merged.get(name), value)
    return merged


def _dropped(target: Document, patch: Document) -> list[str]:
    """Members that ``$retainKeys`` does not name: of a union, where one takes another's place."""
    kept = patch.get("$retainKeys")
    return [] if kept is None else [name for name in target if name not in kept]


def _directive(merged: Document, name: str, value: Any) -> None:
    what, _, field = name.partition("/")
    if what == "$deleteFromPrimitiveList":
        merged[field] = [item for item in merged.get(field, []) if item not in value]


def _member(name: str, old: Any, new: Any) -> Any:
    if isinstance(new, list) and isinstance(old, list):
        key = merge_key(name, old, new)
        if key is not None:
            return merge_items(old, new, key)
        return old + [item for item in new if item not in old] if name in _PLAIN_SETS else new
    return strategic_merge(old, new)


def merge_items(old: list[Any], new: list[Any], key: str) -> list[Any]:
    """Merge two lists whose items have a key."""
    if any(item.get(_DIRECTIVE) == "replace" and key not in item for item in new):
        return [item for item in new if item.get(_DIRECTIVE) != "replace"]
    merged = {item[key]: item for item in old}
    for item in new:
        if item.get(_DIRECTIVE) == "delete":
            merged.pop(item[key], None)
        else:
            merged[item[key]] = strategic_merge(merged.get(item[key]), item)
    return list(merged.values())
