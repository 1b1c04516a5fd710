"""What differs between the cluster that is asked for and the one that lives, member by member."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botocore.model import ListShape, Shape, StructureShape
from botocore.utils import parse_to_aware_datetime

from .policy import Policy, Rule, rule_for

_SKIPPED = frozenset({Policy.IDENTITY, Policy.TAGS})
_FIXED = frozenset({Policy.NEW_GROUP, Policy.NEW_CLUSTER})

# Lists whose order means something; any other list is a set.
_ORDERED = frozenset({"ClusterInstanceTypes"})


@dataclass(frozen=True, kw_only=True)
class Change:
    """One member that differs.

    Args:
        path: from the request down, items of a keyed list by their key, as in
            ``InstanceGroups[gpu].InstanceCount``.
        rule: what can be done about it.
        new: the value asked for; None when it is absent.
        current: the value that lives; where the service does not tell, that of the last request; None when
            absent.
    """

    path: str
    rule: Rule
    new: Any
    current: Any

    @property
    def name(self) -> str:
        """The member's own name."""
        return self.path.rsplit(".", 1)[-1]


@dataclass(frozen=True, kw_only=True)
class Versions:
    """The same part of three requests; None where it is absent.

    Args:
        new: what is asked for.
        old: what was asked for before; tells a member that was taken away from one that never was.
        live: what DescribeCluster shows.
    """

    new: Any
    old: Any
    live: Any

    def member(self, name: str) -> "Versions":
        """Give a member of all three."""
        return Versions(new=_get(self.new, name), old=_get(self.old, name), live=_get(self.live, name))

    @property
    def current(self) -> Any:
        """What holds now: the living value, or the last request's where the service does not show one."""
        return self.old if self.live is None else self.live


def differences(shape: StructureShape, versions: Versions, path: str, rule: Rule) -> Iterator[Change]:
    """Compare a structure member by member.

    Members that were never asked for are the service's own defaults and no difference.

    Args:
        shape: of the structure.
        versions: the structure in its three forms.
        path: of the structure, empty for the request.
        rule: of the structure.
    """
    for name, member in shape.members.items():
        own = rule_for(shape.name, name, rule)
        if own.policy not in _SKIPPED:
            yield from _member(member, versions.member(name), f"{path}.{name}" if path else name, own)


def keyed(items: Any, key: Callable[[Mapping[str, Any]], str]) -> dict[str, Mapping[str, Any]]:
    """Give list items by their key."""
    return {key(item): item for item in items or ()}


def same(shape: Shape, one: Any, other: Any) -> bool:
    """Whether two values mean the same: order counts only where it has a meaning."""
    return bool(_canonical(shape, one) == _canonical(shape, other))


def _member(shape: Shape, versions: Versions, path: str, rule: Rule) -> Iterator[Change]:
    if versions.new is None:
        yield from _removal(shape, versions, path, rule)
    elif isinstance(shape, StructureShape):
        if versions.current is None and versions.new != rule.default:
            yield Change(path=path, rule=rule, new=versions.new, current=None)
        yield from differences(shape, versions, path, rule)
    elif shape.name == "ClusterInstanceStorageConfigs":
        yield from _storage(shape, versions, path, rule)
    else:
        yield from _value(shape, versions, path, rule)


def _value(shape: Shape, versions: Versions, path: str, rule: Rule) -> Iterator[Change]:
    asked_before = versions.old is not None and same(shape, versions.new, versions.old)
    if asked_before and (rule.policy in _FIXED or rule.once):
        return  # what is fixed can not have changed: the service shows it in another spelling
    current = rule.default if versions.current is None else versions.current
    if current is None or not same(shape, versions.new, current):
        yield Change(path=path, rule=rule, new=versions.new, current=current)


def _removal(shape: Shape, versions: Versions, path: str, rule: Rule) -> Iterator[Change]:
    """A member that was asked for, still holds, and is no longer asked for."""
    if versions.old is None or versions.live is None or not _covers(shape, versions.old, versions.live):
        return
    after = rule.default if rule.reset is None else rule.reset
    if after is not None and _covers(shape, after, versions.live):
        return
    if rule.policy is Policy.SOFTWARE and rule.reset is None:
        return
    yield Change(path=path, rule=rule, new=None, current=versions.live)


def _storage(shape: ListShape, versions: Versions, path: str, rule: Rule) -> Iterator[Change]:
    """Storage has no names; its kind, and whether it is the root volume, tells one entry from another."""
    new, old, live = (keyed(part, _storage_key) for part in (versions.new, versions.old, versions.live))
    for key in new | old:
        entry = Versions(new=new.get(key), old=old.get(key), live=live.get(key))
        yield from _member(shape.member, entry, f"{path}[{key}]", rule)


def _storage_key(entry: Mapping[str, Any]) -> str:
    kind = next(iter(entry), "")
    return f"{kind}/root" if _get(entry.get(kind), "RootVolume") else kind


def _covers(shape: Shape, wanted: Any, shown: Any) -> bool:
    """Whether a value shows everything that was wanted, and perhaps defaults besides."""
    if isinstance(shape, StructureShape):
        return all(
            name in shown and _covers(shape.members[name], value, shown[name])
            for name, value in wanted.items()
        )
    return same(shape, wanted, shown)


def _canonical(shape: Shape, value: Any) -> Any:
    if isinstance(shape, ListShape):
        items = [_text(_canonical(shape.member, item)) for item in value]
        return items if shape.name in _ORDERED else Counter(items)
    if shape.type_name == "timestamp":
        return parse_to_aware_datetime(value).timestamp()
    return value


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None
