"""The spec's types, walked along a path: which fields, which values."""

import types
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from hyperpod_cdk.spec import HyperPodSpec

Location = tuple[str | int, ...]
"""Steps of a value as pydantic reports them; a tagged union's tag is a step of its own."""


def type_at(location: Location) -> Any:
    """The spec's type at a location, None where the spec has none."""
    found: Any = HyperPodSpec
    for step in location:
        found = _below(_bare(found), step)
    return _bare(found)


def without_tags(location: Location) -> Location:
    """The location as it stands in the file, without the tags of unions."""
    steps: list[str | int] = []
    found: Any = HyperPodSpec
    for step in location:
        if not isinstance(_bare(found), types.UnionType):
            steps.append(step)
        found = _below(_bare(found), step)
    return tuple(steps)


@cache
def hints(cls: type) -> Mapping[str, Any]:
    """Field types of a dataclass of the spec."""
    return get_type_hints(cls, include_extras=True)


def _bare(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        return _bare(get_args(kind)[0])
    if isinstance(kind, types.UnionType) or get_origin(kind) is Union:
        some = [one for one in get_args(kind) if one is not types.NoneType]
        return _bare(some[0]) if len(some) == 1 else kind
    return kind


def _below(kind: Any, step: str | int) -> Any:
    if isinstance(kind, types.UnionType):
        return next((one for one in get_args(kind) if step in get_args(hints(one)["file_system_type"])), None)
    if is_dataclass(kind) and isinstance(kind, type):
        return hints(kind).get(str(step))
    if get_origin(kind) in (Sequence, Mapping):
        return get_args(kind)[-1]
    return None
