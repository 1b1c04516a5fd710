"""The app as `cdk` runs it: every example, and files that are wrong."""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cfnlint
import cfnlint.api
import pytest

from hyperpod_cdk.config import load

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "clusters").glob("*.yaml"))
MINIMAL = ROOT / "clusters" / "slurm-minimal.yaml"
CONTEXT = json.loads((ROOT / "cdk.json").read_text())["context"]


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """A run of the app, the folder that it wrote to, and the seconds that it computed, Node's included."""

    done: subprocess.CompletedProcess[str]
    out: Path
    seconds: float


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


@pytest.fixture(scope="module")
def synthesized(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Synthesis]:
    """Runs the app for a file once, however many tests look at what comes of it."""

    @cache
    def first(config: Path) -> Synthesis:
        out = tmp_path_factory.mktemp(config.stem)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        done = run(config, out)
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return Synthesis(done=done, out=out, seconds=seconds)

    return first


@pytest.mark.parametrize("config", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_synthesizes_without_a_word_and_passes_cfn_lint(
    config: Path, synthesized: Callable[[Path], Synthesis]
) -> None:
    """The recommended flags make aws-cdk-lib check the template too; Node's banners must not show."""
    made_so = synthesized(config)
    assert made_so.done.returncode == 0, made_so.done.stderr
    assert made_so.done.stderr == ""
    text, made = template(made_so.out)
    matches = cfnlint.api.lint(
        text,
        config=cfnlint.api.ManualArgs(ignore_checks=["W3005"], regions=[load(config).region or ""]),
    )
    assert [f"{match.rule.id} {match.message}" for match in matches] == []
    assert len(made["Resources"]) < 500
    assert len(text) < 1_000_000


def test_two_runs_make_the_same_template(synthesized: Callable[[Path], Synthesis], tmp_path: Path) -> None:
    """A hash that moves would update functions and scripts for nothing (field report 71)."""
    first = synthesized(MINIMAL)
    assert first.done.returncode == run(MINIMAL, tmp_path).returncode == 0
    assert template(first.out) == template(tmp_path)


def test_a_synthesis_has_a_budget(synthesized: Callable[[Path], Synthesis]) -> None:
    """Field report 149: seconds of computing, Node's included, so that a busy machine does not count."""
    made = synthesized(MINIMAL)
    assert (made.out / "manifest.json").is_file()
    assert 0 < made.seconds < 30


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
