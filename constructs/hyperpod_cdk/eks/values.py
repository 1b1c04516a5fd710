"""Values of charts and add-ons: nested mappings."""

from collections.abc import Mapping
from typing import Any


def merged(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Both, the other's values where both have one."""
    both = dict(one)
    for key, value in other.items():
        mine = both.get(key)
        nested = isinstance(mine, Mapping) and isinstance(value, Mapping)
        both[key] = merged(mine, value) if nested and isinstance(mine, Mapping) else value
    return both
