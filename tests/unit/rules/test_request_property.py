"""What the rules pass, the API takes; what the API refuses, the rules have refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings

from hyperpod_cdk.rules import check, errors
from hyperpod_cdk.rules.look import is_legacy
from hyperpod_cdk.spec import (
    AccountingDatabase,
    CapacityType,
    EbsVolume,
    HyperPodSpec,
    LifeCycleConfig,
    NodeProvisioningMode,
    NodeType,
    SlurmConfig,
    SlurmConfigStrategy,
)
from tests.unit.rules.members import CARRIED
from tests.unit.rules.random_specs import PLAN, SECRET, changed_specs, sound_specs
from tests.unit.rules.requests import refusals, request_of
from tests.unit.rules.specs import changed

# the same specs each time, so that what they reach can be counted on
reproducible = settings(
    deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


ALL_AT_ONCE = {"cluster.node_provisioning_mode": NodeProvisioningMode.ALL_AT_ONCE}
MERGE = {"slurm.slurm_config_strategy": SlurmConfigStrategy.MERGE}
# a spec with each fault alone, since random ones may miss one
ONE_FAULT: dict[str, dict[str, Any]] = {
    "HP110": {"compute.instance_group_name": "login"},
    "HP113": {"compute.min_instance_count": 5},
    "HP114": {**ALL_AT_ONCE, **MERGE, "login.min_instance_count": 1},
    "HP115": {"controller.training_plan_arn": PLAN},
    "HP120": {"compute.root_volume": EbsVolume()},
    "HP150": {**ALL_AT_ONCE, **MERGE, "compute.capacity_requirements": CapacityType.SPOT},
    "HP401": {"controller.slurm_config": SlurmConfig(node_type=NodeType.COMPUTE, partition_names=("a",))},
    "HP402": {"controller.instance_count": 2},
    "HP403": {"compute.slurm_config": SlurmConfig(node_type=NodeType.LOGIN)},
    "HP404": {"compute.slurm_config.partition_names": ()},
    "HP406": MERGE,
    "HP407": ALL_AT_ONCE,
    "HP408": {
        **ALL_AT_ONCE,
        **MERGE,
        "slurm.accounting_database": AccountingDatabase(endpoint="db", secret_arn=SECRET),
    },
    "HP414": {"compute.life_cycle_config": LifeCycleConfig(source_s3_uri="s3://b/p/")},
}


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What rules and service say to a spec: the codes of errors, and the service's texts."""

    codes: frozenset[str]
    refusals: Sequence[str]


@pytest.fixture(scope="module")
def outcomes() -> Sequence[Outcome]:
    """Of many random specs, while the property is held against each."""
    found: list[Outcome] = []

    @settings(reproducible, max_examples=300)
    @given(changed_specs())
    def property_holds(spec: HyperPodSpec) -> None:
        codes = frozenset(finding.code for finding in errors(check(spec)))
        refused = said(spec)
        assert codes or not refused
        found.append(Outcome(codes=codes, refusals=refused))

    for changes in ONE_FAULT.values():
        property_holds = example(changed(changes))(property_holds)
    property_holds()
    return found


def test_what_the_service_refuses_the_rules_refuse(outcomes: Sequence[Outcome]) -> None:
    refused = [one for one in outcomes if one.refusals]
    assert len(refused) > len(outcomes) / 3
    assert all(one.codes for one in refused)


def test_what_the_rules_pass_the_service_takes(outcomes: Sequence[Outcome]) -> None:
    passed = [one for one in outcomes if not one.codes]
    assert len(passed) > len(outcomes) / 20
    assert not [one for one in passed if one.refusals]


@pytest.mark.parametrize(
    "code",
    ["HP005", "HP100", *ONE_FAULT],
)
def test_without_any_one_rule_the_property_would_not_hold(code: str, outcomes: Sequence[Outcome]) -> None:
    assert [one for one in outcomes if one.refusals and one.codes == {code}]


@settings(reproducible, max_examples=100)
@given(sound_specs())
def test_sound_specs_pass(spec: HyperPodSpec) -> None:
    assert errors(check(spec)) == []
    assert said(spec) == []


def test_sound_specs_have_every_member() -> None:
    seen: set[str] = set()

    @settings(reproducible, max_examples=100)
    @given(sound_specs())
    def look(spec: HyperPodSpec) -> None:
        seen.update(members_of(request_of(spec)))

    look()
    assert set(CARRIED) <= seen


@settings(reproducible, max_examples=100)
@given(changed_specs())
def test_hp100_refuses_nothing_that_the_api_takes(spec: HyperPodSpec) -> None:
    told = [one for one in check(spec) if one.code == "HP100" and one.path.startswith("cluster")]
    # an empty path is a default to the request; a legacy cluster's request has neither mounts nor partitions
    if told and not is_legacy(spec) and not any(one.path.endswith("mount_path") for one in told):
        assert said(spec)


def said(spec: HyperPodSpec) -> list[str]:
    """Why the emulated service refuses what a spec becomes."""
    try:
        request = request_of(spec)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # no request can be made of it at all
        return [repr(error)]
    return refusals(request)


def members_of(value: Any, path: str = "") -> set[str]:
    """Every member of a request, as a path."""
    found = set()
    if isinstance(value, dict):
        for name, item in value.items():
            below = f"{path}.{name}" if path else name
            found |= {below} | members_of(item, below)
    elif isinstance(value, list):
        for item in value:
            found |= members_of(item, f"{path}[]")
    return found
