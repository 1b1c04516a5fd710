"""Every rule has the rows that it needs; ``rows.py`` says which."""

from typing import Any

import pytest

from hyperpod_cdk.rules.registry import CHECKS
from hyperpod_cdk.rules.rule import Check
from hyperpod_cdk.spec import EbsVolume, HyperPodSpec
from tests.unit.rules.rows import adjacent, boundaries, rows, token_rows, weighs_a_size

# codes that weigh no size although they look as if they did, each with its reason
UNSIZED = {
    "HP564": "weighs a version, which has no next one: rows have the last before the bound, and the bound",
    "HP114": "minds that there is a minimum, whatever it is",
    "HP331": "minds that there is a setting, whatever it is",
}

UNBROKEN = {
    "HP491": "every download has its checksum today: a test of its own in test_node_software takes one away",
}
"""Rules that no spec breaks as long as what this library ships is whole."""


@pytest.mark.parametrize("check", CHECKS, ids=[check.rule.code for check in CHECKS])
class TestEveryRule:
    """One run for each registered rule."""

    def test_has_a_valid_row(self, check: Check[HyperPodSpec]) -> None:
        assert [row for row in rows()[check.rule.code] if row.valid]

    def test_has_an_invalid_row(self, check: Check[HyperPodSpec]) -> None:
        found = [row for row in rows()[check.rule.code] if row.invalid]
        assert bool(found) != (check.rule.code in UNBROKEN)

    def test_has_a_token_row(self, check: Check[HyperPodSpec]) -> None:
        assert bool(token_rows(rows()[check.rule.code])) != (check.rule.code in UNBROKEN)

    def test_has_a_boundary_if_it_weighs_a_size(self, check: Check[HyperPodSpec]) -> None:
        table = rows()[check.rule.code]
        assert boundaries(table) or not weighs_a_size(check, table) or check.rule.code in UNSIZED


def test_rows_belong_to_rules() -> None:
    assert set(rows()) == {check.rule.code for check in CHECKS}


def test_exceptions_are_needed() -> None:
    needed = {check.rule.code for check in CHECKS if weighs_a_size(check, rows()[check.rule.code])}
    assert set(UNSIZED) <= needed
    assert not [code for code in UNSIZED if boundaries(rows()[code])]


@pytest.mark.parametrize(
    ("one", "other", "near"),
    [
        (1200, 1201, True),
        (1200, 1202, False),
        (1200, 1200, False),
        (True, False, False),
        ("a" * 63, "a" * 64, True),
        ("abc", "abd", False),
        ("10.0.0.0/28", "10.0.0.0/29", True),
        ("10.0.0.0/28", "10.0.1.0/29", False),
        (["a"], ["a", "b"], True),
        (["a", 1], ["a", 2], True),
        (["a", 1], ["b", 2], False),
        ({"a": 1}, {"a": 2}, True),
        ({"a": 1}, {"b": 2}, False),
        (EbsVolume(volume_size_in_gb=16384), EbsVolume(volume_size_in_gb=16385), True),
        (EbsVolume(volume_size_in_gb=1), EbsVolume(volume_size_in_gb=3), False),
    ],
)
def test_one_step_apart(one: Any, other: Any, near: bool) -> None:
    assert adjacent(one, other) is near
