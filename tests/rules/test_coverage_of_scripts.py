"""Every weakness found in scripts of others, and every public report on such scripts, has its test."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.rules.test_coverage_of_reports import Entry, faults, kind, table

WEAKNESSES: Mapping[str, Mapping[str, Any]] = YAML(typ="safe").load(
    Path(__file__).with_name("script_weaknesses.yaml")
)
SCRIPTS = 29
"""In how many scripts one was found."""
ON_SCRIPTS = tuple(
    entry for entry in table("field_reports") if entry.number == 77 or 96 <= entry.number <= 125
)


def test_no_script_is_missing() -> None:
    assert len(WEAKNESSES) == SCRIPTS


@pytest.mark.parametrize("script", WEAKNESSES)
def test_each_weakness_is_met_by_something_that_exists(script: str) -> None:
    row = WEAKNESSES[script]
    assert row["weakness"]
    entry = Entry(table="script_weaknesses", number=0, title=script, by=tuple(row["by"]))
    assert list(faults(entry)) == []
    assert any(kind(reference) == "node script" for reference in entry.by)


@pytest.mark.parametrize("entry", ON_SCRIPTS, ids=str)
def test_each_report_on_scripts_is_met_by_a_test_now(entry: Entry) -> None:
    assert not entry.later
    assert not entry.why_not
    assert any("::" in reference for reference in entry.by), "a rule alone does not show what a node does"
