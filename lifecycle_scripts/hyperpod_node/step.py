"""A step as data, and how one ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import NamedTuple

from hyperpod_node.config import MODES, NODE_TYPES
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError

# what a step may run on: the set-up of a node, a look at one that runs, a rewritten slurm.conf
SET_UP, CHECK, SLURM_FILES = "set-up", "check", "slurm-files"


class Later:
    """A function that is looked up when it is called: a node reads the modules of the steps that it runs.

    Reading and compiling all of them took a third of the processor time of a second run (measured).

    Args:
        where: a module below hyperpod_node and its function, such as `steps.mounts.mount_file_systems`.
        first: what it is given before the context.
    """

    def __init__(self, where: str, *first: object) -> None:
        self._where = where
        self._first = first

    def function(self) -> Callable[..., str]:
        """The function itself."""
        module, _, name = self._where.rpartition(".")
        found: Callable[..., str] = getattr(import_module(f"hyperpod_node.{module}"), name)
        return found

    def __call__(self, context: Context) -> str:
        return self.function()(*self._first, context)


class Step(NamedTuple):
    """One step of a node's set-up.

    Args:
        name: short and stable; names the step in the log and in result.json.
        run: does the work and returns what it did, in a line. It must be safe to run again, and is run in a
            thread of its own.
        modes: the modes it belongs to; all unless given.
        node_types: the node types it belongs to; all unless given.
        occasions: what it runs on; the set-up unless given.
        idle: says why there is nothing to do on this node, from the configuration alone; empty when there is.
            Asked before anything is waited for, so that a step that does nothing delays nobody.
        needs: steps that must have done their work before. One that is skipped counts as done, one that
            ended as a warning does not: then this step is skipped.
        after: steps that must have ended before, however they did.
        uses: names of things that only one step at a time may use, such as `apt`.
        required: whether its failure ends the set-up; if not, it is a warning.
        time_limit_seconds: for each attempt.
        attempts: how often it is tried.
        pause_seconds: between attempts, doubled each time.
        spread_seconds: over how long the nodes of a very large cluster spread the start of this step, so
            that they do not all ask one server in the same second; 0 for work that touches only the node.
        advice: what a person should do when it fails.
    """

    name: str
    run: Callable[[Context], str]
    modes: tuple[str, ...] = MODES
    node_types: tuple[str, ...] = NODE_TYPES
    occasions: tuple[str, ...] = (SET_UP,)
    idle: Callable[[Context], str] = lambda _context: ""
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    required: bool = True
    time_limit_seconds: float = 300.0
    attempts: int = 1
    pause_seconds: float = 5.0
    spread_seconds: float = 0.0
    advice: str = ""

    @property
    def longest_seconds(self) -> float:
        """When the step must be over: attempts, pauses and spread together."""
        pauses = self.pause_seconds * float(2 ** (self.attempts - 1) - 1)
        return self.time_limit_seconds * self.attempts + pauses + self.spread_seconds


class StepResult(NamedTuple):
    """How a step ended.

    Args:
        name: the step.
        outcome: done, skipped, warning, failed, or not run.
        detail: what it did, why it was skipped, or what went wrong.
        began: seconds after the first step.
        seconds: how long it took, attempts and pauses together.
        attempts: how often it was tried.
        needs: the steps that had to succeed before it.
        after: the steps that had to end before it.
        command: the command that failed.
        last_lines: what that command printed last.
        advice: what to do about the failure.
    """

    name: str
    outcome: str
    detail: str = ""
    began: float = 0.0
    seconds: float = 0.0
    attempts: int = 0
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    command: str = ""
    last_lines: tuple[str, ...] = ()
    advice: str = ""


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


def not_for(step: Step, context: Context) -> str:
    """Why a step does not belong to this node; empty when it does."""
    node = context.node
    if node.mode not in step.modes:
        return f"not in {node.mode} mode"
    if node.node_type not in step.node_types:
        return f"not on a {node.node_type.lower()} node"
    return step.idle(context)


def catalogue_faults(steps: Sequence[Step]) -> list[str]:
    """What is wrong with a list of steps: a test holds it empty for those that are shipped."""
    known: dict[str, Step] = {}
    faults = []
    for step in steps:
        if step.name in known:
            faults.append(f"{step.name} is there twice")
        for name in (*step.needs, *step.after):
            # steps stand behind what they wait for, so that no two can wait for each other
            if name not in known:
                faults.append(f"{step.name} waits for {name}, which does not stand before it")
        for name in step.needs:
            if step.required and name in known and not known[name].required:
                faults.append(f"{step.name} is required but needs {name}, which is best effort: use after")
        known[step.name] = step
    return faults
