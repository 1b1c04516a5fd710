"""The steps that are shipped: whose they are, what stands before what, and that a run reads no others."""

from __future__ import annotations

import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest

from hyperpod_node import idle
from hyperpod_node.catalogue import STEPS
from hyperpod_node.checks import CHECKS
from hyperpod_node.config import MODES, NODE_TYPES
from hyperpod_node.context import Context
from hyperpod_node.step import Later, Step, catalogue_faults, not_for
from tests.lifecycle.helpers import SCRIPTS, Bench, bench


def done(_context: Context) -> str:
    return "done"


def test_every_step_of_the_catalogue_is_somebodys() -> None:
    names = [step.name for step in STEPS]
    assert len(set(names)) == len(names)
    for step in STEPS:
        assert step.modes
        assert set(step.modes) <= set(MODES)
        assert set(step.node_types) <= set(NODE_TYPES)
        assert 0 < step.time_limit_seconds <= 3600


def steps_of(node: Bench) -> list[str]:
    return [step.name for step in STEPS if not not_for(step, node.context)]


def needed(name: str) -> set[str]:
    """Every step that has ended before one starts."""
    step = next(step for step in STEPS if step.name == name)
    direct = {*step.needs, *step.after}
    return direct.union(*(needed(other) for other in direct))


def test_the_catalogue_has_no_faults() -> None:
    assert catalogue_faults(STEPS) == []


def test_112_117_what_stands_before_what() -> None:
    assert {"packages", "network", "mount", "mounts", "home"} <= needed("users")
    assert {"slurm-conf", "accounting"} <= needed("slurmctld")
    assert {"mount", "home", "users", "ssh"} <= needed("slurmd")
    assert needed("after") == {step.name for step in STEPS} - {"after", "check"}
    assert needed("check") == {step.name for step in STEPS} - {"check"}
    # a database that takes its time must not hold homes up, nor the other way round
    assert not {"home", "users"} & needed("accounting")
    # only several controllers wait for a shared directory; with one this step is idle
    assert [step.idle is idle.single_head for step in STEPS if step.name == "multi-head"] == [True]
    assert "accounting" not in needed("home")


@pytest.mark.parametrize(
    ("steps", "fault"),
    [
        ([Step(name="a", run=done), Step(name="a", run=done)], "a is there twice"),
        ([Step(name="a", run=done, needs=("b",)), Step(name="b", run=done)], "a waits for b, which"),
        ([Step(name="a", run=done, after=("a",))], "a waits for a, which"),
        (
            [Step(name="a", run=done, required=False), Step(name="b", run=done, needs=("a",))],
            "b is required but needs a",
        ),
    ],
)
def test_faults_of_a_catalogue(steps: list[Step], fault: str) -> None:
    assert [text.startswith(fault) for text in catalogue_faults(steps)] == [True]


def test_which_node_runs_what(tmp_path: Path) -> None:
    common = ["keep", "network", "packages", "check"]
    people = ["home", "ssh"]
    always = {
        "controller": ["slurm-conf", "slurm-files", "slurm-refresh", "slurm-watch"],
        "login": [],
        "compute": [],
    }
    ours = {
        "controller": ["munge", "accounting", "slurmctld"],
        "login": ["munge", "slurm-client", "login-watch"],
        "compute": ["munge", "slurmd"],
    }
    for group, slurm in ours.items():
        extension = bench(tmp_path / f"e-{group}", group=group, mode="extension")
        assert set(steps_of(extension)) == {*common, "mounts", *people, *always[group]}
        custom = bench(tmp_path / f"c-{group}", group=group)
        assert set(steps_of(custom)) == {*common, "mount", *people, *always[group], *slurm}


@pytest.mark.parametrize("step", [*STEPS, *CHECKS], ids=lambda step: step.name)
def test_what_a_step_calls_is_there(step: Step) -> None:
    assert isinstance(step.run, Later)
    assert list(signature(step.run.function()).parameters) == ["context"]


def test_a_start_reads_no_step_and_nothing_that_only_some_need() -> None:
    """Half of a second run's processor time once went into reading what did not run."""
    code = "import sys, hyperpod_node.main; print(*sys.modules)"
    command = [sys.executable, "-BS", "-c", code]
    told = subprocess.run(command, cwd=SCRIPTS, capture_output=True, text=True, check=True, env={})
    read = set(told.stdout.split())
    assert "hyperpod_node.runner" in read
    assert not {name for name in read if name.startswith(("hyperpod_node.steps.", "hyperpod_node.checks"))}
    only_some = {"argparse", "dataclasses", "hashlib", "tempfile", "traceback", "hyperpod_node.provisioning"}
    assert not read & only_some
