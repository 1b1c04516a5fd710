"""Commands for sacctmgr that say the same of several names, as one: each takes half a second (measured)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from hyperpod_node.accounting.plan import Command

NAME = "name="
LONGEST = 200
"""Names in one command, so that a cluster of thousands stays below what a command line holds."""


class Batch(NamedTuple):
    """Commands that can be one.

    Args:
        together: all of them as one.
        singles: each for itself.
    """

    together: Command
    singles: tuple[Command, ...]


def batches(commands: Sequence[Command]) -> Iterator[Batch]:
    """Join commands that follow one another and differ in the name alone; their order stays.

    Args:
        commands: as the plan has them.
    """
    for _, same in groupby(commands, key=_without_name):
        found = tuple(same)
        for start in range(0, len(found), LONGEST):
            singles = found[start : start + LONGEST]
            names = NAME + ",".join(dict.fromkeys(_name(command) for command in singles))
            together = tuple(names if part.startswith(NAME) else part for part in singles[0])
            yield Batch(together=together, singles=singles)


def _without_name(command: Command) -> Command:
    return tuple(part for part in command if not part.startswith(NAME))


def _name(command: Command) -> str:
    return next(part.removeprefix(NAME) for part in command if part.startswith(NAME))
