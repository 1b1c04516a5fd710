"""A spec made in Python with values of other types: told, and nothing else is looked at."""

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.spec import (
    AddOn,
    EbsVolume,
    EksOrchestrator,
    HelmChart,
    LustreFileSystem,
    Mount,
    NodeType,
    User,
)
from tests.unit.rules.specs import BASE, LIST_TOKEN, NUMBER_TOKEN, TEXT_TOKEN, changed, full_path

ZONES = "network.availability_zone_ids"


@pytest.mark.parametrize(
    ("path", "value", "code"),
    [
        ("compute.instance_count", "4", "HP005"),
        ("compute.instance_count", 4.0, "HP005"),
        ("compute.instance_count", True, "HP005"),
        ("compute.instance_count", None, "HP004"),
        ("compute.instance_type", 5, "HP005"),
        ("compute.instance_type", None, "HP105"),
        ("compute.instance_count", None, "HP004"),
        ("compute.slurm_config", "Compute", "HP005"),
        ("compute.slurm_config.node_type", "Compute", "HP006"),
        ("compute.slurm_config.node_type", "Worker", "HP006"),
        ("compute.slurm_config.node_type", None, "HP004"),
        ("compute.slurm_config.partition_names", "gpu", "HP005"),
        ("compute.mounts", {"a": 1}, "HP005"),
        ("compute.mounts[0]", "scratch", "HP005"),
        ("compute.mounts[0].file_system_type", "NFS", "HP006"),
        ("compute.secondary_volume", EbsVolume(volume_size_in_gb="5"), None),  # type: ignore[arg-type]
        ("cluster.node_provisioning_mode", "Continuous", "HP006"),
        ("cluster.tags", ["a"], "HP005"),
        ("network.flow_logs", "yes", "HP005"),
        ("network.cidr", 10, "HP005"),
        (ZONES, "usw2-az4", "HP005"),
        (f"{ZONES}[0]", 4, "HP005"),
        ("storage", [LustreFileSystem()], "HP005"),
        ("storage.scratch", Mount(), "HP005"),
        ("storage.scratch.efa_enabled", 1, "HP005"),
        ("lifecycle.users", (User(name="ada", uid=2001), "grace"), None),
        ("cluster", None, "HP004"),
    ],
)
def test_a_wrong_type_is_the_only_thing_told(path: str, value: Any, code: str | None) -> None:
    found = check(changed({path: value, "lifecycle.bucket_removal_policy": TEXT_TOKEN}))
    assert [one.path.startswith(full_path(path)) for one in found] == [True]
    assert found[0].code == (code or "HP005")
    assert found[0].allowed


def test_what_charts_and_add_ons_take_is_not_known_here() -> None:
    """Any value, whatever its type; but still a mapping of names."""
    anything = {"a": {"b": [1, "x", True, 0.5, None]}, "c": None}
    chart = HelmChart(s3_uri="s3://example-charts-111122223333/chart.zip", values=anything)
    add_on = AddOn(configuration=anything)
    eks = EksOrchestrator(helm_chart=chart, add_ons={"vpc-cni": add_on})
    assert [one for one in check(changed({"cluster.orchestrator.eks": eks})) if one.code < "HP100"] == []
    wrong = replace(eks, helm_chart=replace(chart, values=["a"]))  # type: ignore[arg-type]
    (found,) = check(changed({"cluster.orchestrator.eks": wrong}))
    assert (found.code, found.path) == ("HP005", "cluster.orchestrator.eks.helm_chart.values")


def test_the_member_that_is_wanted_is_named() -> None:
    (found,) = check(changed({"compute.slurm_config.node_type": "Compute"}))
    assert found.allowed == "NodeType.CONTROLLER, NodeType.LOGIN, NodeType.COMPUTE"
    assert found.given == "Compute"


def test_each_mistake_is_told_at_its_place() -> None:
    spec = changed({"cluster.tags": {"a": 1, 2: "b"}, "compute.instance_count": "1"})
    assert [(one.code, one.path) for one in check(spec)] == [
        ("HP005", "cluster.instance_groups[2].instance_count"),
        ("HP005", "cluster.tags"),
        ("HP005", "cluster.tags.a"),
    ]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("compute.instance_count", NUMBER_TOKEN),
        ("compute.instance_type", TEXT_TOKEN),
        ("compute.slurm_config.node_type", NodeType.COMPUTE),
        (ZONES, ["usw2-az4"]),
        (ZONES, LIST_TOKEN),
        ("cluster.node_recovery", None),
        ("cluster.tags", {"a": TEXT_TOKEN}),
        ("compute.min_instance_count", 0),
    ],
)
def test_right_types_and_tokens_are_passed(path: str, value: Any) -> None:
    assert not [one for one in check(changed({path: value}, BASE)) if one.code.startswith("HP0")]
