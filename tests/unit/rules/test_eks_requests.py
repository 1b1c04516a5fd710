"""Clusters on Amazon EKS: what the rules pass, the API takes; what it refuses, the rules have refused."""

from collections.abc import Sequence
from typing import Any

import pytest

from hyperpod_cdk.rules import check, errors
from hyperpod_cdk.spec import (
    AutoPatchConfig,
    AutoScaling,
    BatchSize,
    BatchSizeType,
    DeepHealthCheck,
    DrainPolicy,
    EbsVolume,
    EksOrchestrator,
    EnvironmentConfig,
    HyperPodSpec,
    InstanceRequirements,
    KubernetesConfig,
    OnDrainTimeout,
    Orchestrator,
    OverrideVpcConfig,
    PatchingStrategy,
    RollingUpdatePolicy,
    SharedEnvironmentConfig,
    Taint,
    TaintEffect,
    TieredStorageConfig,
    UpdateDeploymentConfig,
)
from tests.unit.rules.eks_specs import WITHOUT_SLURM
from tests.unit.rules.members import ON_EKS, leaves, refused_values, taken_values
from tests.unit.rules.properties import Outcome, members_of, members_of_sound, outcomes_of, said
from tests.unit.rules.random_eks_specs import ARN, LUSTRE, changed_specs, sound_specs
from tests.unit.rules.random_specs import EXISTING, KEY, PLAN, ROLE
from tests.unit.rules.requests import refusals, request_of
from tests.unit.rules.specs import changed, full_path

TYPES = ("ml.g5.8xlarge", "ml.g5.4xlarge")
BATCH = BatchSize(type=BatchSizeType.INSTANCE_COUNT, value=1)
# controller is a restricted group here, login a flexible one
FULL = changed(
    {
        "network": EXISTING,
        "lifecycle.users": (),
        "storage": {},
        "cluster.orchestrator": Orchestrator(eks=EksOrchestrator(cluster_arn=ARN)),
        "cluster.tiered_storage_config": TieredStorageConfig(instance_memory_allocation_percentage=40),
        "cluster.auto_scaling": AutoScaling(cluster_role_arn=ROLE),
        **WITHOUT_SLURM,
        "login.instance_type": None,
        "login.instance_requirements": InstanceRequirements(
            instance_types=["ml.g5.8xlarge", "ml.g5.4xlarge"]
        ),
        "login.kubernetes_config": KubernetesConfig(
            taints=[Taint(key="a", value="b", effect=TaintEffect.NO_SCHEDULE)]
        ),
        "compute.kubernetes_config": KubernetesConfig(labels={"team": "a"}),
        "compute.auto_patch_config": AutoPatchConfig(
            patching_strategy=PatchingStrategy.DRAIN_FIRST,
            next_patch_date="2026-12-31T03:00:00Z",
            drain_policy=DrainPolicy(drain_timeout_in_seconds=60, on_drain_timeout=OnDrainTimeout.FORCE),
            deployment_config=UpdateDeploymentConfig(
                rolling_update_policy=RollingUpdatePolicy(
                    maximum_batch_size=BATCH, rollback_maximum_batch_size=BATCH
                ),
                wait_interval_in_seconds=60,
                auto_rollback_alarm_names=("alarm",),
            ),
        ),
        "controller.instance_type": "ml.p5.48xlarge",
        "controller.environment_config": EnvironmentConfig(fsx_lustre_config=LUSTRE),
        "controller.execution_role_arn": ROLE,
        "controller.threads_per_core": 2,
        "controller.on_start_deep_health_checks": (DeepHealthCheck.INSTANCE_STRESS,),
        "controller.training_plan_arn": PLAN,
        "controller.override_vpc_config": OverrideVpcConfig(
            subnet_ids=("subnet-1",), security_group_ids=("sg-1",)
        ),
        "controller.root_volume": EbsVolume(volume_kms_key_id=KEY),
        "controller.secondary_volume": EbsVolume(volume_size_in_gb=500),
    }
)
# what excludes something of the other one
SHARED = changed(
    {
        "controller.environment_config": EnvironmentConfig(),
        "cluster.shared_environment_config": SharedEnvironmentConfig(fsx_lustre_config=LUSTRE),
        "compute.auto_patch_config": AutoPatchConfig(
            patching_strategy=PatchingStrategy.WHEN_IDLE, idle_wait_window_in_seconds=3600
        ),
    },
    FULL,
)
SHAPES = dict(leaves())
REFUSED = [
    (member, value)
    for member in ON_EKS
    if member in SHAPES and not member.endswith(("InstanceType", "InstanceTypes"))
    for value in refused_values(SHAPES[member])
]
TAKEN = [(member, value) for member in ON_EKS if member in SHAPES for value in taken_values(SHAPES[member])]


def spec_of(member: str) -> HyperPodSpec:
    ours = ("SharedEnvironmentConfig", "IdleWaitWindowInSeconds")
    return SHARED if any(one in member for one in ours) else FULL


def test_the_full_specs_have_every_member_and_are_taken() -> None:
    assert errors(check(FULL)) == errors(check(SHARED)) == []
    assert refusals(request_of(FULL)) == refusals(request_of(SHARED)) == []
    assert set(ON_EKS) <= members_of(request_of(FULL)) | members_of(request_of(SHARED))


@pytest.mark.parametrize(("member", "value"), REFUSED, ids=str)
def test_what_the_api_refuses_is_told_where_it_stands(member: str, value: Any) -> None:
    place = ON_EKS[member]
    spec = changed({place: value}, spec_of(member))
    told = [finding.path for finding in errors(check(spec))]
    assert any(path.startswith(full_path(place)) for path in told)
    # a date is text until a client sends it
    assert said(spec) or value in ("x", 7, "tomorrow"), "the API takes the value; the table is wrong"


@pytest.mark.parametrize(("member", "value"), TAKEN, ids=str)
def test_the_limits_themselves_are_taken(member: str, value: Any) -> None:
    spec = changed({ON_EKS[member]: value}, spec_of(member))
    assert not [finding for finding in check(spec) if finding.code == "HP100"]


@pytest.fixture(scope="module")
def outcomes() -> Sequence[Outcome]:
    """Of many random specs, while the property is held against each."""
    return outcomes_of(changed_specs())


def test_what_the_service_refuses_the_rules_refuse(outcomes: Sequence[Outcome]) -> None:
    refused = [one for one in outcomes if one.refusals]
    assert len(refused) > len(outcomes) / 5
    assert all(one.codes for one in refused)


def test_what_the_rules_pass_the_service_takes(outcomes: Sequence[Outcome]) -> None:
    passed = [one for one in outcomes if not one.codes]
    assert len(passed) > len(outcomes) / 20
    assert not [one for one in passed if one.refusals]


def test_sound_specs_pass_and_have_every_member() -> None:
    assert set(ON_EKS) <= members_of_sound(sound_specs())
