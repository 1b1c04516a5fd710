"""What the rules pass, the API takes; what the API refuses, the rules have refused."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from hyperpod_cdk.rules import check, errors, registry
from hyperpod_cdk.spec import HyperPodSpec
from tests.unit.rules.members import CARRIED
from tests.unit.rules.random_specs import changed_specs, sound_specs
from tests.unit.rules.requests import refusals, request_of

_SEEN: Counter[str] = Counter()
_settings = settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@_settings
@given(sound_specs())
def test_sound_specs_pass_and_are_taken(spec: HyperPodSpec) -> None:
    assert errors(check(spec)) == []
    request = request_of(spec)
    assert refusals(request) == []
    _SEEN.update(_members(request))


def test_random_specs_reach_every_member() -> None:
    test_sound_specs_pass_and_are_taken()
    assert {member for member in CARRIED if not _SEEN[member]} == {
        # every random script of one's own runs by itself
        "InstanceGroups[].LifeCycleConfig.OnInitComplete",
    } - set(_SEEN)


def holds(spec: HyperPodSpec) -> None:
    """Fail for a spec that the rules pass and the service refuses."""
    if errors(check(spec)):
        return
    assert refusals(request_of(spec)) == []


test_what_is_refused_has_been_told = _settings(given(changed_specs())(holds))


@_settings
@given(changed_specs())
def test_hp100_refuses_nothing_that_the_api_takes(spec: HyperPodSpec) -> None:
    told = [one for one in check(spec) if one.code == "HP100" and one.path.startswith("cluster")]
    if told and not [one for one in told if one.path.endswith("mount_path")]:
        assert refusals(request_of(spec))


@pytest.mark.parametrize(
    "code",
    [
        *("HP100", "HP110", "HP113", "HP114", "HP115", "HP120", "HP122", "HP150"),
        *("HP401", "HP402", "HP403", "HP404", "HP406", "HP407", "HP408", "HP414"),
    ],
)
def test_without_a_rule_a_counterexample_is_found(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    left = tuple(one for one in registry.CHECKS if one.rule.code != code)
    monkeypatch.setattr(registry, "CHECKS", left)
    quick = settings(_settings, max_examples=2000, phases=[Phase.generate])
    with pytest.raises(AssertionError):
        quick(given(changed_specs())(holds))()


def _members(value: Any, path: str = "") -> set[str]:
    found = set()
    if isinstance(value, dict):
        for name, item in value.items():
            below = f"{path}.{name}" if path else name
            found |= {below} | _members(item, below)
    elif isinstance(value, list):
        for item in value:
            found |= _members(item, f"{path}[]")
    return found
