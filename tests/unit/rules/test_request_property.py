"""What the rules pass, the API takes; what the API refuses, the rules have refused."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings

from hyperpod_cdk.rules import check
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
from tests.unit.rules.properties import Outcome, members_of_sound, outcomes_of, reproducible, said
from tests.unit.rules.random_specs import PLAN, SECRET, changed_specs, sound_specs
from tests.unit.rules.specs import changed

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


@pytest.fixture(scope="module")
def outcomes() -> Sequence[Outcome]:
    """Of many random specs, while the property is held against each."""
    return outcomes_of(changed_specs(), also=[changed(changes) for changes in ONE_FAULT.values()])


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


def test_sound_specs_pass_and_have_every_member() -> None:
    assert set(CARRIED) <= members_of_sound(sound_specs())


@settings(reproducible, max_examples=100)
@given(changed_specs())
def test_hp100_refuses_nothing_that_the_api_takes(spec: HyperPodSpec) -> None:
    told = [one for one in check(spec) if one.code == "HP100" and one.path.startswith("cluster")]
    # an empty path is a default to the request; a legacy cluster's request has neither mounts nor partitions
    if told and not is_legacy(spec) and not any(one.path.endswith("mount_path") for one in told):
        assert said(spec)
