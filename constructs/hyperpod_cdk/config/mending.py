"""What the rules say of a file whose form is wrong, so far as it is plain what was meant."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pydantic_core import ErrorDetails

from hyperpod_cdk.config.fields import Location, without_tags
from hyperpod_cdk.rules.finding import Finding, errors
from hyperpod_cdk.rules.paths import join, parent
from hyperpod_cdk.rules.registry import check
from hyperpod_cdk.spec import HyperPodSpec

_INTEGER = re.compile(r"\s*([+-]?\d+)(?![\d.,])")
_ALL_HANGS_ON = "cluster.orchestrator"
_TRUTHS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


@dataclass(frozen=True, kw_only=True)
class _Fault:
    """A fault of form: ``steps`` lead to it, ``kind`` is pydantic's word for it."""

    steps: Location
    kind: str
    finding: Finding


class _UnclearError(Exception):
    """It can not be told what was meant."""


def mended(data: Any, faults: Iterable[tuple[ErrorDetails, Finding]]) -> tuple[Any, set[str]] | None:
    """The data with each fault of form put right, where it is plain how.

    Args:
        data: a file's, left as it is.
        faults: pydantic's errors, each with the finding that it became.

    Returns:
        the data, and the paths about which nothing can be said; None: what was meant is not plain.
    """
    # by way of text, since what YAML's anchors share would be mended twice
    data, doubtful = json.loads(json.dumps(data)), set[str]()
    try:
        for error, finding in faults:
            steps = without_tags(error["loc"][1:])
            if error["type"] == "union_tag_invalid":
                steps = (*steps, error["ctx"]["discriminator"].strip("'"))
            fault = _Fault(steps=steps, kind=error["type"], finding=finding)
            doubtful |= _MENDERS.get(fault.kind, _unclear)(data, fault)
    except _UnclearError:
        return None
    return None if any(_ALL_HANGS_ON in _line(one) for one in doubtful) else (data, doubtful)


def rest(spec: HyperPodSpec, doubtful: Iterable[str]) -> list[Finding]:
    """The errors of a mended spec, without those that the mending itself may have caused.

    Args:
        spec: read from mended data.
        doubtful: paths about which nothing can be said, nor about what lies below or holds them.
    """
    unsure = set(doubtful)
    holders = {above for one in unsure for above in _line(one)}
    return [
        found
        for found in errors(check(spec))
        if found.path not in holders and unsure.isdisjoint(_line(found.path))
    ]


def _line(path: str) -> Iterator[str]:
    """The path, and those of all that holds it."""
    yield path
    while path:
        path = parent(path)
        yield path


def _rename(data: Any, fault: _Fault) -> set[str]:
    """A misspelt key gets the name that it resembles; one that resembles none goes."""
    holder, key = _holder(data, fault)
    nearest = [name for name in fault.finding.nearest if name not in holder]
    value = holder.pop(key)
    if len(nearest) != 1:
        return {parent(fault.finding.path)}
    holder[nearest[0]] = value
    return {join(parent(fault.finding.path), nearest[0])}


def _missing(_data: Any, _fault: _Fault) -> set[str]:
    """Another fault may be the misspelt key; if none is, the data can not be read."""
    return set()


def _value(data: Any, fault: _Fault) -> set[str]:
    """A value becomes the one that it resembles; its neighbours may hang on it, unless only case differs."""
    if not fault.finding.nearest:
        raise _UnclearError
    holder, key = _holder(data, fault)
    meant = str(fault.finding.nearest[0])
    sure = meant.casefold() == str(holder[key]).casefold()
    holder[key] = meant
    return {fault.finding.path if sure else parent(fault.finding.path)}


def _converted(convert: Callable[[Any], Any]) -> Callable[[Any, _Fault], set[str]]:
    def mend(data: Any, fault: _Fault) -> set[str]:
        holder, key = _holder(data, fault)
        if holder[key] is None:
            del holder[key]
        else:
            holder[key] = convert(holder[key])
        return {fault.finding.path}

    return mend


def _integer(given: Any) -> int:
    found = _INTEGER.match(given) if isinstance(given, str) else None
    if found is None:
        raise _UnclearError
    return int(found[1])


def _truth(given: Any) -> bool:
    if isinstance(given, str) and given.lower() in _TRUTHS:
        return _TRUTHS[given.lower()]
    raise _UnclearError


def _text(given: Any) -> str:
    if isinstance(given, int | float):
        return str(given)
    raise _UnclearError


def _list(given: Any) -> list[Any]:
    return [given]


def _mapping(_given: Any) -> Any:
    raise _UnclearError


def _unclear(_data: Any, _fault: _Fault) -> set[str]:
    raise _UnclearError


def _holder(data: Any, fault: _Fault) -> tuple[Any, Any]:
    holder: Any = data
    for step in fault.steps[:-1]:
        holder = holder[step]
    if not isinstance(holder, dict | list) or (isinstance(holder, list) and fault.finding.given is None):
        raise _UnclearError
    return holder, fault.steps[-1]


_MENDERS: dict[str, Callable[[Any, _Fault], set[str]]] = {
    "missing": _missing,
    "unexpected_keyword_argument": _rename,
    "enum": _value,
    "literal_error": _value,
    "union_tag_invalid": _value,
    "int_type": _converted(_integer),
    "bool_type": _converted(_truth),
    "string_type": _converted(_text),
    "list_type": _converted(_list),
    "dict_type": _converted(_mapping),
    "mapping_type": _converted(_mapping),
    "dataclass_type": _converted(_mapping),
}
