"""HP0xx for a spec made in Python: values of other types than the fields have.

Every other rule takes the types for granted, so that none of them runs on such a spec.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.form import MISSING_KEY, UNKNOWN_VALUE, WRONG_TYPE
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.tokens import unresolved

_IN_WORDS: Mapping[type, str] = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "True or False",
    list: "a list or tuple",
    dict: "a mapping",
}


def mistyped(part: object, path: str = "") -> Iterator[Finding]:
    """What is missing in a dataclass of the spec, of another type, or outside a closed set.

    Args:
        part: an instance; tokens are passed over.
        path: of the part, from the spec's root.
    """
    cls: type = type(part)
    for name, kind in _hints(cls).items():
        yield from _wrong(getattr(part, name), kind, join(path, name))


@cache
def _hints(cls: type) -> Mapping[str, Any]:
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: hints[field.name] for field in fields(cls)}


def _wrong(value: Any, kind: Any, path: str) -> Iterator[Finding]:
    # values of a chart and settings of an add-on are whatever these take
    if kind is Any or (isinstance(value, str | float) and unresolved(value)):
        return
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _wrong(value, get_args(kind)[0], path)
    elif origin in (Union, UnionType):
        yield from _wrong_choice(value, get_args(kind), path)
    elif value is None:
        yield MISSING_KEY.finding(path, "is missing", allowed=_in_words(kind), fix="give it")
    else:
        yield from _wrong_given(value, kind, path)


def _wrong_given(value: Any, kind: Any, path: str) -> Iterator[Finding]:
    origin = get_origin(kind)
    if origin is Literal:
        if value not in get_args(kind):
            yield _outside(path, value, map(repr, get_args(kind)))
    elif origin is not None:
        yield from _wrong_items(value, origin, get_args(kind), path)
    elif issubclass(kind, StrEnum):
        if not isinstance(value, kind):
            yield _outside(path, value, map(str, (f"{kind.__name__}.{one.name}" for one in kind)))
    elif not _is_a(value, kind):
        yield _of_another_type(value, kind, path)
    elif is_dataclass(value):
        yield from mistyped(value, path)


def _wrong_choice(value: Any, kinds: Sequence[Any], path: str) -> Iterator[Finding]:
    """A value that may be of several types: None, or of the only other, or of one of some dataclasses."""
    if value is None and type(None) in kinds:
        return
    others = [kind for kind in kinds if kind is not type(None)]
    fitting = [kind for kind in others if isinstance(kind, type) and isinstance(value, kind)]
    if len(others) == 1 or fitting:
        yield from _wrong(value, (fitting or others)[0], path)
    else:
        allowed = " or ".join(map(_in_words, others))
        yield WRONG_TYPE.finding(path, "is of the wrong type", given=value, allowed=allowed)


def _wrong_items(value: Any, origin: Any, kinds: Sequence[Any], path: str) -> Iterator[Finding]:
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            yield _of_another_type(value, dict, path)
            return
        for key, item in value.items():
            yield from _wrong(key, kinds[0], path)
            yield from _wrong(item, kinds[1], join(path, str(key)))
    elif not isinstance(value, list | tuple):
        yield _of_another_type(value, list, path)
    else:
        for index, item in enumerate(value):
            yield from _wrong(item, kinds[0], join(path, index))


def _is_a(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float if kind is float else kind)


def _of_another_type(value: Any, kind: Any, path: str) -> Finding:
    given = value if isinstance(value, str | int | float) else type(value).__name__
    return WRONG_TYPE.finding(path, "is of the wrong type", given=given, allowed=_in_words(kind))


def _outside(path: str, value: Any, allowed: Any) -> Finding:
    return UNKNOWN_VALUE.finding(
        path, "is not a value of this field", given=value, allowed=", ".join(allowed)
    )


def _in_words(kind: Any) -> str:
    plain = get_origin(kind) or kind
    if isinstance(plain, type) and not is_dataclass(plain) and issubclass(plain, Mapping):
        plain = dict
    elif isinstance(plain, type) and plain is not str and issubclass(plain, Sequence):
        plain = list
    return _IN_WORDS.get(plain) or f"of type {getattr(plain, '__name__', plain)}"
