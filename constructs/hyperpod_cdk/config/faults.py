"""What pydantic refuses, said as findings in the user's terms."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

from pydantic_core import ErrorDetails

from hyperpod_cdk.config.document import Document
from hyperpod_cdk.config.fields import Location, members, tags_at, type_at, without_tags
from hyperpod_cdk.config.meant import discriminator
from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.form import MISSING_KEY, UNKNOWN_KEY, UNKNOWN_VALUE, WRONG_TYPE
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.service.api_names import ELSEWHERE, OTHER_WORDS, in_spec_style

_WANTED = {
    "int_type": "a whole number, without quotes",
    "int_from_float": "a whole number",
    "bool_type": "true or false, without quotes",
    "string_type": "text; put quotes round it",
    "list_type": "a list, each item on its own line after '- '",
    "dict_type": "a mapping of 'key: value' lines",
    "mapping_type": "a mapping of 'key: value' lines",
    "dataclass_type": "a mapping of 'key: value' lines",
}


def finding(error: ErrorDetails, location: Location, document: Document) -> Finding:
    """One finding for one of pydantic's errors.

    Args:
        error: as pydantic reports it.
        location: steps from the spec's root down, tags of unions included.
        document: the file, for positions.
    """
    path = ""
    for step in without_tags(location):
        path = join(path, step)
    build = _BUILDERS.get(error["type"], _wrong_type)
    found = build(error, location, path)
    # an empty value stands nowhere: the parser gives it the place of what follows
    at_key = build is _unknown_key or error["input"] is None
    return found.at(document.position(found.path, of_key=at_key))


def _missing(_error: ErrorDetails, location: Location, path: str) -> Finding:
    return MISSING_KEY.finding(path, "is missing", allowed=_values_of(type_at(location)))


def _unknown_key(_error: ErrorDetails, location: Location, path: str) -> Finding:
    known = [field.name for field in fields(type_at(location[:-1]))]
    key = in_spec_style(str(location[-1]))
    nearest = [key] if key in known else get_close_matches(key, known, n=2)
    return UNKNOWN_KEY.finding(
        path,
        "is no key that may stand here",
        allowed=_listed(known),
        nearest=nearest,
        fix=f"use {ELSEWHERE[key]} instead" if key in ELSEWHERE and key not in known else None,
    )


def _unknown_value(error: ErrorDetails, location: Location, path: str) -> Finding:
    return _outside(path, error["input"], members(type_at(location)))


def _unknown_tag(error: ErrorDetails, location: Location, path: str) -> Finding:
    field = discriminator(error)
    allowed = tags_at(location, field)
    path = join(path, field)
    if error["type"] == "union_tag_not_found":
        return MISSING_KEY.finding(path, "is missing", allowed=_listed(allowed))
    return _outside(path, error["input"][field], allowed)


def _wrong_type(error: ErrorDetails, location: Location, path: str) -> Finding:
    given = error["input"]
    if given is None:
        return WRONG_TYPE.finding(
            path,
            "has no value",
            allowed=_WANTED.get(error["type"]) or _values_of(type_at(location)),
            fix="give it a value, or remove the key to get the default",
        )
    return WRONG_TYPE.finding(
        path, "is of the wrong type", given=given, allowed=_WANTED.get(error["type"], error["msg"].lower())
    )


def _outside(path: str, given: Any, allowed: list[str]) -> Finding:
    if not isinstance(given, str):
        return WRONG_TYPE.finding(path, "is of the wrong type", given=given, allowed=_listed(allowed))
    folded = {value.casefold(): value for value in allowed}
    meant = OTHER_WORDS.get(given.casefold())
    nearest = (
        [meant]
        if meant in allowed
        else [folded[match] for match in get_close_matches(given.casefold(), folded, n=2, cutoff=0.5)]
    )
    return UNKNOWN_VALUE.finding(
        path, "is not a value of this field", given=given, allowed=_listed(allowed), nearest=nearest
    )


def _values_of(kind: Any) -> str | None:
    return _listed(members(kind)) if isinstance(kind, type) and issubclass(kind, StrEnum) else None


def _listed(values: Iterable[str]) -> str:
    return ", ".join(values)


_BUILDERS: dict[str, Callable[[ErrorDetails, Location, str], Finding]] = {
    "missing": _missing,
    "unexpected_keyword_argument": _unknown_key,
    "enum": _unknown_value,
    "literal_error": _unknown_value,
    "union_tag_invalid": _unknown_tag,
    "union_tag_not_found": _unknown_tag,
}
