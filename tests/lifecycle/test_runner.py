"""Steps as data: who they are for, what their failure means, how they are bounded."""

from __future__ import annotations

import errno
import io
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node import runner
from hyperpod_node.clock import Clock, wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError, StepSkippedError
from hyperpod_node.log import Log
from hyperpod_node.report import RESULT_PATH, Run, summarize, write_result
from hyperpod_node.root import Root
from hyperpod_node.runner import run_step, run_steps
from hyperpod_node.spreading import seconds_of
from hyperpod_node.step import Step, StepResult
from tests.lifecycle.helpers import bench


def done(_context: Context) -> str:
    return "all of it"


def failing(message: str = "no good", *, times: int = 99, advice: str = "") -> Callable[[Context], str]:
    left = [times]

    def run(_context: Context) -> str:
        if left[0] == 0:
            return "at last"
        left[0] -= 1
        raise NodeError(message, command="mount /fsx", last_lines=["one", "two"], advice=advice)

    return run


def test_one_line_at_the_start_and_one_at_the_end(tmp_path: Path) -> None:
    node = bench(tmp_path)
    result = run_step(Step(name="mount", run=done), node.context)
    assert result == StepResult(name="mount", outcome="done", detail="all of it", attempts=1)
    lines = [line.split(" ", 1)[1] for line in node.log.splitlines() if " mount: " in line]
    assert lines == ["mount: start", "mount: done: all of it (0.0 s)"]


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (Step(name="s", run=done, modes=("extension",)), "not in custom mode"),
        (Step(name="s", run=done, node_types=("Controller", "Login")), "not on a compute node"),
    ],
)
def test_a_step_for_others_is_skipped_and_says_why(tmp_path: Path, step: Step, reason: str) -> None:
    [result] = run_steps([step], bench(tmp_path).context)
    assert (result.outcome, result.detail, result.attempts) == ("skipped", reason, 0)


def test_a_step_may_find_nothing_to_do(tmp_path: Path) -> None:
    def nothing(_context: Context) -> str:
        raise StepSkippedError("no apt on this node")

    result = run_step(Step(name="s", run=nothing), bench(tmp_path).context)
    assert (result.outcome, result.detail) == ("skipped", "no apt on this node")


def test_a_required_failure_ends_the_run(tmp_path: Path) -> None:
    steps = [
        Step(name="a", run=done),
        Step(name="b", run=failing(), needs=("a",)),
        Step(name="c", run=done, after=("b",)),
    ]
    outcomes = [result.outcome for result in run_steps(steps, bench(tmp_path).context)]
    assert outcomes == ["done", "failed", "not run"]


def test_105_a_best_effort_failure_is_a_warning(tmp_path: Path) -> None:
    steps = [Step(name="a", run=failing(), required=False), Step(name="b", run=done)]
    outcomes = [result.outcome for result in run_steps(steps, bench(tmp_path).context)]
    assert outcomes == ["warning", "done"]


def test_105_attempts_with_growing_pauses(tmp_path: Path) -> None:
    node = bench(tmp_path)
    step = Step(name="s", run=failing(times=3), attempts=5, pause_seconds=2)
    result = run_step(step, node.context)
    assert (result.outcome, result.attempts, result.seconds) == ("done", 4, 14)
    assert node.clock.sleeps == [2, 4, 8]


def test_the_errors_own_advice_comes_before_the_steps(tmp_path: Path) -> None:
    node = bench(tmp_path)
    general = run_step(Step(name="s", run=failing(), advice="ask"), node.context)
    own = run_step(Step(name="s", run=failing(advice="open port 988"), advice="ask"), node.context)
    assert (general.advice, own.advice) == ("ask", "open port 988")


def test_a_fault_of_the_scripts_is_reported_with_its_trace(tmp_path: Path) -> None:
    node = bench(tmp_path)

    def broken(_context: Context) -> str:
        raise KeyError("nope")

    result = run_step(Step(name="s", run=broken, advice="ask"), node.context)
    assert (result.outcome, result.detail) == ("failed", "KeyError: 'nope'")
    assert "report it" in result.advice
    assert "Traceback" in node.log


def test_a_full_disk_is_the_machines_trouble(tmp_path: Path) -> None:
    node = bench(tmp_path)

    def full(_context: Context) -> str:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/etc/fstab")

    result = run_step(Step(name="s", run=full), node.context)
    assert result.detail == "OSError: [Errno 28] No space left on device: '/etc/fstab'"
    assert "make room" in result.advice
    assert run_step(Step(name="s", run=full, advice="see x"), node.context).advice == "see x"
    assert "Traceback" not in node.log


def test_a_disk_that_takes_no_log_does_not_keep_the_rest_from_being_told(tmp_path: Path) -> None:
    # whoever runs this may be root, whom no mode keeps from writing
    (tmp_path / "var").write_text("in the way of the log's folder")
    output = io.StringIO()
    Log(Root(tmp_path), output).line("still told", step="s")
    assert output.getvalue().endswith("s: still told\n")


@pytest.mark.parametrize("required", [True, False])
def test_a_signal_ends_everything(tmp_path: Path, required: bool) -> None:
    def killed(context: Context) -> str:
        context.clock.halt.terminate("ended by SIGTERM")
        context.clock.sleep(1)
        return ""

    steps = [
        Step(name="a", run=killed, required=required, attempts=3),
        Step(name="b", run=done, after=("a",)),
    ]
    results = run_steps(steps, bench(tmp_path).context)
    assert [result.outcome for result in results] == ["failed", "not run"]
    assert results[0].detail == "ended by SIGTERM"


def test_no_command_outlives_the_steps_limit(tmp_path: Path) -> None:
    node = bench(tmp_path)
    seen = []

    def look(context: Context) -> str:
        seen.append(context.commands.deadline.remaining())
        return ""

    run_step(Step(name="s", run=look, time_limit_seconds=42), node.context)
    assert seen == [42]


def test_independent_steps_run_side_by_side(tmp_path: Path) -> None:
    meet = threading.Barrier(2, timeout=10)

    def both(_context: Context) -> str:
        meet.wait()
        return "met"

    steps = [Step(name="a", run=both), Step(name="b", run=both)]
    assert [result.detail for result in run_steps(steps, bench(tmp_path).context)] == ["met", "met"]


@pytest.mark.parametrize("how", ["needs", "after", "uses"])
def test_steps_that_must_not_meet_do_not(tmp_path: Path, how: str) -> None:
    inside: list[str] = []
    most: list[int] = []

    def alone(context: Context) -> str:
        inside.append(context.step)
        threading.Event().wait(0.05)
        most.append(len(inside))
        inside.remove(context.step)
        return ""

    more: dict[str, Any] = {"uses": ("apt",)} if how == "uses" else {how: ("a",)}
    first = {"uses": ("apt",)} if how == "uses" else {}
    steps = [Step(name="a", run=alone, **first), Step(name="b", run=alone, **more)]  # type: ignore[arg-type]
    results = run_steps(steps, bench(tmp_path).context)
    assert [result.outcome for result in results] == ["done", "done"]
    assert most == [1, 1]


def test_a_step_that_needs_a_warning_is_skipped_one_that_comes_after_is_not(tmp_path: Path) -> None:
    steps = [
        Step(name="docker", run=failing(), required=False),
        Step(name="exporter", run=done, required=False, needs=("docker",)),
        Step(name="slurmd", run=done, after=("docker",)),
    ]
    results = run_steps(steps, bench(tmp_path).context)
    assert [result.outcome for result in results] == ["warning", "skipped", "done"]
    assert results[1].detail == "needs docker, which did not succeed"


def test_an_idle_step_holds_nobody_up(tmp_path: Path) -> None:
    freed = threading.Event()

    def slow(_context: Context) -> str:
        assert freed.wait(10)
        return ""

    def quick(_context: Context) -> str:
        freed.set()
        return ""

    steps = [
        Step(name="packages", run=slow),
        Step(name="before", run=done, needs=("packages",), idle=lambda _context: "nothing there"),
        Step(name="mount", run=quick, needs=("before",)),
    ]
    results = run_steps(steps, bench(tmp_path).context)
    assert [result.outcome for result in results] == ["done", "skipped", "done"]


def test_a_failure_ends_the_waits_of_steps_beside_it(tmp_path: Path) -> None:
    waits = threading.Event()

    def waiting(context: Context) -> str:
        def never() -> None:
            waits.set()
            threading.Event().wait(0.001)
            raise NotYetError("no controller")

        wait_for(never, what="slurmctld", deadline=context.deadline, say=context.say, limit_seconds=600_000)
        return ""

    def fails(_context: Context) -> str:
        assert waits.wait(10)
        raise NodeError("no good")

    node = bench(tmp_path)
    steps = [Step(name="a", run=waiting, time_limit_seconds=600_000), Step(name="b", run=fails)]
    results = run_steps([*steps, Step(name="c", run=done, needs=("a",))], node.context)
    assert [result.outcome for result in results] == ["not run", "failed", "not run"]
    assert results[0].detail == "given up, since b failed"


def test_a_step_that_hangs_in_the_kernel_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "GRACE_SECONDS", 0.1)
    node = bench(tmp_path)
    node.context = node.context._replace(clock=Clock())
    dead_mount = threading.Event()
    steps = [
        Step(name="a", run=lambda _context: str(dead_mount.wait(60)), time_limit_seconds=0.1),
        Step(name="b", run=done, required=False),
    ]
    results = run_steps(steps, node.context)
    dead_mount.set()
    assert [result.outcome for result in results] == ["failed", "done"]
    assert results[0].detail == "a: does not end"
    assert "/proc/mounts" in results[0].advice


def test_starts_are_spread_in_large_clusters_only(tmp_path: Path) -> None:
    node = bench(tmp_path)

    def seconds(nodes: int, instance: str = "i-0") -> float:
        entry = node.context.node.instance._replace(instance_id=instance)
        cluster = node.context.node.cluster._replace(instances=(entry,) * nodes)
        described = node.context.node._replace(cluster=cluster, instance=entry)
        return seconds_of(node.context._replace(node=described), "mount", longest_seconds=30)

    assert seconds(16) == 0
    found = [seconds(1000, f"i-{number}") for number in range(200)]
    assert 0 <= min(found) < 2
    assert 18 < max(found) < 20
    assert len({round(value, 3) for value in found}) > 190
    assert max(seconds(100_000, f"i-{number}") for number in range(200)) < 30
    assert seconds(1000, "i-7") == seconds(1000, "i-7")


def test_what_is_not_of_this_run_is_not_waited_for(tmp_path: Path) -> None:
    steps = [Step(name="slurm-files", run=done, needs=("slurm-conf",), after=("slurmctld",))]
    assert [result.outcome for result in run_steps(steps, bench(tmp_path).context)] == ["done"]


def test_results_tell_when_each_step_began_and_what_it_waited_for(tmp_path: Path) -> None:
    node = bench(tmp_path)

    def takes_five(context: Context) -> str:
        context.clock.sleep(5)
        return ""

    steps = [Step(name="a", run=takes_five), Step(name="b", run=done, needs=("a",))]
    results = run_steps(steps, node.context)
    assert [(result.began, result.seconds, result.needs) for result in results] == [
        (0, 5, ()),
        (5, 0, ("a",)),
    ]


def report(tmp_path: Path, *results: StepResult) -> tuple[Run, list[str]]:
    node = bench(tmp_path)
    run = Run(
        hook="on_create",
        node=node.context.node,
        results=results,
        started="2026-10-01T00:00:00+00:00",
        seconds=3.5,
    )
    output = io.StringIO()
    summarize(run, Log(node.context.root, output))
    write_result(run, node.context.root)
    return run, [line.split(" ", 1)[1] for line in output.getvalue().splitlines()]


FAILED = StepResult(
    name="mount",
    outcome="failed",
    detail="mount ended with exit code 32",
    seconds=301.2,
    attempts=3,
    command="mount /fsx",
    last_lines=("mount.lustre: Connection timed out",),
    advice="allow TCP 988",
)


def test_the_failure_stands_at_the_end_with_command_last_lines_and_advice(tmp_path: Path) -> None:
    _, lines = report(tmp_path, StepResult(name="network", outcome="done", seconds=1), FAILED)
    assert lines[-5:] == [
        "FAILED mount after 3 attempts: mount ended with exit code 32",
        "  command: mount /fsx",
        "  | mount.lustre: Connection timed out",
        "  what to do: allow TCP 988",
        "hyperpod-cdk: set-up failed at mount: mount ended with exit code 32",
    ]
    assert "mount    failed     301.2 s  mount ended with exit code 32" in lines


def test_warnings_are_explained_and_counted(tmp_path: Path) -> None:
    warning = StepResult(name="network", outcome="warning", detail="DNS", attempts=1, advice="look at DHCP")
    _, lines = report(tmp_path, warning)
    assert "WARNING network: DNS" in lines
    assert "  what to do: look at DHCP" in lines
    assert lines[-1] == "hyperpod-cdk: the node is set up, 1 warnings, 3.5 s"


def test_what_runs_later_is_no_set_up(tmp_path: Path) -> None:
    run, _ = report(tmp_path / "a", FAILED)
    later = run._replace(hook="slurm_files")
    root, output = bench(tmp_path / "b").context.root, io.StringIO()
    summarize(later, Log(root, output))
    write_result(later, root)
    assert (
        output.getvalue()
        .splitlines()[-1]
        .endswith("hyperpod-cdk: slurm_files failed at mount: mount ended with exit code 32")
    )
    assert root.read(RESULT_PATH) == ""
    assert '"outcome": "failed"' in root.read("/opt/ml/config/hyperpod-cdk/slurm_files.json")


def test_result_json_for_machines(tmp_path: Path) -> None:
    run, _ = report(tmp_path, FAILED)
    assert run.node is not None
    document = json.loads((tmp_path / "root" / RESULT_PATH.lstrip("/")).read_text())
    assert (document["format"], document["outcome"], document["hook"]) == (1, "failed", "on_create")
    assert document["node"]["node_type"] == "Compute"
    assert document["node"]["instance_id"] == run.node.instance.instance_id
    assert document["steps"][0]["name"] == "mount"
    assert document["steps"][0]["last_lines"] == ["mount.lustre: Connection timed out"]
