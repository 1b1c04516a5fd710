"""Server-side apply: who owns which field of an object, and what an applied configuration makes of it.

https://kubernetes.io/docs/reference/using-api/server-side-apply/
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.rehearsal.kubernetes.errors import StatusError
from hyperpod_cdk.rehearsal.kubernetes.merge import merge_key, strategic_merge

Path = tuple[Any, ...]
"""Names of members; an item of a list is (key, its value)."""
Owners = dict[str, set[Path]]
"""The fields of each manager."""
_ABSENT = object()
_IDENTITY = frozenset({("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")})


def fields(config: Mapping[str, Any], *, keyed: bool) -> dict[Path, Any]:
    """Give the values of a configuration by where they stand.

    Args:
        config: an object, or what was applied of it.
        keyed: whether lists of Kubernetes' own kinds are told apart by item; those of others are one value.
    """
    return {path: value for path, value in _walk(config, (), keyed) if path not in _IDENTITY}


def _walk(value: Any, path: Path, keyed: bool) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from _walk(member, (*path, name), keyed)
        return
    key = merge_key(str(path[-1]), value) if keyed and isinstance(value, list) and value else None
    if key is None:
        yield path, value
        return
    for item in value:
        yield from _walk(item, (*path, (key, item[key])), keyed)


def apply(
    live: dict[str, Any],
    config: dict[str, Any],
    *,
    owners: Owners,
    manager: str,
    force: bool,
    keyed: bool,
) -> dict[str, Any]:
    """Give the object that applying a configuration makes, and note who owns its fields.

    Args:
        live: the object as it is.
        config: what is applied.
        owners: of the live object; changed.
        manager: who applies.
        force: take fields over that others own with other values.
        keyed: as of :func:`fields`.

    Raises:
        StatusError: 409, naming the fields that others own, unless ``force``.
    """
    wanted, present = fields(config, keyed=keyed), fields(live, keyed=keyed)
    differing = {path for path, value in wanted.items() if present.get(path, _ABSENT) != value}
    clashes = {
        other: sorted(map(_spelled, theirs & differing))
        for other, theirs in owners.items()
        if other != manager and theirs & differing
    }
    if clashes and not force:
        told = "; ".join(f'conflict with "{other}": {", ".join(paths)}' for other, paths in clashes.items())
        raise StatusError(409, "Conflict", f"Apply failed with conflicts: {told}")
    for other in clashes:
        owners[other] -= differing
    result = copy.deepcopy(live)
    others = {path for name, paths in owners.items() if name != manager for path in paths}
    for path in sorted(owners.get(manager, set()) - set(wanted) - others, key=_is_identity):
        _remove(result, path)
    owners[manager] = set(wanted)
    merged: dict[str, Any] = strategic_merge(result, config) if keyed else _overlay(result, config)
    return merged


def note_update(
    owners: Owners, old: Mapping[str, Any], new: Mapping[str, Any], *, manager: str, keyed: bool
) -> None:
    """Give the fields that an update changes to whoever made it."""
    before, after = fields(old, keyed=keyed), fields(new, keyed=keyed)
    changed = {path for path, value in after.items() if before.get(path, _ABSENT) != value}
    for paths in owners.values():
        paths.difference_update(changed)
    owners.setdefault(manager, set()).update(changed)


def _overlay(target: Any, config: Any) -> Any:
    if not isinstance(config, dict) or not isinstance(target, dict):
        return config
    return {**target, **{name: _overlay(target.get(name), value) for name, value in config.items()}}


def _remove(document: Any, path: Path) -> None:
    step, *rest = path
    if isinstance(step, tuple):
        key, value = step
        found = [item for item in document if item.get(key) == value]
        if found and rest != [key]:
            _remove(found[0], tuple(rest))
        elif found and set(found[0]) == {key}:
            document.remove(found[0])
        return
    if step not in document:
        return
    if rest:
        _remove(document[step], tuple(rest))
    if not rest or document[step] in ({}, []):
        del document[step]


def _is_identity(path: Path) -> bool:
    """Whether a field is what tells an item of a list from others: it goes last, or the item is not found."""
    return len(path) > 1 and isinstance(path[-2], tuple) and path[-2][0] == path[-1]


def _spelled(path: Path) -> str:
    return "".join(f'[{step[0]}="{step[1]}"]' if isinstance(step, tuple) else f".{step}" for step in path)
