"""Rules of instance groups on Amazon EKS (HP5xx)."""

from typing import Any

import pytest

from hyperpod_cdk.rules.eks_groups import NOT_RESTRICTED
from hyperpod_cdk.service.api_names import in_spec_style
from hyperpod_cdk.service.shapes import shape
from hyperpod_cdk.spec import (
    AutoPatchConfig,
    AutoScaling,
    DrainPolicy,
    EnvironmentConfig,
    InstanceRequirements,
    KubernetesConfig,
    LifeCycleConfig,
    NodeRecovery,
    PatchingStrategy,
    SharedLustre,
    TieredStorageConfig,
)
from tests.unit.rules.eks_specs import (
    ALL_AT_ONCE,
    LUSTRE,
    NUMBER,
    SHARE,
    SHARED,
    STRATEGY,
    STRESSED,
    TAINT,
    TIERED,
    TWO,
    labels,
    plane,
)
from tests.unit.rules.specs import TEXT_TOKEN, changed, findings, full_path

BESIDE = {
    "cluster.shared_environment_config": SHARED,
    "compute.environment_config": EnvironmentConfig(fsx_lustre_config=LUSTRE),
}

ROWS = [
    ("HP105", {}, []),
    ("HP105", TWO, []),
    ("HP105", {"compute.instance_type": TEXT_TOKEN}, []),
    ("HP105", {"compute.instance_type": None}, ["compute.instance_type"]),
    (
        "HP105",
        {"compute.instance_requirements": TWO["compute.instance_requirements"]},
        ["compute.instance_requirements"],
    ),
    ("HP501", {}, []),
    ("HP501", {**plane(), "cluster.auto_scaling": AutoScaling()}, []),
    ("HP501", {"cluster.auto_scaling": AutoScaling()}, ["cluster.auto_scaling"]),
    ("HP501", {"cluster.tiered_storage_config": TieredStorageConfig()}, ["cluster.tiered_storage_config"]),
    ("HP501", TWO, ["compute.instance_requirements"]),
    ("HP501", labels(team="a"), ["compute.kubernetes_config"]),
    ("HP501", {"cluster.auto_scaling": TEXT_TOKEN}, []),
    ("HP517", {**plane(), **labels(team="a", example_com__team="a")}, []),
    ("HP517", {**plane(), "compute.kubernetes_config": TAINT}, []),
    ("HP517", {**plane(), "compute.kubernetes_config": KubernetesConfig(labels={TEXT_TOKEN: "a"})}, []),
    (
        "HP517",
        {**plane(), **labels(sagemaker_amazonaws_com__compute="a")},
        ['compute.kubernetes_config.labels["sagemaker.amazonaws.com/compute"]'],
    ),
    (
        "HP517",
        {**plane(), "compute.kubernetes_config": TAINT, **STRESSED},
        ["compute.kubernetes_config.taints"],
    ),
    ("HP518", {**plane(), **TWO}, []),
    (
        "HP518",
        {
            **plane(),
            **TWO,
            "compute.instance_requirements": InstanceRequirements(instance_types=[TEXT_TOKEN] * 2),
        },
        [],
    ),
    ("HP518", {**plane(), **TWO, **ALL_AT_ONCE}, ["compute.instance_requirements"]),
    (
        "HP518",
        {
            **plane(),
            **TWO,
            "compute.instance_requirements": InstanceRequirements(instance_types=["ml.a", "ml.a"]),
        },
        ["compute.instance_requirements.instance_types[1]"],
    ),
    ("HP519", {**plane(), "cluster.auto_scaling": AutoScaling()}, []),
    ("HP519", {**plane(), "cluster.auto_scaling": AutoScaling(), "cluster.node_recovery": TEXT_TOKEN}, []),
    (
        "HP519",
        {**plane(), "cluster.auto_scaling": AutoScaling(), "cluster.node_recovery": NodeRecovery.NONE},
        ["cluster.node_recovery"],
    ),
    (
        "HP519",
        {**plane(), "cluster.auto_scaling": AutoScaling(), **ALL_AT_ONCE},
        ["cluster.node_provisioning_mode"],
    ),
    *(
        (
            "HP545",
            {TIERED: TieredStorageConfig(**{SHARE: share})},
            paths,
        )
        for share, paths in (
            (20, []),
            (100, []),
            (None, []),
            (NUMBER, []),
            (19, [f"{TIERED}.{SHARE}"]),
            (101, [f"{TIERED}.{SHARE}"]),
        )
    ),
    ("HP546", {"compute.environment_config": EnvironmentConfig()}, []),
    ("HP546", {"compute.environment_config": EnvironmentConfig(), "compute.image_id": TEXT_TOKEN}, []),
    (
        "HP546",
        {"compute.environment_config": EnvironmentConfig(), "compute.image_id": "ami-1234567"},
        ["compute.image_id"],
    ),
    (
        "HP547",
        {"compute.environment_config": EnvironmentConfig(), "cluster.shared_environment_config": SHARED},
        [],
    ),
    ("HP547", {"compute.environment_config": EnvironmentConfig(fsx_lustre_config=LUSTRE)}, []),
    (
        "HP547",
        {
            "compute.environment_config": EnvironmentConfig(
                fsx_lustre_config=SharedLustre(size_in_gib=NUMBER, per_unit_storage_throughput=125)
            )
        },
        [],
    ),
    ("HP547", {"compute.environment_config": EnvironmentConfig()}, ["compute.environment_config"]),
    ("HP547", BESIDE, []),
    ("HP570", BESIDE, ["compute.environment_config.fsx_lustre_config"]),
    ("HP570", {**BESIDE, "cluster.shared_environment_config": None}, []),
    ("HP570", {**BESIDE, "compute.environment_config": EnvironmentConfig()}, []),
    (
        "HP570",
        {
            **BESIDE,
            "compute.environment_config": EnvironmentConfig(),
            "cluster.shared_environment_config.fsx_lustre_config.size_in_gib": NUMBER,
        },
        [],
    ),
    ("HP547", {"cluster.shared_environment_config": SHARED}, ["cluster.shared_environment_config"]),
    ("HP561", {**plane(), **STRESSED}, []),
    ("HP561", {**plane(), **STRESSED, "compute.instance_type": TEXT_TOKEN}, []),
    ("HP561", {**plane(), **STRESSED, "compute.instance_type": "ml.trn1.32xlarge"}, []),
    (
        "HP561",
        {**plane(), **STRESSED, "compute.instance_type": "ml.c5.xlarge"},
        ["compute.on_start_deep_health_checks"],
    ),
    *(
        ("HP548", {"compute.auto_patch_config": AutoPatchConfig(**settings)}, paths)
        for settings, paths in (
            ({"patching_strategy": STRATEGY, "next_patch_date": "2026-12-31T03:00:00Z"}, []),
            ({"patching_strategy": PatchingStrategy.DRAIN_FIRST, "drain_policy": DrainPolicy()}, []),
            ({"patching_strategy": TEXT_TOKEN, "drain_policy": DrainPolicy()}, []),
            ({"patching_strategy": PatchingStrategy.WHEN_ALL_IDLE, "idle_wait_window_in_seconds": 3600}, []),
            (
                {"patching_strategy": PatchingStrategy.DRAIN_FIRST, "idle_wait_window_in_seconds": 3600},
                ["compute.auto_patch_config.idle_wait_window_in_seconds"],
            ),
            ({"patching_strategy": STRATEGY, "next_patch_date": TEXT_TOKEN}, []),
            (
                {"patching_strategy": STRATEGY, "drain_policy": DrainPolicy()},
                ["compute.auto_patch_config.drain_policy"],
            ),
            (
                {"patching_strategy": STRATEGY, "next_patch_date": "31.12.2026"},
                ["compute.auto_patch_config.next_patch_date"],
            ),
        )
    ),
    *(
        (
            "HP549",
            {**plane(), "compute.life_cycle_config": LifeCycleConfig(source_s3_uri="s3://b/p/", **scripts)},
            paths,
        )
        for scripts, paths in (
            ({"on_create": "a.sh"}, []),
            ({"on_create": TEXT_TOKEN}, []),
            ({"on_init_complete": "a.sh"}, ["compute.life_cycle_config"]),
            ({}, ["compute.life_cycle_config"]),
        )
    ),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_row(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


def test_every_restricted_member_is_one_that_the_api_lacks_there() -> None:
    ordinary, restricted = (
        {
            in_spec_style(name)
            for name in shape(
                "sagemaker", f"Cluster{kind}InstanceGroupSpecification".replace("Ordinary", "")
            ).members
        }
        for kind in ("Ordinary", "Restricted")
    )
    assert ordinary - restricted == {*NOT_RESTRICTED, "slurm_config"}
