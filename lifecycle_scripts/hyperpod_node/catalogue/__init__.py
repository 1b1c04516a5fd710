"""All steps of a node's set-up, as data. To add one, write a function and a line in one of the lists here.

A step stands behind the steps that it waits for; `tests/lifecycle/test_catalogue.py` holds that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hyperpod_node import check_node
from hyperpod_node.catalogue import accounting, machine, people, slurm, software
from hyperpod_node.config import NodeConfig
from hyperpod_node.step import SET_UP, Step
from hyperpod_node.steps import extra, own

_ALL = (
    *machine.STEPS,
    *people.STEPS,
    *software.STEPS,
    *slurm.BEFORE_START,
    *accounting.BEFORE_START,
    *slurm.START,
    *accounting.AFTER_START,
    *slurm.AFTER_START,
)

_SET_UP = tuple(step.name for step in _ALL if SET_UP in step.occasions)

STEPS: tuple[Step, ...] = (
    *_ALL,
    Step(
        name="after",
        run=extra.run_after,
        idle=extra.nothing_after,
        after=_SET_UP,
        time_limit_seconds=3600,
    ),
    Step(
        name="check",
        run=check_node.at_the_end,
        after=(*_SET_UP, "after"),
        required=False,
        time_limit_seconds=300,
    ),
)


def steps_of(settings: NodeConfig) -> tuple[Step, ...]:
    """The steps of a deployment: all of ours, required where it says so, and its own among them.

    Args:
        settings: config.json.
    """
    declared = settings.features.steps
    before = own.own_steps(declared, when="before", needs=("packages",), after=("network",))
    before_names = (step.name for step in before)
    after = own.own_steps(declared, when="after", needs=(), after=(*_SET_UP, *before_names))
    found: list[Step] = []
    for step in STEPS:
        own_ones = {"before": before, "after": after}.get(step.name, [])
        required = step.required or _demanded(settings, step.name)
        behind = after if step.name == "check" else own_ones
        found += [*own_ones, replace(_behind(step, behind), required=required)]
    return tuple(found)


def _behind(step: Step, others: Sequence[Step]) -> Step:
    needs = tuple(other.name for other in others if other.required)
    return replace(step, needs=(*step.needs, *needs), after=(*step.after, *(other.name for other in others)))


def _demanded(settings: NodeConfig, name: str) -> bool:
    wanted = settings.features
    demands = {
        "docker": bool(wanted.containers and wanted.containers.required),
        "enroot": bool(wanted.containers and wanted.containers.required),
        "directory": bool(wanted.directory and wanted.directory.required),
        "buckets": any(mount.required for mount in wanted.bucket_mounts),
    }
    return demands.get(name, False)
