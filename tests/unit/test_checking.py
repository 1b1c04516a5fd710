"""Rules at synth: errors name the construct that they stop, warnings stand on what they are about."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from constructs import Construct

from hyperpod_cdk.checking import SpecError
from hyperpod_cdk.config import read
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import (
    LustreDeploymentType,
    LustreFileSystem,
    OpenZfsFileSystem,
    OverrideVpcConfig,
)
from hyperpod_cdk.stack import HyperPodStack
from hyperpod_cdk.storage import LustreStorage, OpenZfsStorage
from tests.unit.rules.specs import changed

TWO_ZONES = {"network.availability_zone_ids": ("usw2-az4", "usw2-az1")}
ELSEWHERE = {**TWO_ZONES, "login.override_vpc_config": OverrideVpcConfig(availability_zone_id="usw2-az1")}
UNKNOWN_TYPE = {"compute.instance_type": "ml.p9.48xlarge"}


def warnings(changes: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Construct path and first line of what synth says about a spec."""
    app = cdk.App()
    HyperPodStack(app, "Base", spec=changed(changes))
    messages = app.synth().get_stack_artifact("Base").messages
    return [(one.id, str(one.entry.data).splitlines()[0]) for one in messages if "hyperpod-cdk" in str(one)]


def said(changes: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Construct path, code and path in the spec of each warning."""
    return [(construct, *line.split()[1:3]) for construct, line in warnings(changes)]  # type: ignore[misc]


def test_a_faultless_spec_says_nothing() -> None:
    assert said({}) == []


def test_a_warning_about_the_cluster_is_shown_once_by_the_cluster() -> None:
    assert said(UNKNOWN_TYPE) == [
        ("/Base/Cluster", "HP111", "cluster.instance_groups[2].instance_type"),
    ]


def test_a_warning_that_only_the_whole_spec_shows_is_on_the_cluster_too() -> None:
    assert said(ELSEWHERE) == [
        ("/Base/Cluster", "HP223", f"cluster.instance_groups[1].mounts[{index}]") for index in (0, 1)
    ]


def test_a_warning_about_a_file_system_stands_on_it() -> None:
    assert said({"storage.spare": LustreFileSystem()}) == [("/Base/Storage-spare", "HP337", "storage.spare")]


def test_a_warning_about_a_file_has_its_line(tmp_path: Path) -> None:
    text = Path("clusters/slurm-minimal.yaml").read_text(encoding="utf-8")
    file = tmp_path / "minimal.yaml"
    file.write_text(text.replace("ml.c5.4xlarge", "ml.c5.5xlarge"), encoding="utf-8")
    config = read(file)
    app = cdk.App()
    HyperPodStack(app, "Minimal", spec=config.spec, placed=config.placed)
    (message,) = app.synth().get_stack_artifact("Minimal").messages
    line = 1 + file.read_text(encoding="utf-8").splitlines().index("      instance_type: ml.c5.5xlarge")
    assert message.id == "/Minimal/Cluster"
    assert str(message.entry.data).startswith(f"{file}:{line}:22: warning HP111 cluster.instance_groups[1]")


def test_a_construct_of_ones_own_shows_its_own_warnings() -> None:
    app = cdk.App()
    stack = cdk.Stack(app, "Mine")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az4"])
    LustreStorage(
        stack, "Old", network=network, file_system=LustreFileSystem(file_system_type_version="2.12")
    )
    (message,) = app.synth().get_stack_artifact("Mine").messages
    assert message.id == "/Mine/Old"
    assert str(message.entry.data).startswith("warning HP344 file_system.file_system_type_version")


def test_what_the_spec_acknowledges_is_not_shown() -> None:
    assert said({**UNKNOWN_TYPE, **ELSEWHERE, "acknowledge": ("HP111", "HP223")}) == []


def test_code_acknowledges_a_warning_on_any_construct_above() -> None:
    app = cdk.App()
    HyperPodStack(app, "Base", spec=changed(UNKNOWN_TYPE))
    why = cdk.Acknowledgment(id="hyperpod-cdk:HP111", reason="HyperPod has learnt it since")
    cdk.Validations.of(app).acknowledge(why)
    assert app.synth().get_stack_artifact("Base").messages == []


def test_all_findings_come_at_once_with_the_constructs_path() -> None:
    with pytest.raises(SpecError) as caught:
        HyperPodStack(cdk.App(), "Base", spec=changed({**UNKNOWN_TYPE, "network.cidr": "ten"}))
    assert [one.code for one in caught.value.findings] == ["HP202", "HP111"]
    assert caught.value.construct == "Base"
    assert str(caught.value).startswith("Base: the spec breaks rules\nerror HP202 network.cidr")


@pytest.mark.parametrize("placed", ["by the stack", "by its stage", "by a stage further up"])
def test_the_rules_know_the_stacks_region(placed: str) -> None:
    """The constructs in it check nothing again, so that the stack must know what they would."""
    there = cdk.Environment(region="eu-west-1")
    app = cdk.App()
    scope: Construct = app
    if placed != "by the stack":
        scope = cdk.Stage(app, "Prod", env=there)
    if placed == "by a stage further up":
        scope = Construct(scope, "Part")
    with pytest.raises(SpecError, match=r"HP221 network\.availability_zone_ids"):
        HyperPodStack(
            scope,
            "Base",
            spec=replace(changed({}), region=None),
            env=there if placed == "by the stack" else None,
        )


def test_a_file_system_of_its_own_is_checked_too() -> None:
    """Field reports 79 and 89: wrong sizes are found without a spec."""
    stack = cdk.Stack(cdk.App(), "Mine")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az4"])
    with pytest.raises(SpecError, match=r"Mine/Scratch: .*\n.*HP301 file_system\.capacity_gib"):
        LustreStorage(stack, "Scratch", network=network, file_system=LustreFileSystem(capacity_gib=3600))
    with pytest.raises(SpecError, match=r"HP321 file_system\.throughput_capacity"):
        OpenZfsStorage(stack, "Home", network=network, file_system=OpenZfsFileSystem(throughput_capacity=64))


def test_settings_known_only_at_deployment_are_passed_over() -> None:
    stack = cdk.Stack(cdk.App(), "Mine")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az4"])
    size = cdk.CfnParameter(stack, "Size", type="Number").value_as_number
    file_system = LustreFileSystem(capacity_gib=size)  # type: ignore[arg-type]
    scratch = LustreStorage(stack, "Scratch", network=network, file_system=file_system)
    assert scratch.warnings == []
    assert scratch.settings.deployment_type is LustreDeploymentType.PERSISTENT_2
