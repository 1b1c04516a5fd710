"""Configurations that work elsewhere break no rule here.

Each file of ``valid`` is modelled on a public example, in our own words; its first lines say on which. A line
``# warns: HP…`` names the warnings that are right about it.
"""

import re
from pathlib import Path

import pytest

from hyperpod_cdk.config import load
from hyperpod_cdk.rules import Severity, check

FILES = sorted(Path(__file__).parent.joinpath("valid").glob("*.yaml"))


def expected(path: Path) -> list[str]:
    """Codes of the warnings that a file names."""
    found = re.search(r"^# warns: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1].split() if found else []


def test_there_are_enough() -> None:
    assert len(FILES) >= 20


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_works_elsewhere_breaks_no_rule(path: Path) -> None:
    findings = check(load(path))
    assert [str(one) for one in findings if one.severity is Severity.ERROR] == []
    assert sorted({one.code for one in findings}) == expected(path)
