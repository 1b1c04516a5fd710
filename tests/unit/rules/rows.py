"""The rows of every rule's table, and what kind of row each is.

A row is ``(code, changes, paths)``: once ``changes`` are made to ``specs.BASE``, the rule complains of
``paths`` and of nothing else. Any ``*ROWS`` of a module ``test_*.py`` in this folder counts. A rule needs

* a *valid* row, without tokens, that it passes (best one that only just passes),
* an *invalid* row, without tokens,
* a *token* row, that it passes, with a token at a place that an invalid row changes,
* a *boundary*, if it weighs a number or a size: a valid and an invalid row that are one step apart (a number
  by 1, a text or list by one item, ``/28`` and ``/29``). Whether a rule weighs one is read from its code: it
  compares by ``<``, ``<=``, ``>`` or ``>=``, or an invalid row of it sets a number.

Tokens are ``specs.TEXT_TOKEN``, ``LIST_TOKEN`` and ``NUMBER_TOKEN``: the CDK's markers, without the CDK.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from types import FunctionType
from typing import Any

from hyperpod_cdk.rules.rule import Check
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec
from tests.unit.rules.specs import changed, full_path

_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: what is changed, and the paths that the rule then complains of."""

    code: str
    changes: Mapping[str, Any]
    paths: Sequence[str]

    @property
    def has_token(self) -> bool:
        """Whether any of the changes is a token or holds one."""
        return any(map(_holds_token, self.changes.values()))

    @property
    def valid(self) -> bool:
        """Whether the rule passes these plain values."""
        return not self.paths and not self.has_token

    @property
    def invalid(self) -> bool:
        """Whether the rule refuses these plain values."""
        return bool(self.paths) and not self.has_token


@cache
def rows() -> Mapping[str, Sequence[Row]]:
    """All rows by code."""
    found: dict[str, list[Row]] = {}
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        module = import_module(f"tests.unit.rules.{path.stem}")
        for name in sorted(vars(module)):
            for code, changes, paths in getattr(module, name) if name.endswith("ROWS") else ():
                row = Row(code=code, changes=changes, paths=[full_path(one) for one in paths])
                found.setdefault(code, []).append(row)
    return found


def token_rows(table: Sequence[Row]) -> list[Row]:
    """Rows that pass with a token at a place that an invalid row changes."""
    touched = [full_path(path) for row in table if row.paths for path in row.changes]
    return [
        row
        for row in table
        if row.has_token and not row.paths
        if any(_overlap(full_path(path), other) for path in row.changes for other in touched)
    ]


def boundaries(table: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Pairs of a valid and an invalid row that are one step apart."""
    pairs = product((row for row in table if row.valid), (row for row in table if row.invalid))
    return [
        (good, bad)
        for good, bad in pairs
        if (good.changes.keys() == bad.changes.keys() and adjacent(good.changes, bad.changes))
        or adjacent(changed(good.changes), changed(bad.changes))
    ]


def weighs_a_size(check: Check[HyperPodSpec], table: Sequence[Row]) -> bool:
    """Whether a rule compares by order, or is shown to mind a number."""
    numbers = (value for row in table if row.invalid for value in row.changes.values())
    assert isinstance(check.find, FunctionType)
    return any(type(value) is int for value in numbers) or any(
        isinstance(node, ast.Compare) and any(isinstance(op, _ORDER) for op in node.ops)
        for function in _functions(check.find)
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function))))
    )


def adjacent(one: Any, other: Any) -> bool:
    """Whether two values differ in exactly one place, and there by one step."""
    if isinstance(one, str) and isinstance(other, str):
        return _adjacent_texts(one, other)
    pairs = _pairs(one, other)
    if pairs is not None:
        return _one_step(pairs)
    if isinstance(one, Sequence | Mapping) and isinstance(other, Sequence | Mapping):
        return _adjacent_lengths(list(one), list(other))
    return type(one) is type(other) is int and abs(one - other) == 1


def _pairs(one: Any, other: Any) -> list[tuple[Any, Any]] | None:
    """What lies at the same places of two containers of one kind and the same places, None for others."""
    if is_dataclass(one) and type(one) is type(other) and not isinstance(one, type):
        return [(getattr(one, field.name), getattr(other, field.name)) for field in fields(one)]
    if isinstance(one, Mapping) and isinstance(other, Mapping) and one.keys() == other.keys():
        return [(one[key], other[key]) for key in one]
    if isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        return list(zip(one, other, strict=True))
    return None


def _one_step(pairs: Sequence[tuple[Any, Any]]) -> bool:
    different = [(one, other) for one, other in pairs if one != other]
    return len(different) == 1 and adjacent(*different[0])


def _adjacent_texts(one: str, other: str) -> bool:
    if re.sub(r"\d+", "0", one) == re.sub(r"\d+", "0", other):
        numbers = zip(re.findall(r"\d+", one), re.findall(r"\d+", other), strict=True)
        return _one_step([(int(here), int(there)) for here, there in numbers])
    return _adjacent_lengths(one, other)


def _adjacent_lengths(one: Sequence[Any], other: Sequence[Any]) -> bool:
    """Whether the longer is the shorter and one item more."""
    shorter, longer = sorted((one, other), key=len)
    return len(longer) == len(shorter) + 1 and all(item in longer for item in shorter)


def _overlap(one: str, other: str) -> bool:
    """Whether one path is the other's, or lies below it."""
    return one.startswith(other) or other.startswith(one)


def _holds_token(value: Any) -> bool:
    if is_dataclass(value) and not isinstance(value, type):
        return any(_holds_token(getattr(value, field.name)) for field in fields(value))
    if isinstance(value, Mapping):
        return any(_holds_token(one) for item in value.items() for one in item)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return any(map(_holds_token, value))
    return unresolved(value)


def _functions(function: FunctionType) -> Iterator[FunctionType]:
    """A function and the helpers of its module that it reaches."""
    pending, seen = [function], set()
    while pending:
        one = pending.pop()
        seen.add(one)
        yield one
        named = (one.__globals__.get(name) for name in one.__code__.co_names)
        helpers = (helper for helper in named if isinstance(helper, FunctionType))
        pending += [
            helper for helper in helpers if helper.__module__ == function.__module__ and helper not in seen
        ]
