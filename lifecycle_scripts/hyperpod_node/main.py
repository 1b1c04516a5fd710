"""The entry: find out who this node is, run the steps that belong to it, say how it went."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import FrameType

from hyperpod_node import config, facts
from hyperpod_node.catalogue import steps_of
from hyperpod_node.clock import Clock, Deadline, wait_for
from hyperpod_node.commands import Commands, command_environment
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, TerminatedError
from hyperpod_node.halt import Halt
from hyperpod_node.log import Log
from hyperpod_node.report import Run, summarize, write_result
from hyperpod_node.root import Root
from hyperpod_node.runner import run_steps
from hyperpod_node.step import CHECK, SET_UP, SLURM_FILES, StepResult, failure

# what starts the scripts, and what then runs
OCCASION_OF_HOOK = {
    "on_create": SET_UP,
    "on_init_complete": SET_UP,
    "check": CHECK,
    "slurm_files": SLURM_FILES,
}
TIME_SCALE_VARIABLE = "HYPERPOD_CDK_TIME_SCALE"
FACTS = "facts"
# The interface in the customer's VPC may come up after the scripts started; peers' scripts give it 10 min.
FACTS_LIMIT_SECONDS = 300.0
FACTS_ADVICE = (
    "compare `ip address` with resource_config.json on the node; when they differ, the service described "
    "another node, and replacing this one helps"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Set the node up, or look at one that is.

    Returns:
        0 when every required step is done, 1 when one failed.
    """
    hook = _hook(sys.argv[1:] if arguments is None else arguments)
    root = Root.from_environment(os.environ)
    log = Log(root)
    clock = Clock(float(os.environ.get(TIME_SCALE_VARIABLE) or 1.0))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, partial(_terminate, clock.halt))
    began = clock.now()
    started = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
    log.line(f"hyperpod-cdk: {hook} starts")
    node, results = _set_up(hook, root, log, clock)
    run = Run(hook=hook, node=node, results=results, started=started, seconds=clock.now() - began)
    try:
        write_result(run, root)
    except OSError as error:
        log.line(f"WARNING: no result.json: {error}")
    summarize(run, log)
    return 1 if run.failed else 0


def _hook(arguments: Sequence[str]) -> str:
    """The lifecycle hook that started this, which is all that the command line says."""
    if len(arguments) == 2 and arguments[0] == "--hook" and arguments[1] in OCCASION_OF_HOOK:
        return arguments[1]
    import argparse  # noqa: PLC0415 (only to say what is wrong)

    parser = argparse.ArgumentParser(prog="hyperpod_node.main", description=__doc__)
    parser.add_argument(
        "--hook", required=True, choices=sorted(OCCASION_OF_HOOK), help="the lifecycle hook that started this"
    )
    return str(parser.parse_args(arguments).hook)


def _set_up(hook: str, root: Root, log: Log, clock: Clock) -> tuple[facts.Node | None, list[StepResult]]:
    environment = command_environment(os.environ, root)
    directory = Path.cwd()
    # longer than the wait, so that its last look is not cut short
    deadline = Deadline.after(clock, FACTS_LIMIT_SECONDS + 60)
    commands = Commands(clock=clock, deadline=deadline, environment=environment, log=log, step=FACTS)
    began = clock.now()
    try:
        settings = config.load(directory)
        cluster, instance = wait_for(
            lambda: facts.read_instance(root, commands, os.environ),
            what="finding this node in resource_config.json",
            deadline=deadline,
            say=lambda text: log.line(text, step=FACTS),
            limit_seconds=FACTS_LIMIT_SECONDS,
            advice=FACTS_ADVICE,
        )
        node = facts.describe(cluster, instance, settings, hook=hook, root=root, directory=directory)
    except (NodeError, TerminatedError) as error:
        reason = error if isinstance(error, NodeError) else NodeError(str(error))
        log.line(f"failed: {reason}", step=FACTS)
        return None, [failure(FACTS, reason)]
    found = f"{instance.name} ({instance.instance_id}) is a {node.node_type.lower()} node in {node.mode} mode"
    log.line(f"done: {found}", step=FACTS)
    context = Context(
        root=root,
        commands=commands,
        clock=clock,
        deadline=deadline,
        log=log,
        environment=os.environ,
        directory=directory,
        config=settings,
        node=node,
    )
    first = StepResult(name=FACTS, outcome="done", detail=found, seconds=clock.now() - began, attempts=1)
    steps = [step for step in steps_of(settings) if OCCASION_OF_HOOK[hook] in step.occasions]
    return node, [first, *run_steps(steps, context)]


def _terminate(halt: Halt, number: int, _frame: FrameType | None) -> None:
    halt.terminate(f"ended by {signal.Signals(number).name}")


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    # without Python's own end, which waits for nothing that is wanted and takes a thirtieth of a run's time
    os._exit(code)
