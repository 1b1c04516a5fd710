"""`migrate` on the command line: the YAML apart from what there is to say of it."""

import json
from pathlib import Path

import pytest

from hyperpod_cdk.cli import main
from hyperpod_cdk.config import read_text
from tests.unit.migration.samples import BY_API, LEGACY, PROVISIONING


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what users of other tools have."""
    for name, content in (
        ("create-cluster.json", BY_API),
        ("cluster-config.json", LEGACY),
        ("provisioning_parameters.json", PROVISIONING),
        ("more.json", {**BY_API, "AutoScaling": {"Mode": "Enable"}}),
    ):
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_whole_migration_is_ok(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "create-cluster.json"]) == 0
    out, err = capsys.readouterr()
    spec = read_text(out, file="x.yaml").spec
    assert [group.instance_group_name for group in spec.cluster.instance_groups][-1] == "spot"
    assert "everything was carried over" in err
    assert out.startswith("# Made by `hyperpod-cdk migrate` from create-cluster.json.")


def test_into_a_file_with_the_schema_beside_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "cluster-config.json", "provisioning_parameters.json", "-o", "c.yaml"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("wrote c.yaml")
    assert err == ""
    assert (
        (folder / "c.yaml").read_text(encoding="utf-8").startswith("# yaml-language-server: $schema=hyperpod")
    )
    assert (folder / "hyperpod.schema.json").exists()
    assert main(["validate", "c.yaml"]) == 0
    assert main(["migrate", "create-cluster.json", "-o", "c.yaml"]) == 2
    assert "c.yaml is there already" in capsys.readouterr().err


def test_what_is_lost_is_told_and_stands_in_the_file(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["migrate", "more.json"]) == 1
    out, err = capsys.readouterr()
    assert "not carried over: AutoScaling: belongs to clusters on Amazon EKS" in err
    assert "# - AutoScaling: belongs to clusters on Amazon EKS" in out


def test_what_the_rules_say_of_it_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["migrate", "provisioning_parameters.json"]) == 1
    err = capsys.readouterr().err
    assert "to be filled in: provisioning_parameters.controller_group" in err
    assert "<stdout>:" in err
    assert "error HP005" in err


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["nowhere.json"], "nowhere.json: no such file or directory"),
        (["create-cluster.json", "cluster-config.json"], "says again what create-cluster.json says"),
        (["create-cluster.json", "--parameter", "x"], "--parameter x: write it as NAME=VALUE"),
    ],
)
def test_wrong_input(
    folder: Path, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["migrate", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert reason in err
