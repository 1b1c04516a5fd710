"""What a value of the wrong form was meant to be, where there is no doubt."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic_core import ErrorDetails

from hyperpod_cdk.config.fields import Location, members, tags_at, type_at

NOTHING: Final = object()
"""It can not be told."""

_WHOLE = re.compile(r"[+-]?\d+")
_TRUTHS = {"true": True, "false": False}


def meant(error: ErrorDetails, location: Location) -> Any:
    """The value in its right form; :data:`NOTHING` where there is room for doubt.

    Args:
        error: as pydantic reports it.
        location: of the value, from the spec's root down.
    """
    return _MEANT.get(error["type"], _unclear)(error["input"], error, location)


def discriminator(error: ErrorDetails) -> str:
    """The field that tells the members of a union apart, of an error about it."""
    return str(error["ctx"]["discriminator"]).strip("'")


def _unclear(_given: Any, _error: ErrorDetails, _location: Location) -> Any:
    return NOTHING


def _number(given: Any, _error: ErrorDetails, _location: Location) -> Any:
    return int(given) if isinstance(given, str) and _WHOLE.fullmatch(given) else NOTHING


def _truth(given: Any, _error: ErrorDetails, _location: Location) -> Any:
    return _TRUTHS.get(given.lower(), NOTHING) if isinstance(given, str) else NOTHING


def _text(given: Any, _error: ErrorDetails, _location: Location) -> Any:
    return str(given) if type(given) is int else NOTHING


def _list(given: Any, _error: ErrorDetails, _location: Location) -> Any:
    # one scalar alone; what a mapping was to be is another question
    return [given] if isinstance(given, str | int) else NOTHING


def _one_of(given: Any, _error: ErrorDetails, location: Location) -> Any:
    return _in_another_case(given, members(type_at(location)))


def _tag(given: Any, error: ErrorDetails, location: Location) -> Any:
    field = discriminator(error)
    return _in_another_case(given[field], tags_at(location, field))


def _in_another_case(given: Any, allowed: list[str]) -> Any:
    same = [one for one in allowed if isinstance(given, str) and one.casefold() == given.casefold()]
    return same[0] if len(same) == 1 else NOTHING


_MEANT: Mapping[str, Callable[[Any, ErrorDetails, Location], Any]] = {
    "int_type": _number,
    "bool_type": _truth,
    "string_type": _text,
    "list_type": _list,
    "enum": _one_of,
    "literal_error": _one_of,
    "union_tag_invalid": _tag,
}
