"""Reads JSON with errors that name the file, the place in it and what was expected."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from hyperpod_node.errors import NodeError


class Reader(NamedTuple):
    """One value of a JSON document and where it stands.

    Args:
        value: the value.
        where: the file and the way to the value, for errors.
    """

    value: Any
    where: str

    @classmethod
    def parse(cls, text: str, file: str) -> Reader:
        """Read a whole document; what is not JSON is an error with line and column."""
        try:
            return cls(json.loads(text), file)
        except json.JSONDecodeError as error:
            message = f"{file}: not JSON: {error.msg} in line {error.lineno}, column {error.colno}"
            raise NodeError(message) from error

    def wrong(self, expected: str) -> NodeError:
        """The error that this value is."""
        return NodeError(f"{self.where}: expected {expected}, found {json.dumps(self.value)[:80]}")

    def get(self, key: str) -> Reader:
        """A member of an object; one that is absent reads as null, and so do those of null."""
        if self.value is not None and not isinstance(self.value, Mapping):
            raise self.wrong("an object")
        member = None if self.value is None else self.value.get(key)
        return Reader(member, f"{self.where}: {key}" if ":" not in self.where else f"{self.where}.{key}")

    def items(self) -> Sequence[Reader]:
        """The elements of a list; null reads as an empty one."""
        if self.value is None:
            return []
        if not isinstance(self.value, list):
            raise self.wrong("a list")
        return [Reader(value, f"{self.where}[{index}]") for index, value in enumerate(self.value)]

    def members(self) -> Sequence[tuple[str, Reader]]:
        """The members of an object; null reads as an empty one."""
        if self.value is None:
            return []
        if not isinstance(self.value, Mapping):
            raise self.wrong("an object")
        return [(str(key), self.get(str(key))) for key in self.value]

    def text(self, default: str | None = None) -> str:
        """A string that is not empty; `default` stands for null."""
        if self.value is None and default is not None:
            return default
        if not isinstance(self.value, str) or not self.value:
            raise self.wrong("a text")
        return self.value

    def one_of(self, allowed: Sequence[str]) -> str:
        """A string of a closed set."""
        if self.value not in allowed:
            raise self.wrong("one of " + ", ".join(allowed))
        return str(self.value)

    def number(self, *, lowest: int, highest: int) -> int:
        """A whole number within bounds."""
        if type(self.value) is not int or not lowest <= self.value <= highest:
            raise self.wrong(f"a whole number from {lowest} to {highest}")
        return int(self.value)

    def flag(self, *, default: bool = False) -> bool:
        """True or false; `default` stands for null."""
        if self.value is not None and not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return default if self.value is None else self.value
