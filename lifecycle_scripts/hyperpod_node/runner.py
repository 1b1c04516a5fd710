"""Runs steps described as data: which node they are for, what they may take, what their failure means."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hyperpod_node.clock import Deadline
from hyperpod_node.config import MODES, NODE_TYPES
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError, TerminatedError

TERMINATED_ADVICE = "the service or a person ended the scripts: see which step took the time"
BUG_ADVICE = "this is a fault of the scripts: report it with provisioning.log"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of a node's set-up.

    Args:
        name: short and stable; names the step in the log and in result.json.
        run: does the work and returns what it did, in a line. It must be safe to run again.
        modes: the modes it belongs to; all unless given.
        node_types: the node types it belongs to; all unless given.
        required: whether its failure ends the set-up; if not, it is a warning.
        time_limit_seconds: for each attempt.
        attempts: how often it is tried.
        pause_seconds: between attempts, doubled each time.
        advice: what a person should do when it fails.
    """

    name: str
    run: Callable[[Context], str]
    modes: tuple[str, ...] = MODES
    node_types: tuple[str, ...] = NODE_TYPES
    required: bool = True
    time_limit_seconds: float = 300.0
    attempts: int = 1
    pause_seconds: float = 5.0
    advice: str = ""


@dataclass(frozen=True, kw_only=True)
class StepResult:
    """How a step ended.

    Args:
        name: the step.
        outcome: done, skipped, warning, failed, or not run.
        detail: what it did, why it was skipped, or what went wrong.
        seconds: how long it took, attempts and pauses together.
        attempts: how often it was tried.
        command: the command that failed.
        last_lines: what that command printed last.
        advice: what to do about the failure.
    """

    name: str
    outcome: str
    detail: str = ""
    seconds: float = 0.0
    attempts: int = 0
    command: str = ""
    last_lines: tuple[str, ...] = ()
    advice: str = ""


def run_steps(steps: Sequence[Step], context: Context) -> list[StepResult]:
    """Run the steps in order; after the failure of a required one the rest are not run."""
    results: list[StepResult] = []
    for step in steps:
        if any(result.outcome == "failed" for result in results):
            results.append(StepResult(name=step.name, outcome="not run"))
            continue
        results.append(run_step(step, context))
    return results


def run_step(step: Step, context: Context) -> StepResult:
    """Run one step and log one line when it starts and one when it ended."""
    reason = not_for(step, context)
    if reason:
        return _ended(step, context, StepResult(name=step.name, outcome="skipped", detail=reason))
    context.log.line("start", step=step.name)
    began = context.clock.now()
    try:
        result = _attempts(step, context)
    except TerminatedError as error:
        result = failure(step.name, NodeError(str(error), advice=TERMINATED_ADVICE))
    return _ended(step, context, replace(result, seconds=context.clock.now() - began))


def not_for(step: Step, context: Context) -> str:
    """Why a step does not belong to this node; empty when it does."""
    node = context.node
    if node.mode not in step.modes:
        return f"not in {node.mode} mode"
    if node.node_type not in step.node_types:
        return f"not on a {node.node_type.lower()} node"
    return ""


def _attempts(step: Step, context: Context) -> StepResult:
    for attempt in range(1, step.attempts + 1):
        result = replace(_attempt(step, context), attempts=attempt)
        if result.outcome != "failed" or attempt == step.attempts:
            break
        context.log.line(f"attempt {attempt} of {step.attempts} failed: {result.detail}", step=step.name)
        context.clock.sleep(step.pause_seconds * 2 ** (attempt - 1))
    if result.outcome == "failed" and not step.required:
        return replace(result, outcome="warning")
    return result


def _attempt(step: Step, context: Context) -> StepResult:
    deadline = Deadline.after(context.clock, step.time_limit_seconds)
    bound = replace(
        context,
        deadline=deadline,
        step=step.name,
        commands=replace(context.commands, deadline=deadline, step=step.name),
    )
    try:
        return StepResult(name=step.name, outcome="done", detail=step.run(bound))
    except StepSkippedError as reason:
        return StepResult(name=step.name, outcome="skipped", detail=str(reason))
    except NodeError as error:
        return failure(step.name, error, advice=step.advice)
    except OSError as error:
        # a full disk, a dead mount, a missing right: the machine's trouble, and its own words say which
        return failure(step.name, NodeError(f"{type(error).__name__}: {error}"), advice=step.advice)
    except Exception as error:
        for line in traceback.format_exc().splitlines():
            context.log.line(line, step=step.name)
        return failure(step.name, NodeError(f"{type(error).__name__}: {error}"), advice=BUG_ADVICE)


def failure(name: str, error: NodeError, *, advice: str = "") -> StepResult:
    """The result that an error makes of a step; the error's own advice comes first."""
    return StepResult(
        name=name,
        outcome="failed",
        detail=error.message,
        command=error.command,
        last_lines=error.last_lines,
        advice=error.advice or advice,
    )


def _ended(step: Step, context: Context, result: StepResult) -> StepResult:
    text = result.outcome + (f": {result.detail}" if result.detail else "")
    seconds = f" ({result.seconds:.1f} s)" if result.attempts else ""
    context.log.line(text + seconds, step=step.name)
    return result
