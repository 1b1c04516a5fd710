"""Runs steps described as data: in the order of what they need, side by side where nothing forbids it."""

from __future__ import annotations

import errno
import queue
import threading
import time
from collections.abc import Sequence
from typing import NamedTuple

from hyperpod_node.clock import Deadline
from hyperpod_node.context import Context
from hyperpod_node.errors import GivenUpError, NodeError, StepSkippedError, TerminatedError
from hyperpod_node.spreading import spread
from hyperpod_node.step import Step, StepResult, failure, not_for

TERMINATED_ADVICE = "the service or a person ended the scripts: see which step took the time"
BUG_ADVICE = "this is a fault of the scripts: report it with provisioning.log"
HUNG_ADVICE = "a file system that hangs is the usual reason: see `dmesg` and /proc/mounts"
DISK_ADVICE = {
    errno.ENOSPC: "make room, and run the script again: see `df -h`, `df -i` and `du -xh --max-depth=2 /`",
    errno.EROFS: "the kernel lets nobody write to a disk with errors: see `dmesg`, then replace the node",
    errno.EIO: HUNG_ADVICE,
    errno.ESTALE: HUNG_ADVICE,
}
# beyond its own limits, for a step that is stuck in the kernel and cannot be ended
GRACE_SECONDS = 60.0
# once a signal came, real seconds
LAST_WORDS_SECONDS = 5.0


class _Running(NamedTuple):
    step: Step
    began: float
    must_end: float


class Runner:
    """One run of a list of steps.

    Args:
        steps: in the order of the report; each behind those that it waits for.
        context: the node.
    """

    def __init__(self, steps: Sequence[Step], context: Context) -> None:
        self._steps = tuple(steps)
        # what is not of this run has been done by another: it is not waited for
        self._names = frozenset(step.name for step in steps)
        self._context = context
        self._clock = context.clock
        self._started = context.clock.now()
        self._waiting = list(steps)
        self._running: dict[str, _Running] = {}
        self._results: dict[str, StepResult] = {}
        self._ended: queue.SimpleQueue[StepResult] = queue.SimpleQueue()

    def run(self) -> list[StepResult]:
        """Run all of them; after the failure of a required one nothing new starts."""
        self._start_what_can()
        while self._running:
            self._collect()
            self._start_what_can()
        return [self._results[step.name] for step in self._steps]

    def _start_what_can(self) -> None:
        before = -1
        while before != len(self._waiting):
            before = len(self._waiting)
            for step in tuple(self._waiting):
                self._consider(step)

    def _consider(self, step: Step) -> None:
        if self._clock.halt.reason:
            return self._settle(step, "not run", "")
        if reason := not_for(step, self._context):
            return self._settle(step, "skipped", reason)
        needs = [name for name in step.needs if name in self._names]
        if not {*needs, *step.after} & self._names <= self._results.keys():
            return None
        short = [name for name in needs if self._results[name].outcome not in ("done", "skipped")]
        if short:
            return self._settle(step, "skipped", f"needs {', '.join(short)}, which did not succeed")
        if any(set(step.uses) & set(other.step.uses) for other in self._running.values()):
            return None
        return self._start(step)

    def _settle(self, step: Step, outcome: str, detail: str) -> None:
        self._waiting.remove(step)
        result = StepResult(
            name=step.name, outcome=outcome, detail=detail, needs=step.needs, after=step.after
        )
        self._results[step.name] = result
        if outcome == "skipped":
            _log_end(result, self._context)

    def _start(self, step: Step) -> None:
        self._waiting.remove(step)
        now = self._clock.now()
        must_end = now + step.longest_seconds + GRACE_SECONDS
        self._running[step.name] = _Running(step=step, began=now - self._started, must_end=must_end)
        # a daemon, since one that is stuck in the kernel must not keep the script from ending
        threading.Thread(
            target=lambda: self._ended.put(run_step(step, self._context)), name=step.name, daemon=True
        ).start()

    def _collect(self) -> None:
        first = min(entry.must_end for entry in self._running.values())
        patience = max(0.0, self._clock.real(first - self._clock.now()))
        end = time.monotonic() + patience
        while True:
            # in slices, so that a signal's end is noticed even when a step is stuck
            try:
                result = self._ended.get(timeout=max(0.0, min(LAST_WORDS_SECONDS, end - time.monotonic())))
            except queue.Empty:
                if self._clock.halt.terminated or time.monotonic() >= end:
                    return self._abandon()
            else:
                return self._record(result)

    def _record(self, result: StepResult) -> None:
        running = self._running.pop(result.name, None)
        if running is None:
            return
        self._results[result.name] = result._replace(
            began=running.began, needs=running.step.needs, after=running.step.after
        )
        if result.outcome == "failed":
            self._clock.halt.give_up(f"given up, since {result.name} failed")

    def _abandon(self) -> None:
        """Leave behind what is stuck: everything after a signal, else what is over its time."""
        now = self._clock.now()
        for name, entry in tuple(self._running.items()):
            if not self._clock.halt.terminated and entry.must_end > now:
                continue
            reason = self._clock.halt.reason if self._clock.halt.terminated else "does not end"
            result = failure(name, NodeError(f"{name}: {reason}", advice=HUNG_ADVICE))
            if not entry.step.required and not self._clock.halt.terminated:
                result = result._replace(outcome="warning")
            _log_end(result, self._context)
            self._record(result._replace(attempts=1, seconds=now - self._started - entry.began))


def run_steps(steps: Sequence[Step], context: Context) -> list[StepResult]:
    """Run the steps, and give their results in the order of the steps."""
    return Runner(steps, context).run()


def run_step(step: Step, context: Context) -> StepResult:
    """Run one step and log one line when it starts and one when it ended."""
    context.log.line("start", step=step.name)
    began = context.clock.now()
    try:
        spread(context, step.name, longest_seconds=step.spread_seconds)
        result = _attempts(step, context)
    except TerminatedError as error:
        result = failure(step.name, NodeError(str(error), advice=TERMINATED_ADVICE))
    except GivenUpError as error:
        result = StepResult(name=step.name, outcome="not run", detail=str(error), attempts=1)
    result = result._replace(seconds=context.clock.now() - began)
    _log_end(result, context)
    return result


def _attempts(step: Step, context: Context) -> StepResult:
    for attempt in range(1, step.attempts + 1):
        result = _attempt(step, context)._replace(attempts=attempt)
        if result.outcome != "failed" or attempt == step.attempts:
            break
        context.log.line(f"attempt {attempt} of {step.attempts} failed: {result.detail}", step=step.name)
        context.clock.sleep(step.pause_seconds * 2 ** (attempt - 1))
    if result.outcome == "failed" and not step.required:
        return result._replace(outcome="warning")
    return result


def _attempt(step: Step, context: Context) -> StepResult:
    deadline = Deadline.after(context.clock, step.time_limit_seconds)
    bound = context._replace(
        deadline=deadline,
        step=step.name,
        commands=context.commands.bound(deadline=deadline, step=step.name),
    )
    try:
        return StepResult(name=step.name, outcome="done", detail=step.run(bound))
    except StepSkippedError as reason:
        return StepResult(name=step.name, outcome="skipped", detail=str(reason))
    except NodeError as error:
        return failure(step.name, error, advice=step.advice)
    except OSError as error:
        # a full disk, a dead mount, a missing right: the machine's trouble, and its own words say which
        advice = step.advice or DISK_ADVICE.get(error.errno or 0, "")
        return failure(step.name, NodeError(f"{type(error).__name__}: {error}"), advice=advice)
    except Exception as error:
        import traceback  # noqa: PLC0415 (reads a parser of Python, for a case that is none)

        for line in traceback.format_exc().splitlines():
            context.log.line(line, step=step.name)
        return failure(step.name, NodeError(f"{type(error).__name__}: {error}"), advice=BUG_ADVICE)


def _log_end(result: StepResult, context: Context) -> None:
    text = result.outcome + (f": {result.detail}" if result.detail else "")
    seconds = f" ({result.seconds:.1f} s)" if result.attempts else ""
    context.log.line(text + seconds, step=result.name)
