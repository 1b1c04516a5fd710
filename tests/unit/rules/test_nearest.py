"""What a finding offers is right: with the nearest value in place the rule has no more to say there."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.registry import CHECKS
from hyperpod_cdk.rules.rule import Check
from hyperpod_cdk.spec import HyperPodSpec
from tests.unit.rules.rows import rows
from tests.unit.rules.specs import changed


def value_at(spec: HyperPodSpec, path: str) -> Any:
    """What stands at a path; None if nothing does."""
    value: Any = spec
    for step in re.findall(r"\w[\w-]*", path):
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list | tuple):
            value = value[int(step)] if int(step) < len(value) else None
        else:
            value = getattr(value, step, None)
    return value


OFFERS = [
    pytest.param(check, spec, finding, id=f"{check.rule.code}-{finding.path}-{finding.given}")
    for check in CHECKS
    for row in rows()[check.rule.code]
    if row.paths
    for spec in (changed(row.changes),)
    for finding in check(spec)
    # keys that are no plain names are not what `changed` reads
    if finding.nearest and '["' not in finding.path
    # an offer for a key stands at the path of the mapping
    if not isinstance(value_at(spec, finding.path), Mapping)
]


@pytest.mark.parametrize(("check", "spec", "finding"), OFFERS)
def test_an_offer_is_taken(check: Check[HyperPodSpec], spec: HyperPodSpec, finding: Finding) -> None:
    for value in finding.nearest:
        mended = changed({finding.path: _as_given(value, finding.given)}, spec)
        assert finding.path not in [one.path for one in check(mended)], value


def test_many_rules_offer_something() -> None:
    offering = {one.values[0].rule.code for one in OFFERS}  # type: ignore[union-attr]
    assert {
        "HP100",
        "HP104",
        "HP108",
        "HP111",
        "HP113",
        "HP141",
        "HP202",
        "HP203",
        "HP222",
        "HP301",
    } <= offering


@pytest.mark.parametrize(
    ("changes", "code", "offered"),
    [
        ({"compute.instance_count": -1}, "HP100", [0]),
        ({"compute.instance_count": 6759}, "HP100", [6758]),
        ({"compute.instance_group_name": "gpu_group"}, "HP100", ["gpu-group"]),
        ({"log_retention_days": 91}, "HP104", [90, 120]),
        ({"log_retention_days": 0}, "HP104", [1]),
        ({"log_retention_days": 4000}, "HP104", [3653]),
        ({"network.cidr": "10.0.0.1/16"}, "HP202", ["10.0.0.0/16"]),
        ({"network.cidr": "10.0.0.0/29"}, "HP202", []),
        ({"compute.instance_type": "p5.48xlarge"}, "HP108", ["ml.p5.48xlarge"]),
    ],
)
def test_offers_word_for_word(changes: dict[str, Any], code: str, offered: list[Any]) -> None:
    (check,) = (one for one in CHECKS if one.rule.code == code)
    (finding,) = check(changed(changes))
    assert list(finding.nearest)[: len(offered) or None] == offered


def _as_given(value: Any, given: Any) -> Any:
    """The offer as an enum member, where one was given."""
    return type(given)(value) if isinstance(given, str) and type(given) is not str else value
