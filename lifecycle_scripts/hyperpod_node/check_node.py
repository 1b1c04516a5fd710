"""Looks at this node and changes nothing: hyperpod-check-node [--json].

Exit codes: 0 everything is as it should be, 1 the node is unfit for work, 2 it could not be looked at,
3 fit for work, but something is worth a look.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from hyperpod_node import config, facts
from hyperpod_node.checks import CHECKS
from hyperpod_node.clock import Clock, Deadline, wait_for
from hyperpod_node.commands import Commands, command_environment
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.log import Log
from hyperpod_node.root import Root
from hyperpod_node.runner import run_step
from hyperpod_node.side_by_side import side_by_side
from hyperpod_node.step import Step, StepResult, not_for

GOOD, UNFIT, UNKNOWN, DOUBTFUL = 0, 1, 2, 3
LIMIT_SECONDS = 300.0
# what a step of the same run has just looked at and would have told, or what the run's end decides; and what
# else has, where accounting and munge are the scripts' own to set up
JUST_DONE = ("last-set-up", "packages", "accounts")
JUST_DONE_BY_MODE = {"custom": ("accounting", "munge"), "legacy": ("accounting", "munge")}
# what others answer for: slurmctld may take a moment to count on a slurmd that has just registered
SETTLING = ("network", "munge", "slurmctld", "slurmd", "slurm-client")
SETTLE_SECONDS = 15.0
MODE_HOOKS = ("on_create", "on_init_complete")


def main(arguments: Sequence[str] | None = None) -> int:
    """Look at everything, and tell.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(prog="hyperpod-check-node", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    as_json = parser.parse_args(arguments).json
    root = Root.from_environment(os.environ)
    clock = Clock()
    log = Log(root, io.StringIO(), to_file=False)
    commands = Commands(
        clock=clock,
        deadline=Deadline.after(clock, LIMIT_SECONDS),
        environment=command_environment(os.environ, root),
        log=log,
    )
    try:
        context = _context(root, commands, log)
    except (NodeError, NotYetError) as error:
        print(f"this node can not be looked at: {error}", file=sys.stderr)
        return UNKNOWN
    results = check(context)
    print(_as_json(context, results) if as_json else _as_text(context, results))
    return exit_code(results)


def check(context: Context, *, leave_out: Sequence[str] = (), only: Sequence[str] = ()) -> list[StepResult]:
    """Every check that belongs to this node, whatever the others find; or only some of them."""
    chosen = [step for step in CHECKS if step.name not in leave_out and (not only or step.name in only)]
    # none changes anything, and most of them wait for others to answer
    return side_by_side([partial(_look, step, context) for step in chosen])


def _look(step: Step, context: Context) -> StepResult:
    reason = not_for(step, context)
    if reason:
        return StepResult(name=step.name, outcome="skipped", detail=reason)
    return run_step(step, context)


def at_the_end(context: Context) -> str:
    """The same as a step of the set-up: what is not as it should be is told, and ends nothing.

    A step that is required has failed by then; ending the set-up here would only lose the node's own log.
    """
    quiet = Log(context.root, io.StringIO(), to_file=False)
    looking = replace(context, log=quiet, commands=replace(context.commands, log=quiet))
    leave_out = (*JUST_DONE, *JUST_DONE_BY_MODE.get(context.node.mode, ()))
    results = {one.name: one for one in check(looking, leave_out=leave_out)}

    def settle() -> None:
        late = [name for name in SETTLING if name in results and _is_bad(results[name])]
        if late:
            results.update((one.name, one) for one in check(looking, only=late))
        if any(_is_bad(results[name]) for name in late):
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
    found = [one for one in results.values() if _is_bad(one)]
    if found:
        raise NodeError(
            "; ".join(f"{one.name}: {one.detail}" for one in found),
            advice="run `hyperpod-check-node` on the node: it may still be settling",
        )
    return f"{sum(one.outcome == 'done' for one in results.values())} checks passed"


def _is_bad(result: StepResult) -> bool:
    return result.outcome in ("failed", "warning")


def exit_code(results: Sequence[StepResult]) -> int:
    """What the results come to."""
    outcomes = {result.outcome for result in results}
    if "failed" in outcomes:
        return UNFIT
    return DOUBTFUL if "warning" in outcomes else GOOD


def _context(root: Root, commands: Commands, log: Log) -> Context:
    directory = Path.cwd()
    settings = config.load(directory)
    cluster, instance = facts.read_instance(root, commands, os.environ)
    hook = next(
        hook
        for hook in MODE_HOOKS
        if facts.HOOK_OF_MODE.get(settings.mode_by_group.get(instance.group, ""), MODE_HOOKS[0]) == hook
    )
    node = facts.describe(cluster, instance, settings, hook=hook, root=root, directory=directory)
    return Context(
        root=root,
        commands=commands,
        clock=commands.clock,
        deadline=commands.deadline,
        log=log,
        environment=os.environ,
        directory=directory,
        config=settings,
        node=node,
    )


def _as_text(context: Context, results: Sequence[StepResult]) -> str:
    node = context.node
    lines = [
        f"{node.instance.name} ({node.instance.instance_id}), {node.node_type.lower()}, {node.mode} mode"
    ]
    for result in results:
        word = {"done": "ok", "failed": "FAILED"}.get(result.outcome, result.outcome)
        lines.append(f"{word:<8} {result.name:<14} {result.detail}".rstrip())
        if result.outcome in ("failed", "warning"):
            lines += [f"         | {line}" for line in result.last_lines]
            lines += [f"         what to do: {result.advice}"] if result.advice else []
    return "\n".join(lines)


def _as_json(context: Context, results: Sequence[StepResult]) -> str:
    node = context.node
    document = {
        "format": 1,
        "exit_code": exit_code(results),
        "node": {
            "cluster": node.cluster.name,
            "instance_group": node.instance.group,
            "instance_id": node.instance.instance_id,
            "mode": node.mode,
            "node_type": node.node_type,
        },
        "checks": [
            {"name": one.name, "outcome": one.outcome, "detail": one.detail, "advice": one.advice}
            for one in results
        ],
    }
    return json.dumps(document, indent=2)


if __name__ == "__main__":
    sys.exit(main())
