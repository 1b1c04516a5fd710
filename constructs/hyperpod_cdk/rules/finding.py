"""Findings: what is wrong, where, and what to do about it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Any

_PART = re.compile(
    r"""
    (cluster\.instance_groups | lifecycle\.users)\[\d+\]
    | storage(\.[\w-]+ | \["(\\.|[^"\\])*"\])
    | \w*
    """,
    re.VERBOSE,
)


class Severity(StrEnum):
    """``ERROR`` fails synth; ``WARNING`` can be acknowledged."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, kw_only=True, order=True)
class Position:
    """Place in a file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


_NOWHERE = Position(file="", line=0, column=0)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One fault, or one doubt, about one value.

    ``code`` is stable (``HP301``). ``path`` names the value in the user's terms, such as
    ``cluster.instance_groups[2].instance_type``; empty: the whole. ``given`` is the value found there, None
    when nothing is. ``allowed`` says in words what may stand there, ``nearest`` which valid values come
    closest. ``instance_group`` is the name of the group that the path is in, None outside of groups.
    ``position`` is known only when the spec came from a file.
    """

    code: str
    severity: Severity
    path: str
    message: str
    fix: str
    given: Any = None
    allowed: str | None = None
    nearest: Sequence[Any] = ()
    instance_group: str | None = None
    position: Position | None = None

    @property
    def part(self) -> str:
        """The part of the spec that it is about: a group, a file system, a user, else the section."""
        found = _PART.match(self.path)
        return found[0] if found else ""

    def at(self, position: Position | None) -> "Finding":
        """The same finding at a position."""
        return replace(self, position=position)

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines; ``given`` that JSON does not know becomes text."""
        position = self.position
        return {
            "code": self.code,
            "severity": str(self.severity),
            "path": self.path,
            "instance_group": self.instance_group,
            "message": self.message,
            "given": self.given if isinstance(self.given, str | int | float | None) else str(self.given),
            "allowed": self.allowed,
            "nearest": list(self.nearest),
            "fix": self.fix,
            "file": position.file if position else None,
            "line": position.line if position else None,
            "column": position.column if position else None,
        }

    def __str__(self) -> str:
        """Two to four lines: where, what, given and allowed, what to do."""
        where = f"{self.position}: " if self.position else ""
        group = f" (group {self.instance_group})" if self.instance_group else ""
        head = f"{where}{self.severity} {self.code} {self.path}".rstrip() + group
        given = "" if self.given is None else f", got {_shown(self.given)}"
        lines = [head, f"    {self.message}{given}"]
        if self.allowed:
            nearest = f"; nearest: {', '.join(map(str, self.nearest))}" if self.nearest else ""
            lines.append(f"    allowed: {self.allowed}{nearest}")
        lines.append(f"    fix: {self.fix}")
        return "\n".join(lines)


def errors(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that fail synth."""
    return [finding for finding in findings if finding.severity is Severity.ERROR]


def ordered(findings: Iterable[Finding]) -> list[Finding]:
    """Errors before warnings; among each in the order of the file, else by part and path."""
    return sorted(findings, key=_order)


def by_part(findings: Iterable[Finding]) -> list[tuple[str, list[Finding]]]:
    """Findings in order, those about one part of the spec together under the part's path."""
    return [(part, list(group)) for part, group in groupby(ordered(findings), key=lambda one: one.part)]


def _order(finding: Finding) -> tuple[Any, ...]:
    position = finding.position or _NOWHERE
    numbered = [int(one) if one.isdigit() else one for one in re.split(r"(\d+)", finding.path)]
    return finding.severity is not Severity.ERROR, finding.position is None, position, numbered, finding.code


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(str(value)) if isinstance(value, str) else str(value)
