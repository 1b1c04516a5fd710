"""What differs between the quota that is asked for and the one that lives."""

import math
from collections.abc import Mapping
from typing import Any

from .live import Live
from .request import PARTS, Desired

DEFAULTS: Mapping[str, Any] = {
    "Description": "",
    "ActivationState": "Enabled",
    "FairShareWeight": 0,
    "PreemptTeamTasks": "LowerPriority",
    "ResourceSharingConfig": {"Strategy": "LendAndBorrow", "BorrowLimit": 50},
    "BorrowLimit": 50,
    "AbsoluteBorrowLimits": [],
    "ComputeQuotaResources": [],
}
"""What an absent member means (API reference: CreateComputeQuota and its types, read in November 2026).

A member that an update leaves out may stay as it was, so that one that is no longer asked for is sent so.
"""

_RESOURCES = frozenset({"ComputeQuotaResources", "AbsoluteBorrowLimits"})
_Key = tuple[str, str]


def changes(desired: Desired, old: Desired, live: Live) -> dict[str, Any]:
    """Give the members that UpdateComputeQuota must be sent, each whole; none when nothing differs.

    Members that were never asked for are the service's, and no difference: it fills in defaults, and the
    parts of an allocation that follow from others.

    Args:
        desired: what is asked for.
        old: what was asked for before; tells a member that was taken away from one that never was.
        live: what the service shows.
    """
    found: dict[str, Any] = {}
    for name in PARTS:
        before = old.request.get(name)
        wanted = _wanted(name, desired.request.get(name), before)
        if wanted is not None and _differs(name, wanted, before, live.description.get(name)):
            found[name] = wanted
    return found


def paths(sent: Mapping[str, Any]) -> str:
    """Name members for people."""
    return ", ".join(sent)


def _wanted(name: str, new: Any, old: Any) -> Any:
    """The new value, with defaults in the place of what the old one had and it has not."""
    if new is None:
        return None if old is None else DEFAULTS.get(name)
    if not isinstance(new, Mapping):
        return new
    before = old if isinstance(old, Mapping) else {}
    filled = {key: _wanted(key, new.get(key), before.get(key)) for key in {**before, **new}}
    if filled.get("Strategy") in ("Lend", "DontLend") and "BorrowLimit" not in new:
        filled.pop("BorrowLimit", None)
    return {key: value for key, value in filled.items() if value is not None}


def _differs(name: str, wanted: Any, old: Any, live: Any) -> bool:
    if isinstance(wanted, Mapping):
        before = old if isinstance(old, Mapping) else {}
        shown = live if isinstance(live, Mapping) else {}
        return any(_differs(key, value, before.get(key), shown.get(key)) for key, value in wanted.items())
    if name in _RESOURCES:
        return _allocation_differs(wanted, old or [], live or [])
    return not _same(wanted, DEFAULTS.get(name) if live is None else live)


def _allocation_differs(wanted: Any, old: Any, live: Any) -> bool:
    asked, before, shown = _keyed(wanted), _keyed(old), _keyed(live)
    if set(asked) != set(shown):
        return True
    return any(_entry_differs(entry, before.get(key, {}), shown[key]) for key, entry in asked.items())


def _entry_differs(entry: Mapping[str, Any], old: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    given = any(not _same(value, live.get(name)) for name, value in entry.items())
    taken = {name: value for name, value in old.items() if name not in entry}
    return given or any(_same(value, live.get(name)) for name, value in taken.items())


def _keyed(entries: Any) -> dict[_Key, Mapping[str, Any]]:
    """By what no two entries share: the instance type, and the profile of a partition."""
    return {
        (entry["InstanceType"], entry.get("AcceleratorPartition", {}).get("Type", "")): entry
        for entry in entries
    }


def _same(one: Any, other: Any) -> bool:
    """Whether two values mean the same; the API's numbers with a fraction have 32 bits."""
    if isinstance(one, float) or isinstance(other, float):
        return other is not None and one is not None and math.isclose(one, other, rel_tol=1e-5)
    return bool(one == other)
