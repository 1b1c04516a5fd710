"""All steps of a node's set-up, as data. To add one, write a function and a line in one of the lists here.

A step stands behind the steps that it waits for; `tests/lifecycle/test_catalogue.py` holds that.
"""

from __future__ import annotations

from hyperpod_node.catalogue import accounting, machine, people, slurm, software
from hyperpod_node.step import SET_UP, Step
from hyperpod_node.steps import extra

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

STEPS: tuple[Step, ...] = (
    *_ALL,
    Step(
        name="after",
        run=extra.run_after,
        idle=extra.nothing_after,
        after=tuple(step.name for step in _ALL if SET_UP in step.occasions),
        time_limit_seconds=3600,
    ),
)
