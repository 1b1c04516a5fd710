"""All steps of a node's set-up, as data. To add one, write a function and a line in one of the lists here.

A step stands behind the steps that it waits for; `tests/lifecycle/test_catalogue.py` holds that.
"""

from __future__ import annotations

from collections.abc import Sequence

from hyperpod_node import idle
from hyperpod_node.catalogue import accounting, machine, own, people, slurm, software
from hyperpod_node.config import NodeConfig
from hyperpod_node.features import Features
from hyperpod_node.step import SET_UP, Later, Step

_ALL = (
    *machine.STEPS,
    *people.STEPS,
    *software.STEPS,
    *slurm.BEFORE_START,
    *accounting.BEFORE_START,
    *slurm.START,
    *slurm.AFTER_START,
    *accounting.AFTER_START,
)

_SET_UP = tuple(step.name for step in _ALL if SET_UP in step.occasions)

STEPS: tuple[Step, ...] = (
    *_ALL,
    Step(
        name="after",
        run=Later("steps.extra.run_after"),
        idle=idle.nothing_after,
        after=_SET_UP,
        time_limit_seconds=3600,
    ),
    Step(
        name="check",
        run=Later("last_look.at_the_end"),
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
    demanded = _demanded(settings.features)
    found: list[Step] = []
    for step in STEPS:
        own_ones = {"before": before, "after": after}.get(step.name, [])
        placed = _behind(step, after if step.name == "check" else own_ones)
        if step.name in demanded:
            placed = placed._replace(required=True)
        found += [*own_ones, placed]
    return tuple(found)


def _behind(step: Step, others: Sequence[Step]) -> Step:
    if not others:
        return step
    needs = tuple(other.name for other in others if other.required)
    return step._replace(needs=(*step.needs, *needs), after=(*step.after, *(other.name for other in others)))


def _demanded(wanted: Features) -> frozenset[str]:
    """The steps that are required because the deployment says so."""
    demands = {
        "docker": wanted.containers is not None and wanted.containers.required,
        "enroot": wanted.containers is not None and wanted.containers.required,
        "directory": wanted.directory is not None and wanted.directory.required,
        "buckets": any(mount.required for mount in wanted.bucket_mounts),
    }
    return frozenset(name for name, demanded in demands.items() if demanded)
