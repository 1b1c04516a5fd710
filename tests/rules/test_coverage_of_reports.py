"""Every documented failure and every public report is met by something that exists, or has a reason.

The tables say for each number what meets it. An entry under ``by`` is

* ``HP301``: a rule, told by ``hyperpod-cdk validate`` and at synth;
* ``preflight offerings``: a check of an account, by its name;
* ``handler/test_wait.py::test_…``: a test, by its path below ``tests`` and its name.

Instead of it stands ``why_not`` (nothing here can meet it) or ``later`` (it can be met and is not yet; beside
``by``: in part). The README shows the counts, each number in the first column that fits: what a user learns
first counts, and what is met in part is not yet met.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from hyperpod_cdk.preflight.registry import CHECKS
from hyperpod_cdk.rules import RULES

TESTS = Path(__file__).parents[1]
README = TESTS.parent / "README.md"
NUMBERS: Mapping[str, frozenset[int]] = {
    "failure_modes": frozenset(range(1, 103)),
    # the others are about something else
    "field_reports": frozenset(range(1, 150)) - {17, 18, 23, 34, 52, 54, 70, 82, 88, 97, 104, 114, 118},
}
"""The numbers of each table's collection."""
COLUMNS = ("rule", "preflight", "construct", "handler", "node script", "can not be", "not yet")
_FOLDERS = {"handler": "handler", "lifecycle": "node script"}


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One number of a table."""

    table: str
    number: int
    title: str
    by: tuple[str, ...] = ()
    why_not: str = ""
    later: str = ""

    def __str__(self) -> str:
        return f"{self.table} {self.number}"

    @property
    def column(self) -> str:
        """Where it is counted: by what meets it first, in the order in which users meet them."""
        if self.why_not or self.later:
            return "can not be" if self.why_not else "not yet"
        return min(map(kind, self.by), key=COLUMNS.index)


def kind(reference: str) -> str:
    """What sort of thing a reference is."""
    if reference.startswith("HP"):
        return "rule"
    if reference.startswith("preflight "):
        return "preflight"
    return _FOLDERS.get(reference.partition("/")[0], "construct")


@cache
def table(name: str) -> tuple[Entry, ...]:
    """The entries of a table."""
    data = YAML(typ="safe").load(Path(__file__).with_name(f"{name}.yaml"))
    return tuple(
        Entry(table=name, number=number, **{**row, "by": tuple(row.get("by", ()))})
        for number, row in data.items()
    )


ENTRIES = [entry for name in NUMBERS for entry in table(name)]


@cache
def names_in(path: str) -> frozenset[str]:
    """Names of the test functions of a file below ``tests``, those in classes included."""
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    )


def faults(entry: Entry) -> Iterator[str]:
    """What an entry points at that is not there."""
    preflight = {check.name for check in CHECKS}
    for reference in entry.by:
        what = kind(reference)
        if what == "rule":
            if reference not in RULES:
                yield f"no rule has the code {reference}"
        elif what == "preflight":
            if reference.removeprefix("preflight ") not in preflight:
                yield f"no check is called {reference}"
        else:
            path, *_, name = reference.split("::")
            if not (TESTS / path).is_file():
                yield f"no file {path}"
            elif name not in names_in(path):
                yield f"no test {name} in {path}"


@pytest.mark.parametrize("name", NUMBERS)
def test_no_number_is_missing(name: str) -> None:
    assert {entry.number for entry in table(name)} == NUMBERS[name]


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_each_points_at_something_that_exists(entry: Entry) -> None:
    assert entry.title
    assert bool(entry.why_not) != bool(entry.by or entry.later)
    assert list(faults(entry)) == []


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("HP999", "no rule has the code HP999"),
        ("preflight nothing", "no check is called preflight nothing"),
        ("handler/test_nothing.py::test_x", "no file handler/test_nothing.py"),
        ("handler/test_wait.py::test_x", "no test test_x in handler/test_wait.py"),
    ],
)
def test_what_is_not_there_is_told(reference: str, told: str) -> None:
    assert list(faults(Entry(table="t", number=1, title="x", by=(reference,)))) == [told]


def counts(name: str) -> str:
    """A table's row in the README."""
    found = Counter(entry.column for entry in table(name))
    cells = [name.replace("_", " "), str(len(table(name))), *(str(found[column]) for column in COLUMNS)]
    return f"| {' | '.join(cells)} |"


@pytest.mark.parametrize("name", NUMBERS)
def test_the_readme_shows_the_counts(name: str) -> None:
    assert counts(name) in README.read_text(encoding="utf-8").splitlines()
