"""Requests as other tools spell them, in the API's own spelling."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hyperpod_cdk.service.shapes import Shape, shape


def shaped(request: Any) -> Any:
    """A CreateCluster request with the API's names and types.

    Names may be in snake case or camel case, as in YAML files of command lines; numbers, booleans and lists
    may be texts, as in CloudFormation. What the API does not know stays as it is.
    """
    return _shaped(request, shape("sagemaker", "CreateClusterRequest"))


def _shaped(value: Any, kind: Shape) -> Any:
    if kind.members and isinstance(value, dict):
        return {name: _member(item, kind, name) for name, item in _named(value, kind.members)}
    if kind.item:
        # a parameter of a list type is a text with commas
        items = re.split(r"\s*,\s*", value) if isinstance(value, str) else value
        inner = shape(kind.service, kind.item)
        return [_shaped(item, inner) for item in items] if isinstance(items, list) else value
    return _number(value, kind.kind) if isinstance(value, str) else value


def _named(value: Mapping[Any, Any], members: Iterable[str]) -> Iterator[tuple[Any, Any]]:
    """Items under the API's names; one that is there in two spellings keeps the other, and is told later."""
    names = {_folded(member): member for member in members}
    for key, item in value.items():
        name = names.get(_folded(key), key)
        yield (key if name in value else name), item


def _member(value: Any, kind: Shape, name: Any) -> Any:
    return _shaped(value, shape(kind.service, kind.members[name])) if name in kind.members else value


def _folded(name: Any) -> str:
    return str(name).replace("_", "").casefold()


def _number(text: str, kind: str) -> Any:
    if kind in ("integer", "long") and re.fullmatch(r"-?\d+", text):
        return int(text)
    if kind == "boolean" and text in ("true", "false"):
        return text == "true"
    return text
