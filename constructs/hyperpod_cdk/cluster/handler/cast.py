"""From CloudFormation's strings back to the API's types, by walking the service model."""

from collections.abc import Mapping
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape

from .errors import RefusedError

_DROP = object()
_NUMBERS: Mapping[str, tuple[type[int] | type[float], str]] = {
    "integer": (int, "a whole number"),
    "long": (int, "a whole number"),
    "float": (float, "a number"),
    "double": (float, "a number"),
}
_BOOLEANS = {"true": True, "false": False}


def cast(value: Any, shape: Shape, path: str, *, strict: bool = True) -> Any:
    """Give a value the types of its shape.

    CloudFormation turns 3 and true into strings on the way to a custom resource, and leaves empty strings
    and lists where an optional value was absent. Numbers and booleans come back; text stays text (a label
    "true"); null is dropped, and so are empty strings, lists and maps where the model asks for at least one,
    and a structure that is empty only because of that.

    Args:
        value: from ResourceProperties.
        shape: botocore's shape for it.
        path: what to call the value in an error, for example ``Request.VpcConfig``.
        strict: refuse members that the model does not know; otherwise they are left out.

    Raises:
        RefusedError: an unknown member, or a value that does not fit; names the path.
    """
    kept = _cast(value, shape, path, strict)
    return {} if kept is _DROP else kept


def _cast(value: Any, shape: Shape, path: str, strict: bool) -> Any:
    if value is None:
        return _DROP
    if isinstance(shape, StructureShape):
        return _structure(_mapping(value, path), shape, path, strict)
    if isinstance(shape, ListShape):
        if not isinstance(value, list):
            raise _misfit(path, value, "a list")
        items = [_cast(item, shape.member, f"{path}[{index}]", strict) for index, item in enumerate(value)]
        return _unless_too_short([item for item in items if item is not _DROP], shape)
    if isinstance(shape, MapShape):
        cast_items = {
            str(key): _cast(item, shape.value, f"{path}.{key}", strict)
            for key, item in _mapping(value, path).items()
        }
        return _unless_too_short({key: item for key, item in cast_items.items() if item is not _DROP}, shape)
    return _scalar(value, shape, path)


def _structure(value: Mapping[str, Any], shape: StructureShape, path: str, strict: bool) -> Any:
    unknown = [name for name in value if name not in shape.members]
    if unknown and strict:
        raise RefusedError(_unknown_member(path, unknown[0], list(shape.members)))
    members = {
        name: _cast(item, shape.members[name], f"{path}.{name}", strict)
        for name, item in value.items()
        if name in shape.members
    }
    kept = {name: item for name, item in members.items() if item is not _DROP}
    return _DROP if members and not kept else kept


def _scalar(value: Any, shape: Shape, path: str) -> Any:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, (Mapping, list)):
        raise _misfit(path, value, f"a {shape.type_name}")
    if shape.type_name == "boolean":
        if text not in _BOOLEANS:
            raise _misfit(path, value, "true or false")
        return _BOOLEANS[text]
    if shape.type_name in _NUMBERS:
        kind, wanted = _NUMBERS[shape.type_name]
        try:
            return kind(text)
        except ValueError:
            raise _misfit(path, value, wanted) from None
    return _unless_too_short(text, shape)


def _unless_too_short(value: Any, shape: Shape) -> Any:
    return _DROP if not value and shape.metadata.get("min", 0) >= 1 else value


def _mapping(value: Any, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _misfit(path, value, "an object")
    return value


def _misfit(path: str, value: Any, wanted: str) -> RefusedError:
    return RefusedError(f"{path}: must be {wanted}, got: {value!r}")


def _unknown_member(path: str, name: str, known: list[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 (a good request must not pay for it)

    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return f"{path}.{name}: the SageMaker API knows no such member; {hint}allowed: {', '.join(known)}"
