"""What could be read of a file with faults: the spec, with the fields marked that a fault may be about."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import MISSING, Field, fields, is_dataclass
from difflib import get_close_matches
from enum import StrEnum
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from hyperpod_cdk.config.document import Document
from hyperpod_cdk.config.fields import Location, bare, hints, type_at, without_tags
from hyperpod_cdk.config.meant import NOTHING, discriminator, meant
from hyperpod_cdk.rules.form import DUPLICATE_KEY
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.unread import class_of, with_unread
from hyperpod_cdk.service.api_names import in_spec_style
from hyperpod_cdk.spec import HyperPodSpec

_ROUNDS = 4
"""Behind what is passed over there may be another fault, such as below a tag that was no tag."""
_STAND_INS: Mapping[Any, Any] = {str: "", int: 0, float: 0.0, bool: False, Sequence: [], Mapping: {}}


class PartReader:
    """Reads past the faults of one document.

    Args:
        document: with its data, and what is wrong with it as YAML.
        adapter: pydantic's view of the spec.
    """

    def __init__(self, document: Document, adapter: TypeAdapter[tuple[HyperPodSpec]]) -> None:
        self._document = document
        self._adapter = adapter
        # by way of text, since what YAML's anchors share has faults of its own at each place
        self._data = json.loads(json.dumps(document.data))
        self._unread: dict[Location, set[str]] = defaultdict(set)
        self._stray: set[str] = set()
        self._stray_entry = False

    def read(self) -> HyperPodSpec | None:
        """The spec, with anything in place of what is wrong; None where nothing can be made of the file."""
        if not isinstance(self._data, dict):
            return None
        self._pass_over_yaml_faults()
        for _ in range(_ROUNDS):
            try:
                (spec,) = self._adapter.validate_json(json.dumps([self._data]))
            except ValidationError as error:
                for one in error.errors(include_url=False):
                    self._pass_over(one, one["loc"][1:])
            else:
                return spec
        return None

    def marked(self, spec: HyperPodSpec) -> HyperPodSpec:
        """A spec of :meth:`read`, whose fields that a fault may be about can not be looked at."""
        for location, part in _parts(spec, ()):
            # a key that is none here may belong into any other mapping
            names = self._stray & {field.name for field in fields(part)} - set(self._at(location))
            if self._stray_entry:
                names |= {name for name, kind in hints(class_of(part)).items() if _holds_named(kind)}
            if names:
                self._unread[location] |= names
        marked: HyperPodSpec = self._mark(spec, ())
        return marked

    def _pass_over_yaml_faults(self) -> None:
        places = dict(_paths(self._data, "", ()))
        for fault in self._document.findings:
            location = places.get(fault.path, ())
            found = self._at(location)
            if fault.code != DUPLICATE_KEY.code and (found or not location):
                # a key or a merge of the mapping: what it would have said is not known
                absent = {field.name for field in _fields(type_at(location))} - set(found)
                self._unread[location] |= absent
            elif location:
                self._leave_out(location)

    def _pass_over(self, error: ErrorDetails, location: Location) -> None:
        if error["type"] == "unexpected_keyword_argument":
            self._pass_over_key(location)
            return
        steps = without_tags(location)
        if error["type"] == "union_tag_invalid":
            steps = (*steps, discriminator(error))
        value = meant(error, location)
        if value is NOTHING or not self._put(steps, value):
            self._leave_out(location)

    def _pass_over_key(self, location: Location) -> None:
        """None of the fields of this mapping or another that it may have been meant for can be looked at."""
        here = without_tags(location[:-1])
        mapping = self._at(here)
        given = str(location[-1])
        key = in_spec_style(given)
        absent = [field.name for field in _fields(type_at(location[:-1])) if field.name not in mapping]
        value = mapping.pop(given, None)
        if key in absent:
            mapping[key] = value
            return
        near = get_close_matches(key, absent, n=2)
        self._unread[here] |= set(near or absent)
        self._stray.add(key)
        # what has a name of the user's own, such as a file system
        self._stray_entry |= isinstance(value, dict) and not near

    def _put(self, steps: Location, value: Any) -> bool:
        holder = self._found(steps[:-1])
        if isinstance(holder, dict):
            holder[str(steps[-1])] = value
        elif isinstance(holder, list) and isinstance(steps[-1], int):
            holder[steps[-1]] = value
        return isinstance(holder, dict | list)

    def _leave_out(self, location: Location) -> None:
        """In place of the innermost field that a location leads through, its default or anything."""
        found = _innermost_field(location)
        if found is None:
            # below a key that is none, which goes as a whole
            return
        place, name, kind = found
        here = without_tags(place)
        self._unread[here].add(name)
        mapping = self._at(here)
        mapping.pop(name, None)
        if any(field.name == name and _is_needed(field) for field in _fields(type_at(place))):
            mapping[name] = _stand_in(kind)

    def _at(self, steps: Location) -> dict[str, Any]:
        """The mapping that is written there; an empty one of no effect where there is none."""
        found = self._found(steps)
        return found if isinstance(found, dict) else {}

    def _found(self, steps: Location) -> Any:
        found: Any = self._data
        for step in steps:
            if isinstance(found, dict):
                found = found.get(str(step))
            elif isinstance(found, list) and isinstance(step, int):
                found = found[step]
            else:
                return None
        return found

    def _mark(self, value: Any, steps: Location) -> Any:
        if isinstance(value, Mapping):
            return {key: self._mark(one, (*steps, key)) for key, one in value.items()}
        if isinstance(value, Sequence) and not isinstance(value, str):
            return tuple(self._mark(one, (*steps, index)) for index, one in enumerate(value))
        if not is_dataclass(value) or isinstance(value, type):
            return value
        made = copy(value)
        vars(made).update({name: self._mark(one, (*steps, name)) for name, one in vars(value).items()})
        names = self._unread.get(steps)
        return with_unread(made, names) if names else made


def _paths(data: Any, path: str, location: Location) -> Iterator[tuple[str, Location]]:
    """Every value's path with its location."""
    yield path, location
    steps = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for step, value in steps:
        yield from _paths(value, join(path, step), (*location, step))


def _parts(value: Any, steps: Location) -> Iterator[tuple[Location, Any]]:
    """Every dataclass of a spec with its location."""
    below: Any = ()
    if is_dataclass(value):
        yield steps, value
        below = vars(value).items()
    elif isinstance(value, Mapping):
        below = value.items()
    elif isinstance(value, Sequence) and not isinstance(value, str):
        below = enumerate(value)
    for step, one in below:
        yield from _parts(one, (*steps, step))


def _innermost_field(location: Location) -> tuple[Location, str, Any] | None:
    """Where the innermost dataclass that a location leads through lies, which field of it, and its type."""
    for end in range(len(location) - 1, -1, -1):
        place, name = location[:end], str(location[end])
        kind = type_at(place)
        if any(field.name == name for field in _fields(kind)):
            return place, name, hints(kind)[name]
    return None


def _fields(kind: Any) -> Sequence["Field[Any]"]:
    return fields(kind) if is_dataclass(kind) else ()


def _holds_named(kind: Any) -> bool:
    """Whether a field holds settings by names of the user's own."""
    kind = bare(kind)
    if get_origin(kind) is not Mapping:
        return False
    value = bare(get_args(kind)[-1])
    return is_dataclass(value) or isinstance(value, UnionType)


def _is_needed(field: "Field[Any]") -> bool:
    return field.default is MISSING and field.default_factory is MISSING


def _stand_in(kind: Any) -> Any:
    """Anything that may stand in a field of a type, as JSON."""
    kind = bare(kind)
    if is_dataclass(kind) and isinstance(kind, type):
        return {one.name: _stand_in(hints(kind)[one.name]) for one in fields(kind) if _is_needed(one)}
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return next(iter(kind))
    origin = get_origin(kind)
    return get_args(kind)[0] if origin is Literal else deepcopy(_STAND_INS[origin or kind])
