"""Findings: what is wrong, where, and what to do about it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any


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


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One fault, or one doubt, about one value.

    ``code`` is stable (``HP301``). ``path`` names the value in the user's terms, such as
    ``cluster.instance_groups[2].instance_type``; empty: the whole. ``given`` is the value found there, None
    when nothing is. ``allowed`` says in words what may stand there, ``nearest`` which valid values come
    closest. ``position`` is known only when the spec came from a file.
    """

    code: str
    severity: Severity
    path: str
    message: str
    fix: str
    given: Any = None
    allowed: str | None = None
    nearest: Sequence[Any] = ()
    position: Position | None = None

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
        head = f"{where}{self.severity} {self.code} {self.path}".rstrip()
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


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return repr(str(value)) if isinstance(value, str) else str(value)
