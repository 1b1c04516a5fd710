"""Every public bug report that handler or construct can meet is named by a test, or here with a reason.

The numbers are those of the project's collection of field reports: A (the cluster API, 1 to 25), B (IAM,
network and bucket, 26 to 42) and C (custom resources, 43 to 73). A test names a report in its name
(``test_44_…``) or in a docstring (``field reports 10, 44``).
"""

import re
from functools import cache
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]

REPORTS = frozenset({*range(1, 74)} - {17, 18, 23, 34, 52, 54, 70})
"""Those between are about something else."""

HELD_BY = {
    25: "test_readme.py::test_the_stack_of_twenty_lines_synthesizes_word_for_word",
}
"""Reports whose test needs no number to be found."""

NOT_MET = {
    33: "pods' network interfaces on Amazon EKS: this cluster is Slurm's",
}
"""Reports about what neither the handler nor its construct does."""

_IN_TEXT = re.compile(r"field\s+reports?\s+((?:\d+|,|\s|and)+)", re.IGNORECASE)
_IN_NAME = re.compile(r"def test_((?:\d+_)+)")


@cache
def named() -> dict[int, set[str]]:
    """The tests' files by the reports that they name."""
    found: dict[int, set[str]] = {}
    for path in set(TESTS.rglob("test_*.py")) - {Path(__file__)}:
        text = path.read_text(encoding="utf-8")
        for mention in [*_IN_TEXT.findall(text), *_IN_NAME.findall(text)]:
            for number in re.findall(r"\d+", mention):
                found.setdefault(int(number), set()).add(str(path.relative_to(TESTS)))
    return found


@pytest.mark.parametrize("number", sorted(REPORTS))
def test_each_is_named_by_a_test_or_has_a_reason(number: int) -> None:
    files = named().get(number)
    if number in NOT_MET:
        assert NOT_MET[number]
        assert not files, "it is met: the reason is out of date"
    elif number in HELD_BY:
        path, _, test = HELD_BY[number].partition("::")
        assert f"def {test}(" in (TESTS / path).read_text(encoding="utf-8")
    else:
        assert files, f"no test names field report {number}"
