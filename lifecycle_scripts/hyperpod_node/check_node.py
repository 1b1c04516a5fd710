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
from pathlib import Path

from hyperpod_node import config, facts
from hyperpod_node.clock import Clock, Deadline
from hyperpod_node.commands import Commands, command_environment
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.last_look import check
from hyperpod_node.log import Log
from hyperpod_node.root import Root
from hyperpod_node.step import StepResult

GOOD, UNFIT, UNKNOWN, DOUBTFUL = 0, 1, 2, 3
LIMIT_SECONDS = 300.0
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
