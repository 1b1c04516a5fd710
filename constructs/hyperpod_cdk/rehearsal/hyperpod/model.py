"""Requests against botocore's SageMaker model, checked as the service's front end checks them."""

import math
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from botocore.model import ListShape, MapShape, OperationModel, ServiceModel, Shape, StructureShape
from moto.core.utils import get_service_model

from hyperpod_cdk.rehearsal.hyperpod.errors import SerializationError, ValidationError

_SIGNS = r"!-/:-@\[-`{-~\u00a1-\u00bf\u00d7\u00f7\u2010-\u2027\u2030-\u2bff\u3001-\u303f"
_UNICODE_CLASSES = {
    r"\p{L}": r"\w",
    r"\p{Z}": r"\s",
    r"\p{N}": r"\d",
    # what is written with letters: the blocks of combining marks, of punctuation and of symbols
    r"\p{M}": r"\u0300-\u036f\u0900-\u0903\u093a-\u094f\u1ab0-\u1aff\u20d0-\u20ff",
    r"\p{S}": _SIGNS,
    r"\p{P}": _SIGNS,
}
_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "structure": (dict,),
    "map": (dict,),
    "list": (list,),
    "string": (str,),
    "integer": (int,),
    "long": (int,),
    "float": (int, float),
    "double": (int, float),
    "boolean": (bool,),
    "timestamp": (int, float, str),
}


def operation(name: str) -> OperationModel:
    """Give the model of a SageMaker operation.

    Args:
        name: as in the API, for example ``CreateCluster``.
    """
    model: ServiceModel = get_service_model("sagemaker")
    return model.operation_model(name)


def check(operation_name: str, request: Any) -> None:
    """Refuse a request that the model does not allow.

    Args:
        operation_name: as in the API.
        request: the parsed JSON body.

    Raises:
        SerializationError: a value has another type than the model says.
        ValidationError: every other breach, all in one message, as the service words them.
    """
    shape = operation(operation_name).input_shape
    found = [] if shape is None else breaches(request, shape)
    if found:
        noun = "validation error" if len(found) == 1 else "validation errors"
        raise ValidationError(f"{len(found)} {noun} detected: {'; '.join(found)}")


def breaches(value: Any, shape: Shape) -> list[str]:
    """Give the texts of what a shape of the model does not allow in a value.

    Args:
        value: parsed JSON, of a request or of an answer.
        shape: what it should be.

    Raises:
        SerializationError: a value has another type than the model says.
    """
    return list(_walk(value, shape, ""))


def _walk(value: Any, shape: Shape, path: str) -> Iterator[str]:
    _check_type(value, shape, path)
    yield from _CONSTRAINTS.get(shape.type_name, _nothing)(value, shape, path)
    yield from _CHILDREN.get(shape.type_name, _nothing)(value, shape, path)


def _check_type(value: Any, shape: Shape, path: str) -> None:
    expected = _JSON_TYPES[shape.type_name]
    is_stray_boolean = isinstance(value, bool) and bool not in expected
    if is_stray_boolean or not isinstance(value, expected):
        raise SerializationError(
            f"{type(value).__name__} value at '{path or 'request'}' can not be read as {shape.type_name}"
        )


def _nothing(_value: Any, _shape: Any, _path: str) -> Iterator[str]:
    return iter(())


def _structure(value: dict[str, Any], shape: StructureShape, path: str) -> Iterator[str]:
    given = {name: member for name, member in value.items() if member is not None}
    for name in shape.required_members:
        if name not in given:
            yield _breach(None, _join(path, name), "Member must not be null")
    for name, member in given.items():
        if name in shape.members:
            yield from _walk(member, shape.members[name], _join(path, name))
        else:
            yield (
                f"Unknown member '{name}' at '{path or 'request'}', must be one of: "
                f"{', '.join(shape.members)}"
            )
    if shape.is_tagged_union and len(given) != 1:
        yield _breach(list(given), path, "Exactly one member must be set")


def _list(value: list[Any], shape: ListShape, path: str) -> Iterator[str]:
    for number, item in enumerate(value, start=1):
        yield from _walk(item, shape.member, f"{path}.{number}.member")


def _map(value: dict[str, Any], shape: MapShape, path: str) -> Iterator[str]:
    for key, item in value.items():
        yield from _walk(key, shape.key, f"{path}.key")
        yield from _walk(item, shape.value, f"{path}.{key}.member")


def _length(value: Any, shape: Shape, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min", 0), shape.metadata.get("max", math.inf)
    if len(value) < low:
        yield _breach(value, path, f"Member must have length greater than or equal to {low}")
    if len(value) > high:
        yield _breach(value, path, f"Member must have length less than or equal to {high}")


def _string(value: str, shape: Shape, path: str) -> Iterator[str]:
    yield from _length(value, shape, path)
    allowed = getattr(shape, "enum", [])
    if allowed and value not in allowed:
        yield _breach(value, path, f"Member must satisfy enum value set: [{', '.join(allowed)}]")
    pattern = shape.metadata.get("pattern")
    if pattern and not _compiled(pattern).fullmatch(value):
        yield _breach(value, path, f"Member must satisfy regular expression pattern: {pattern}")


def _number(value: float, shape: Shape, path: str) -> Iterator[str]:
    low, high = shape.metadata.get("min", -math.inf), shape.metadata.get("max", math.inf)
    if value < low:
        yield _breach(value, path, f"Member must have value greater than or equal to {low}")
    if value > high:
        yield _breach(value, path, f"Member must have value less than or equal to {high}")


_CONSTRAINTS: dict[str, Callable[[Any, Any, str], Iterator[str]]] = {
    "string": _string,
    "list": _length,
    "map": _length,
    "integer": _number,
    "long": _number,
    "float": _number,
    "double": _number,
}
_CHILDREN: dict[str, Callable[[Any, Any, str], Iterator[str]]] = {
    "structure": _structure,
    "list": _list,
    "map": _map,
}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    for theirs, ours in _UNICODE_CLASSES.items():
        pattern = pattern.replace(theirs, ours)
    return re.compile(pattern)


def _join(path: str, name: str) -> str:
    camel = name[:1].lower() + name[1:]
    return f"{path}.{camel}" if path else camel


def _breach(value: Any, path: str, constraint: str) -> str:
    shown = "null" if value is None else f"'{value}'"
    return f"Value {shown} at '{path}' failed to satisfy constraint: {constraint}"


def without_nulls(value: Any) -> Any:
    """Give a request without members that are null, which the service takes for absent."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value
