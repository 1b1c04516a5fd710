"""The options of sacctmgr that are declared: how each is told, read back, compared and set.

Spellings and neutral values were measured with sacctmgr of Slurm 22.05 and 24.11. A limit that nobody sets
reads as an empty text, and -1 takes one away.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from hyperpod_node.errors import NodeError

# sacctmgr 22.05 prints memory in the largest unit without a rest, such as 1500G of 1536000 MiB
_UNITS = {"": 1, "K": 1 / 1024, "M": 1, "G": 1024, "T": 1024**2, "P": 1024**3}
_TIME = re.compile(r"(?:(\d+)-)?(\d+):(\d\d):(\d\d)")

Tres = Mapping[str, int]
Value = Any
"""What two values of an option are compared as: Tres, int, float, str, frozenset, or None for no limit."""


class Kind(NamedTuple):
    """How values of a kind are handled.

    Args:
        read: a value from what sacctmgr prints.
        tell: a value from what is declared in config.json.
        render: the text that sets a value, given the value that it replaces.
        neutral: the value of an option that is not declared.
    """

    read: Callable[[str], Value]
    tell: Callable[[Any], Value]
    render: Callable[[Value, Value], str]
    neutral: Value = None


def _read_tres(text: str) -> Tres:
    found = {}
    for part in filter(None, text.split(",")):
        name, _, amount = part.partition("=")
        match = re.fullmatch(r"(\d+)([KMGTP]?)", amount)
        if match is None:
            raise NodeError(f"sacctmgr prints a TRES that is not known: {part}")
        unit = _UNITS[match[2]] if name == "mem" else 1
        found[name] = int(int(match[1]) * unit)
    return found


def _render_tres(new: Tres, old: Tres) -> str:
    gone = dict.fromkeys(set(old) - set(new), -1)
    return ",".join(f"{name}={amount}" for name, amount in sorted({**new, **gone}.items()))


def _seconds(text: str) -> int | None:
    if not text:
        return None
    match = _TIME.fullmatch(text)
    if match is None:
        raise NodeError(f"sacctmgr prints a time that is not known: {text}")
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return ((days * 24 + hours) * 60 + minutes) * 60 + seconds


def _minutes(text: str) -> int | None:
    seconds = _seconds(text)
    return None if seconds is None else seconds // 60


def _number(text: str) -> int | None:
    return int(text) if text else None


def _share(text: str) -> int | str:
    # what nobody declares, but `sacctmgr modify user ... set fairshare=parent` leaves behind
    return text if text == "parent" else int(text or 1)


def _names(text: str) -> frozenset[str]:
    return frozenset(name for name in text.split(",") if name)


def _limit(new: Value, _old: Value) -> str:
    return "-1" if new is None else str(new)


def _plain(new: Value, _old: Value) -> str:
    return str(new)


def _list(empty: str) -> Callable[[Value, Value], str]:
    return lambda new, _old: ",".join(sorted(new)) or empty


TRES = Kind(read=_read_tres, tell=dict, render=_render_tres, neutral={})
COUNT = Kind(read=_number, tell=int, render=_limit)
MINUTES = Kind(read=_minutes, tell=int, render=_limit)
SHARE = Kind(read=_share, tell=int, render=_plain, neutral=1)
NUMBER = Kind(read=lambda text: _number(text) or 0, tell=int, render=_plain, neutral=0)
SECONDS = Kind(read=lambda text: _seconds(text) or 0, tell=int, render=_plain, neutral=0)
FACTOR = Kind(read=lambda text: float(text or 1), tell=float, render=_plain, neutral=1.0)
QOS_LIST = Kind(read=_names, tell=frozenset, render=_list(""), neutral=frozenset())
FLAGS = Kind(read=_names, tell=frozenset, render=_list("-1"), neutral=frozenset())
DEFAULT_QOS = Kind(read=str, tell=str, render=lambda new, _old: new or "-1", neutral="")
MODE = Kind(read=str.lower, tell=str.lower, render=_plain, neutral="cluster")

LIMITS: Mapping[str, Kind] = {
    "GrpTRES": TRES,
    "GrpTRESMins": TRES,
    "GrpTRESRunMins": TRES,
    "GrpJobs": COUNT,
    "GrpSubmitJobs": COUNT,
    "GrpWall": MINUTES,
    "MaxTRESPerJob": TRES,
    "MaxTRESPerNode": TRES,
    "MaxTRESMinsPerJob": TRES,
    "MaxWall": MINUTES,
}

ASSOCIATION: Mapping[str, Kind] = {
    "Fairshare": SHARE,
    "QOS": QOS_LIST,
    "DefaultQOS": DEFAULT_QOS,
    **LIMITS,
    "MaxJobs": COUNT,
    "MaxSubmitJobs": COUNT,
}
"""Of an account, or of a user in an account."""

QOS: Mapping[str, Kind] = {
    "Priority": NUMBER,
    "Preempt": QOS_LIST,
    "PreemptMode": MODE,
    "GraceTime": SECONDS,
    "Flags": FLAGS,
    "UsageFactor": FACTOR,
    **LIMITS,
    "MaxTRESPerUser": TRES,
    "MaxTRESPerAccount": TRES,
    "MinTRESPerJob": TRES,
    "MaxJobsPerUser": COUNT,
    "MaxJobsPerAccount": COUNT,
    "MaxSubmitJobsPerUser": COUNT,
    "MaxSubmitJobsPerAccount": COUNT,
}
"""Of a quality of service."""

SHOWN = {"MaxTRESMinsPerJob": "MaxTRESMins"}
"""Options whose column has another name; on an association the longer one is not known to 22.05."""

Values = Mapping[str, Value]


def complete(options: Mapping[str, Kind], declared: Mapping[str, Any]) -> Values:
    """The value of every option, that of an undeclared one being neutral."""
    return {
        name: kind.tell(declared[name]) if name in declared else kind.neutral
        for name, kind in options.items()
    }


def read(options: Mapping[str, Kind], cells: Mapping[str, str]) -> Values:
    """The value of every option from the cells of a row."""
    return {name: kind.read(cells[name]) for name, kind in options.items()}


def changes(options: Mapping[str, Kind], old: Values, new: Values) -> dict[str, str]:
    """What has to be set to come from the old values to the new ones."""
    return {
        name: kind.render(new[name], old[name]) for name, kind in options.items() if old[name] != new[name]
    }


def told(value: Value) -> str:
    """A value for people."""
    if isinstance(value, Mapping):
        return ",".join(f"{name}={amount}" for name, amount in sorted(value.items())) or "none"
    if isinstance(value, frozenset):
        return ",".join(sorted(value)) or "none"
    return "none" if value in (None, "") else str(value)
