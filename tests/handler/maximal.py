"""A CreateCluster request with every member that the API model has."""

from collections.abc import Iterator
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape

from tests.api_shapes import input_shape


def maximal(shape: Shape, pick: int = 0) -> Any:
    """A value with every member that a shape has.

    Args:
        shape: of the API model.
        pick: which member of a union; a list of unions has one entry for each.
    """
    if isinstance(shape, StructureShape):
        if shape.is_tagged_union:
            name = list(shape.members)[pick % len(shape.members)]
            return {name: maximal(shape.members[name], pick)}
        return {name: maximal(member, pick) for name, member in shape.members.items()}
    if isinstance(shape, ListShape):
        union = isinstance(shape.member, StructureShape) and shape.member.is_tagged_union
        picks = range(len(shape.member.members)) if union else (pick,)
        return [maximal(shape.member, number) for number in picks]
    if isinstance(shape, MapShape):
        return {"a-key": maximal(shape.value, pick)}
    return _scalar(shape)


def paths(value: Any, path: str = "") -> Iterator[str]:
    """The members in a value, named as :func:`~tests.api_shapes.walk` names them.

    A map's keys count as its value's, since the model gives them no names.
    """
    if isinstance(value, dict):
        for name, item in value.items():
            below = f"{path}.{name}" if path else name
            yield below
            yield from paths(item, below)
    elif isinstance(value, list):
        for item in value:
            yield from paths(item, f"{path}[]")


def _scalar(shape: Shape) -> Any:
    least = max(shape.metadata.get("min", 1), 1)
    samples = {"integer": least, "boolean": True, "timestamp": "2026-11-30T12:00:00Z"}
    if shape.type_name in samples:
        return samples[shape.type_name]
    return shape.enum[0] if shape.enum else "x" * least


REQUEST: dict[str, Any] = maximal(input_shape("CreateCluster"))
