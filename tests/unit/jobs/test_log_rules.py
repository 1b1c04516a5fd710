"""The log rules before the elastic agent's own evaluator, the code that reads the lines in a training pod."""

import importlib.util
import sys
from types import ModuleType
from typing import Any

import pytest

from hyperpod_cdk.jobs import (
    HyperPodPyTorchJob,
    LogRule,
    fails_on,
    hangs_after,
    loss_spike,
    low_throughput,
    starts_within,
    to_manifest,
)
from hyperpod_cdk.rules import check_job
from tests.unit.jobs.samples import with_rules

LOSS = r".*loss: (\d+(\.\d+)?).*"


@pytest.fixture(scope="module")
def agent() -> ModuleType:
    """The agent's module alone: its package wants PyTorch."""
    package = importlib.util.find_spec("hyperpod_elastic_agent")
    assert package and package.submodule_search_locations
    path = f"{package.submodule_search_locations[0]}/logagent/log_agent.py"
    spec = importlib.util.spec_from_file_location("elastic_agents_log_agent", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    # its dataclasses look their module up
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class Clock:
    """Time as the evaluator asks for it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(agent: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(agent, "time", clock)
    return clock


def configured(job: HyperPodPyTorchJob) -> Any:
    return to_manifest(job)["spec"]["runPolicy"]["logMonitoringConfiguration"][0]


def states(agent: ModuleType, clock: Clock, rule: LogRule, lines: list[str | None]) -> list[str]:
    """What the agent thinks after each line; they come a minute apart, None is a minute of silence."""
    evaluator = agent.LogEvaluator(configured(with_rules(rule)))
    found = []
    for line in lines:
        clock.now += 60
        found.append(evaluator.evaluate(line)[0].value)
    return found


def test_a_job_that_does_not_start_hangs(agent: ModuleType, clock: Clock) -> None:
    rule = starts_within(120, log_pattern=".*step.*")
    assert states(agent, clock, rule, ["loading", "loading", "loading"]) == ["WAITING", "WAITING", "HANGING"]
    assert states(agent, clock, rule, ["INFO step 1", None, None, None]) == ["HEALTHY"] * 4


def test_a_job_that_falls_silent_hangs(agent: ModuleType, clock: Clock) -> None:
    rule = hangs_after(120, log_pattern=".*step.*")
    assert states(agent, clock, rule, ["step 1", None, None, None, "step 2"]) == [
        "HEALTHY",
        "HEALTHY",
        "HEALTHY",
        "HANGING",
        "HEALTHY",
    ]


def test_a_loss_is_a_spike_when_it_stays_above(agent: ModuleType, clock: Clock) -> None:
    rule = loss_spike(9, log_pattern=LOSS, steps=2)
    lines: list[str | None] = ["x loss: 2.5", "x loss: 9.5", "x loss: 2.1", "x loss: 10", "x loss: 11"]
    assert states(agent, clock, rule, lines) == ["HEALTHY", "HEALTHY", "HEALTHY", "HEALTHY", "SLOW"]
    # the limit itself is well
    assert states(agent, clock, rule, ["loss: 9", "loss: 9.0"]) == ["HEALTHY", "HEALTHY"]


def test_throughput_is_low_when_it_stays_below(agent: ModuleType, clock: Clock) -> None:
    rule = low_throughput(80, log_pattern=r".*samples/s: (\d+).*", steps=2)
    lines: list[str | None] = ["samples/s: 79", "samples/s: 80", "samples/s: 10", "samples/s: 12"]
    assert states(agent, clock, rule, lines) == ["HEALTHY", "HEALTHY", "HEALTHY", "SLOW"]


def test_a_line_can_be_a_fault_at_once(agent: ModuleType, clock: Clock) -> None:
    rule = fails_on(".*OutOfMemoryError.*", name="OutOfMemory")
    assert states(agent, clock, rule, ["well", "torch.OutOfMemoryError: CUDA"]) == ["WAITING", "FAULTED"]


def test_the_watch_ends_with_the_stop_pattern(agent: ModuleType, clock: Clock) -> None:
    rule = LogRule(
        name="one",
        log_pattern=".*step.*",
        expected_recurring_frequency_in_seconds=60,
        stop_pattern=".*done.*",
    )
    assert states(agent, clock, rule, ["step 1", "all done", None, None]) == ["HEALTHY"] * 4


def test_a_pattern_without_dot_star_misses_lines_that_begin_with_a_time(
    agent: ModuleType, clock: Clock
) -> None:
    blind = hangs_after(60, log_pattern="loss")
    assert states(agent, clock, blind, ["12:00:00 loss: 2", None, None]) == ["WAITING"] * 3
    assert [finding.code for finding in check_job(with_rules(blind))] == ["HP556"]


def test_the_agent_cuts_a_threshold_at_the_point(agent: ModuleType, clock: Clock) -> None:
    half = LogRule(name="one", log_pattern=LOSS, metric_threshold=0.5, operator="gt")  # type: ignore[arg-type]
    assert states(agent, clock, half, ["loss: 0.1"]) == ["SLOW"], "0.1 is above 0, not above 0.5"
    assert [finding.code for finding in check_job(with_rules(half))] == ["HP554"]


def test_the_agent_compares_nothing_without_a_group(agent: ModuleType, clock: Clock) -> None:
    blind = loss_spike(9, log_pattern=".*loss.*", steps=1)
    assert states(agent, clock, blind, ["loss: 100"]) == ["HEALTHY"]
    assert [finding.code for finding in check_job(with_rules(blind))] == ["HP555"]


def test_the_agent_fails_on_what_a_rule_refuses(agent: ModuleType) -> None:
    broken = with_rules(LogRule(name="one", log_pattern="(", fault_on_match=True))
    with pytest.raises(Exception, match="unterminated"):
        agent.LogEvaluator(configured(broken))
    assert [finding.code for finding in check_job(broken)] == ["HP554", "HP556"]
