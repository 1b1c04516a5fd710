"""Wrong YAML: every fault with its line and column, what was given and what is allowed."""

from pathlib import Path

import pytest

from hyperpod_cdk.config import ConfigError, load
from hyperpod_cdk.rules import Finding
from hyperpod_cdk.rules.form import FORM

GROUP = "cluster.instance_groups[0]"
GOOD = """\
network:
  availability_zone_ids: [usw2-az4]
storage:
  shared:
    file_system_type: LUSTRE
    capacity_gib: 1200
cluster:
  node_recovery: Automatic
  instance_groups:
    - instance_group_name: controller
      instance_type: ml.c5.xlarge
      instance_count: 1
      slurm_config: {node_type: Controller}
      mounts:
        - storage: shared
"""


def faults(folder: Path, text: str) -> list[Finding]:
    """What reading the text complains of."""
    path = folder / "cluster.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert all(one.position and one.position.file == str(path) for one in caught.value.findings)
    return list(caught.value.findings)


def told(finding: Finding) -> tuple[str, int, int, str]:
    """Code, line, column and path."""
    assert finding.position
    return finding.code, finding.position.line, finding.position.column, finding.path


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        # keys
        ("instance_type:", "instance_typ:", ("HP003", 11, 7, "cluster.instance_groups[0].instance_typ")),
        ("network:", "networks:", ("HP003", 1, 1, "networks")),
        ("    capacity_gib: 1200", "    capacity: 1200", ("HP003", 6, 5, "storage.shared.capacity")),
        (
            "  node_recovery: Automatic",
            "  TieredStorageConfig: {Mode: Enable}",
            ("HP003", 8, 3, "cluster.TieredStorageConfig"),
        ),
        (
            "  node_recovery: Automatic",
            "  orchestrator: {eks: {arn: x}}",
            ("HP003", 8, 24, "cluster.orchestrator.eks.arn"),
        ),
        (
            "      mounts:",
            "      kubernetes_config: {taints: [{key: a, effect: Never}]}\n      mounts:",
            ("HP006", 14, 53, GROUP + ".kubernetes_config.taints[0].effect"),
        ),
        ("node_type", "nodetype", ("HP003", 13, 22, "cluster.instance_groups[0].slurm_config.nodetype")),
        (
            "      instance_count: 1\n",
            "",
            ("HP004", 10, 7, "cluster.instance_groups[0].instance_count"),
        ),
        ("    file_system_type: LUSTRE\n", "", ("HP004", 4, 3, "storage.shared.file_system_type")),
        # types
        ("count: 1", 'count: "1"', ("HP005", 12, 23, "cluster.instance_groups[0].instance_count")),
        ("count: 1", "count: true", ("HP005", 12, 23, "cluster.instance_groups[0].instance_count")),
        ("count: 1", "count: 1.0", ("HP005", 12, 23, "cluster.instance_groups[0].instance_count")),
        ("count: 1", "count: one", ("HP005", 12, 23, "cluster.instance_groups[0].instance_count")),
        ("count: 1", "count:", ("HP005", 12, 7, "cluster.instance_groups[0].instance_count")),
        ("name: controller", "name: 7", ("HP005", 10, 28, "cluster.instance_groups[0].instance_group_name")),
        ("[usw2-az4]", "usw2-az4", ("HP005", 2, 26, "network.availability_zone_ids")),
        (
            "{node_type: Controller}",
            "Controller",
            ("HP005", 13, 21, "cluster.instance_groups[0].slurm_config"),
        ),
        ("node_recovery: Automatic", "node_recovery: true", ("HP005", 8, 18, "cluster.node_recovery")),
        ("  node_recovery: Automatic", "  tags: [a]", ("HP005", 8, 9, "cluster.tags")),
        # closed sets
        (
            "Controller}",
            "controler}",
            ("HP006", 13, 33, "cluster.instance_groups[0].slurm_config.node_type"),
        ),
        ("LUSTRE", "LUSTER", ("HP006", 5, 23, "storage.shared.file_system_type")),
        # YAML itself
        (
            "  node_recovery: Automatic",
            "  node_recovery: Automatic\n  node_recovery: Automatic",
            ("HP002", 9, 3, "cluster.node_recovery"),
        ),
        ("capacity_gib: 1200", "capacity_gib: !Ref x", ("HP001", 6, 19, "storage.shared.capacity_gib")),
        ("[usw2-az4]", "[usw2-az4", ("HP001", 3, 8, "")),
        ("[usw2-az4]", "*zones", ("HP001", 2, 26, "")),
        ("network:", "\tnetwork:", ("HP001", 1, 1, "")),
    ],
)
def test_one_fault(tmp_path: Path, old: str, new: str, expected: tuple[str, int, int, str]) -> None:
    assert old in GOOD
    found = [told(one) for one in faults(tmp_path, GOOD.replace(old, new, 1))]
    assert expected in found
    others = [one for one in found if one != expected]
    # a misspelt key also leaves the right one missing
    of_form = [code for code, *_ in others if code in {rule.code for rule in FORM}]
    assert set(of_form) <= ({"HP004"} if expected[0] == "HP003" else set())


@pytest.mark.parametrize("value", ["yes", "on", '"true"', "1", "True!"])
def test_only_true_and_false_are_truth_values(tmp_path: Path, value: str) -> None:
    (one,) = faults(tmp_path, GOOD + f"termination_protection: {value}\n")
    assert told(one)[0] == "HP005"
    assert one.allowed == "true or false, without quotes"


def test_all_faults_at_once_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = GOOD.replace("LUSTRE", "NFS").replace("count: 1", "count: x").replace("Automatic", "auto")
    found = [told(one)[:2] for one in faults(tmp_path, text)]
    assert found == [("HP006", 5), ("HP006", 8), ("HP005", 12)]


def test_what_is_allowed_and_what_comes_closest(tmp_path: Path) -> None:
    (one,) = faults(tmp_path, GOOD.replace("Automatic", "automatic"))
    assert str(one).splitlines() == [
        f"{tmp_path}/cluster.yaml:8:18: error HP006 cluster.node_recovery",
        "    is not a value of this field, got 'automatic'",
        "    allowed: Automatic, None; nearest: Automatic",
        "    fix: use one of the allowed values",
    ]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("Worker", "Compute"), ("head-node", "Controller"), ("compute", "Compute"), ("Logon", "Login")],
)
def test_other_words_for_node_types_are_understood(word: str, meant: str, tmp_path: Path) -> None:
    """The guide's prose says worker where the API says Compute (field report 4)."""
    node_type = f"node_type: {word}, partition_names: [cpu]"
    found = faults(tmp_path, GOOD.replace("node_type: Controller", node_type))
    (one,) = [fault for fault in found if fault.code == "HP006"]
    assert one.nearest[0] == meant


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ("InstanceStorageConfigs", "use mounts, root_volume and secondary_volume instead"),
        ("execution_role", "use execution_role_arn instead"),
    ],
)
def test_a_member_of_the_api_is_found_where_the_spec_has_it(tmp_path: Path, key: str, fix: str) -> None:
    (one,) = faults(tmp_path, GOOD.replace("      mounts:", f"      {key}: x\n      mounts:"))
    assert (one.code, one.fix) == ("HP003", fix)


def test_a_key_in_the_apis_spelling_is_offered_in_ours(tmp_path: Path) -> None:
    (one,) = faults(tmp_path, GOOD.replace("instance_type", "InstanceType"))
    assert list(one.nearest) == ["instance_type"]


def test_the_key_that_was_meant_is_offered(tmp_path: Path) -> None:
    (one,) = faults(tmp_path, GOOD.replace("instance_type", "instancetype"))
    assert one.nearest[0] == "instance_type"
    assert "instance_count" in (one.allowed or "")


@pytest.mark.parametrize(
    "text",
    ["", "- a\n", "7\n", "a: 1\n---\nb: 2\n", "&a [*a]\n", "a: &x {<<: *x}\n", "? [a]\n: 1\n", 'a: "\\q"\n'],
)
def test_no_file_makes_it_stumble(tmp_path: Path, text: str) -> None:
    assert faults(tmp_path, text)


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "no such file or directory"), (b"\xff\xfe\x00", "is not utf-8 text")]
)
def test_unreadable_files(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "x.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigError, match=reason):
        load(path)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is a directory"):
        load(tmp_path)
