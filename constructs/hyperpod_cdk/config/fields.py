"""The spec's types, walked along a path: which fields, which values."""

import types
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from hyperpod_cdk.spec import HyperPodSpec

Location = tuple[str | int, ...]
"""Steps of a value as pydantic reports them; a tagged union's tag is a step of its own."""


def type_at(location: Location) -> Any:
    """The spec's type at a location, None where the spec has none."""
    found: Any = HyperPodSpec
    for step in location:
        found = _below(bare(found), step)
    return bare(found)


def without_tags(location: Location) -> Location:
    """The location as it stands in the file, without the tags of unions."""
    steps: list[str | int] = []
    found: Any = HyperPodSpec
    for step in location:
        if not isinstance(bare(found), types.UnionType):
            steps.append(step)
        found = _below(bare(found), step)
    return tuple(steps)


@cache
def hints(cls: type) -> Mapping[str, Any]:
    """Field types of a dataclass of the spec."""
    return get_type_hints(cls, include_extras=True)


def members(kind: Any) -> list[str]:
    """The values of a closed set."""
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return [str(member) for member in kind]
    return [str(value) for value in get_args(kind)]


def tags_at(location: Location, field: str) -> list[str]:
    """What a field may be that tells the members of the union at a location apart."""
    return [tag for one in get_args(type_at(location)) for tag in get_args(hints(one)[field])]


def bare(kind: Any) -> Any:
    """A type without annotations, and without None."""
    if get_origin(kind) is Annotated:
        return bare(get_args(kind)[0])
    if isinstance(kind, types.UnionType) or get_origin(kind) is Union:
        some = [one for one in get_args(kind) if one is not types.NoneType]
        return bare(some[0]) if len(some) == 1 else kind
    return kind


def _below(kind: Any, step: str | int) -> Any:
    if isinstance(kind, types.UnionType):
        return next((one for one in get_args(kind) if step in get_args(hints(one)["file_system_type"])), None)
    if is_dataclass(kind) and isinstance(kind, type):
        return hints(kind).get(str(step))
    if get_origin(kind) in (Sequence, Mapping):
        return get_args(kind)[-1]
    return None
