"""Runs the checks of a node: all of them for a person, at the end of a set-up those that it has not made."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import suppress

from hyperpod_node.checks import CHECKS
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.log import Log
from hyperpod_node.runner import run_steps
from hyperpod_node.step import StepResult

# what a step of the same run has just looked at and would have told, or what the run's end decides; and what
# else has, where accounting and munge are the scripts' own to set up
JUST_DONE = (
    "last-set-up",
    "network",
    "metadata",
    "packages",
    "at-boot",
    "home",
    "ssh",
    "slurm-files",
    "slurm-watch",
    "login-watch",
    "epilog",
    "adopt",
    "purge",
    "accounts",
)
JUST_DONE_BY_MODE = {"custom": ("accounting", "munge"), "legacy": ("accounting", "munge")}
# what others answer for: slurmctld may take a moment to count on a slurmd that has just registered
SETTLING = ("munge", "slurmctld", "slurmd", "slurm-client")
SETTLE_SECONDS = 15.0


def check(context: Context, *, leave_out: Sequence[str] = (), only: Sequence[str] = ()) -> list[StepResult]:
    """Every check that belongs to this node, whatever the others find; or only some of them."""
    chosen = [step for step in CHECKS if step.name not in leave_out and (not only or step.name in only)]
    # none ends the others; one that hangs in a dead file system is left behind, and that is what it found
    results = run_steps([step._replace(required=False) for step in chosen], context)
    return [
        result._replace(outcome="failed") if step.required and result.outcome == "warning" else result
        for step, result in zip(chosen, results, strict=True)
    ]


def at_the_end(context: Context) -> str:
    """The same as a step of the set-up: what is not as it should be is told, and ends nothing.

    A step that is required has failed by then; ending the set-up here would only lose the node's own log.
    """
    quiet = Log(context.root, io.StringIO(), to_file=False)
    looking = context._replace(log=quiet, commands=context.commands.telling(quiet))
    leave_out = (*JUST_DONE, *JUST_DONE_BY_MODE.get(context.node.mode, ()))
    results = {one.name: one for one in check(looking, leave_out=leave_out)}

    def settle() -> None:
        late = [name for name in SETTLING if name in results and is_bad(results[name])]
        if late:
            results.update((one.name, one) for one in check(looking, only=late))
        if any(is_bad(results[name]) for name in late):
            raise NotYetError(", ".join(late))

    with suppress(NodeError):
        wait_for(
            settle,
            what="what has just started",
            deadline=context.deadline,
            say=looking.say,
            limit_seconds=SETTLE_SECONDS,
            longest_pause_seconds=2.0,
        )
    found = [one for one in results.values() if is_bad(one)]
    if found:
        raise NodeError(
            "; ".join(f"{one.name}: {one.detail}" for one in found),
            advice="run `hyperpod-check-node` on the node: it may still be settling",
        )
    return f"{sum(one.outcome == 'done' for one in results.values())} checks passed"


def is_bad(result: StepResult) -> bool:
    """Whether a person should know of it."""
    return result.outcome in ("failed", "warning")
