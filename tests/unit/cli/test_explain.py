"""`explain` and `rules`: what a code stands for."""

import json

import pytest

from hyperpod_cdk import preflight
from hyperpod_cdk.cli import main
from hyperpod_cdk.commands.explain import _complete
from hyperpod_cdk.rules import RULES


def test_rules_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == sorted({*RULES, *preflight.RULES})
    assert main(["explain"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == listed
    for code in RULES:
        assert main(["explain", code.lower()]) == 0
        text = capsys.readouterr().out
        assert text.startswith(f"{code} (")
        assert RULES[code].why in text


@pytest.mark.parametrize(
    ("asked", "offered"),
    [("HP31", "HP310, HP311"), ("HP3O1", "HP361"), ("capacity", "HP301"), ("hp90", "HP900"), ("zzz", "")],
)
def test_unknown_codes_lead_to_the_nearest(
    asked: str, offered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", asked]) == 2
    err = capsys.readouterr().err
    assert f"no rule has the code {asked.upper()}" in err
    assert offered in err
    assert ("nearest" in err) == bool(offered)


def test_several_codes_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "HP301", "hp111"]) == 0
    first, second = capsys.readouterr().out.split("\n\n")
    assert first.startswith("HP301 (error)")
    assert second.startswith("HP111 (warning)")
    assert main(["explain", "HP301", "HP0", "HP9999"]) == 2
    err = capsys.readouterr().err
    assert "HP0;" in err
    assert "HP9999" in err


def test_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--json"]) == 0
    every = json.loads(capsys.readouterr().out)
    assert [one["code"] for one in every] == sorted({*RULES, *preflight.RULES})
    assert main(["explain", "HP301", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [one for one in every if one["code"] == "HP301"]
    assert set(every[0]) == {"code", "severity", "title", "why", "fix", "source"}


def test_shells_complete_codes() -> None:
    assert ("HP301", RULES["HP301"].title) in _complete("hp30")
    assert all(code.startswith("HP3") for code, _ in _complete("HP3"))
