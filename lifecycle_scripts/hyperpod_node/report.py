"""What is left behind: a summary table, the reason of a failure, and result.json."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from hyperpod_node.facts import Node
from hyperpod_node.log import PATH as LOG_PATH
from hyperpod_node.log import Log
from hyperpod_node.root import Root
from hyperpod_node.step import StepResult

DIRECTORY = "/opt/ml/config/hyperpod-cdk"
RESULT_PATH = f"{DIRECTORY}/result.json"
SET_UP_HOOKS = ("on_create", "on_init_complete")
RESULT_FORMAT = 1


class Run(NamedTuple):
    """A whole run of the entry script.

    Args:
        hook: on_create or on_init_complete.
        node: this node; None when it could not be found out.
        results: how each step ended.
        started: when, in UTC, as ISO 8601.
        seconds: how long it took.
    """

    hook: str
    node: Node | None
    results: Sequence[StepResult]
    started: str
    seconds: float

    @property
    def failed(self) -> StepResult | None:
        """The required step that failed, if one did."""
        return next((result for result in self.results if result.outcome == "failed"), None)


def summarize(run: Run, log: Log) -> None:
    """Log the table of steps, and last of all the failure: whoever reads only the tail must find it."""
    width = max((len(result.name) for result in run.results), default=4)
    log.line("-" * 72)
    for result in run.results:
        row = f"{result.name:<{width}}  {result.outcome:<7}  {result.seconds:7.1f} s  {result.detail}"
        log.line(row.rstrip())
    log.line("-" * 72)
    for result in run.results:
        if result.outcome in ("warning", "failed"):
            _explain(result, log)
    set_up = run.hook in SET_UP_HOOKS
    if run.failed is None:
        warnings = sum(result.outcome == "warning" for result in run.results)
        done = "the node is set up" if set_up else f"{run.hook} is done"
        log.line(f"hyperpod-cdk: {done}, {warnings} warnings, {run.seconds:.1f} s")
    else:
        what = "set-up" if set_up else run.hook
        log.line(f"hyperpod-cdk: {what} failed at {run.failed.name}: {run.failed.detail}")


def _explain(result: StepResult, log: Log) -> None:
    tries = f" after {result.attempts} attempts" if result.attempts > 1 else ""
    log.line(f"{result.outcome.upper()} {result.name}{tries}: {result.detail}")
    if result.command:
        log.line(f"  command: {result.command}")
    for line in result.last_lines:
        log.line(f"  | {line}")
    if result.advice:
        log.line(f"  what to do: {result.advice}")


def write_result(run: Run, root: Root) -> None:
    """Leave result.json, which README.md describes; what runs later leaves a file of its hook's name."""
    node = run.node
    document = {
        "format": RESULT_FORMAT,
        "outcome": "failed" if run.failed else "succeeded",
        "hook": run.hook,
        "started": run.started,
        "seconds": round(run.seconds, 3),
        "log": LOG_PATH,
        "node": node
        and {
            "cluster": node.cluster.name,
            "instance_group": node.instance.group,
            "instance_id": node.instance.instance_id,
            "address": node.instance.address,
            "mode": node.mode,
            "node_type": node.node_type,
        },
        "steps": [_step(result) for result in run.results],
    }
    path = RESULT_PATH if run.hook in SET_UP_HOOKS else f"{DIRECTORY}/{run.hook}.json"
    root.write(path, json.dumps(document, indent=2) + "\n")


def _step(result: StepResult) -> dict[str, object]:
    return {**result._asdict(), "began": round(result.began, 3), "seconds": round(result.seconds, 3)}
