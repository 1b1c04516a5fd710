"""YAML that is right, as a spec."""

from pathlib import Path

import pytest

from hyperpod_cdk.config import load, read
from hyperpod_cdk.rules import check
from hyperpod_cdk.spec import (
    HyperPodSpec,
    LustreFileSystem,
    NodeProvisioningMode,
    NodeRecovery,
    NodeType,
    OpenZfsFileSystem,
)

GROUPS = """\
cluster:
  instance_groups:
    - &controller
      instance_group_name: controller
      instance_type: ml.c5.xlarge
      instance_count: 1
      slurm_config: {node_type: Controller}
"""


def written(folder: Path, text: str, name: str = "my-cluster.yaml") -> HyperPodSpec:
    """The spec of a text in a file of that name."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load(path)


def test_defaults_are_those_of_the_spec(tmp_path: Path) -> None:
    spec = written(tmp_path, GROUPS)
    assert spec.network == HyperPodSpec(cluster=spec.cluster).network
    assert spec.cluster.node_provisioning_mode is NodeProvisioningMode.CONTINUOUS
    assert spec.cluster.node_recovery is NodeRecovery.AUTOMATIC


def test_enums_and_kinds_of_file_systems(tmp_path: Path) -> None:
    storage = "storage: {a: {file_system_type: LUSTRE}, b: {file_system_type: OPENZFS, capacity_gib: 64}}\n"
    spec = written(tmp_path, GROUPS + storage)
    assert isinstance(spec.storage["a"], LustreFileSystem)
    assert isinstance(spec.storage["b"], OpenZfsFileSystem)
    config = spec.cluster.instance_groups[0].slurm_config
    assert config is not None
    assert config.node_type is NodeType.CONTROLLER


def test_null_and_none_differ(tmp_path: Path) -> None:
    assert written(tmp_path, GROUPS + "  node_recovery: null\n").cluster.node_recovery is None
    assert written(tmp_path, GROUPS + "  node_recovery: None\n").cluster.node_recovery is NodeRecovery.NONE


def test_what_looks_like_a_date_or_a_time_is_text(tmp_path: Path) -> None:
    spec = written(tmp_path, GROUPS + "tags: {since: 2026-11-30, at: 12:30, version: '1', 7: seven}\n")
    assert spec.tags == {"since": "2026-11-30", "at": "12:30", "version": "1", "7": "seven"}


def test_merges_keep_what_stands_beside_them(tmp_path: Path) -> None:
    more = "    - <<: *controller\n      instance_group_name: second\n"
    first, second = written(tmp_path, GROUPS + more).cluster.instance_groups
    assert second.instance_group_name == "second"
    assert (second.instance_type, second.slurm_config) == (first.instance_type, first.slurm_config)


@pytest.mark.parametrize(
    ("file", "stack"),
    [
        ("slurm-gpu.yaml", "slurm-gpu"),
        ("my_cluster.v2.yaml", "my-cluster-v2"),
        ("2nd.yaml", "hyperpod-2nd"),
        ("äöü.yaml", "hyperpod"),
        (f"{'n' * 140}.yaml", "n" * 128),
    ],
)
def test_the_file_names_the_stack(tmp_path: Path, file: str, stack: str) -> None:
    spec = written(tmp_path, GROUPS, file)
    assert spec.stack_name == stack
    assert "HP101" not in {finding.code for finding in check(spec)}


def test_a_given_stack_name_stays(tmp_path: Path) -> None:
    assert written(tmp_path, GROUPS + "stack_name: mine\n").stack_name == "mine"


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    relative = written(tmp_path, GROUPS + "lifecycle: {extra_files: ours}\n")
    absolute = written(tmp_path, GROUPS + "lifecycle: {extra_files: /srv/ours}\n")
    assert relative.lifecycle.extra_files == str(tmp_path / "ours")
    assert absolute.lifecycle.extra_files == "/srv/ours"


def test_findings_of_rules_get_positions(tmp_path: Path) -> None:
    path = tmp_path / "c.yaml"
    storage = "storage:\n  scratch:\n    file_system_type: LUSTRE\n    capacity_gib: 3600\n"
    path.write_text(GROUPS + storage, encoding="utf-8")
    config = read(path)
    places = {finding.code: finding.position for finding in config.placed(check(config.spec))}
    capacity, zones = places["HP301"], places["HP200"]
    assert capacity is not None
    assert zones is not None
    assert (capacity.line, capacity.column) == (11, 19)
    assert (zones.line, zones.column) == (1, 1), "what is missing altogether is the file's fault"
