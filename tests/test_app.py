"""The app as `cdk` runs it: every example, and files that are wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import cfnlint
import cfnlint.api
import pytest

from hyperpod_cdk.config import load

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "clusters").glob("*.yaml"))
CONTEXT = json.loads((ROOT / "cdk.json").read_text())["context"]


def run(config: Path, out: Path) -> subprocess.CompletedProcess[str]:
    """The app in a process of its own, with the CLI's context and nothing on the module path."""
    inherited = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    environment = {
        **inherited,
        "CDK_CONTEXT_JSON": json.dumps({**CONTEXT, "config": str(config)}),
        "CDK_OUTDIR": str(out),
    }
    return subprocess.run(
        [sys.executable, "app.py"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def template(out: Path) -> tuple[str, dict[str, Any]]:
    """The one template of an output folder: its text, and what it says."""
    (path,) = out.glob("*.template.json")
    return path.read_text(), json.loads(path.read_text())


@pytest.mark.parametrize("config", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_synthesizes_without_a_word_and_passes_cfn_lint(config: Path, tmp_path: Path) -> None:
    """The recommended flags make aws-cdk-lib check the template too; Node's banners must not show."""
    done = run(config, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    text, made = template(tmp_path)
    matches = cfnlint.api.lint(
        text,
        config=cfnlint.api.ManualArgs(ignore_checks=["W3005"], regions=[load(config).region or ""]),
    )
    assert [f"{match.rule.id} {match.message}" for match in matches] == []
    assert len(made["Resources"]) < 500
    assert len(text) < 1_000_000


def test_two_runs_make_the_same_template(tmp_path: Path) -> None:
    """A hash that moves would update functions and scripts for nothing (field report 71)."""
    config = ROOT / "clusters" / "slurm-minimal.yaml"
    for name in ("first", "second"):
        assert run(config, tmp_path / name).returncode == 0
    assert template(tmp_path / "first") == template(tmp_path / "second")


def test_a_wrong_file_is_refused_with_every_fault_at_its_line(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        """\
network:
  availability_zone_ids: [usw2-az4]
storage:
  scratch:
    file_system_type: LUSTRE
    capacity_gib: 3600
cluster:
  instance_groups:
    - instance_group_name: ml_controller
      instance_type: ml.c5.xlarge
      instance_count: 1
      slurm_config: {node_type: Controller}
"""
    )
    done = run(wrong, tmp_path / "out")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert f"{wrong}:6:" in done.stderr
    assert "storage.scratch.capacity_gib" in done.stderr
    assert "2400" in done.stderr
    assert f"{wrong}:9:" in done.stderr
    assert "ml_controller" in done.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    done = run(tmp_path / "nowhere.yaml", tmp_path / "out")
    assert done.returncode == 2
    assert "nowhere.yaml" in done.stderr
    assert "Traceback" not in done.stderr
