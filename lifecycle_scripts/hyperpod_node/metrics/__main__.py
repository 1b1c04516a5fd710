"""Measures once, for node_exporter to read: python3 -m hyperpod_node.metrics efa gpu slurm."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence

from hyperpod_node.clock import Clock, Deadline
from hyperpod_node.commands import Commands, command_environment
from hyperpod_node.errors import NodeError
from hyperpod_node.log import Log
from hyperpod_node.metrics import FOLDER, efa, gpu, slurm
from hyperpod_node.metrics.text import Sample, render
from hyperpod_node.root import Root

LIMIT_SECONDS = 60.0

COLLECTORS: dict[str, Callable[[Root, Commands], Iterable[Sample]]] = {
    "efa": lambda root, _commands: efa.samples(root),
    "gpu": gpu.samples,
    "slurm": lambda _root, commands: slurm.samples(commands),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is named; what fails is left out, and told by hyperpod_collector_ok."""
    root = Root.from_environment(os.environ)
    clock = Clock()
    commands = Commands(
        clock=clock,
        deadline=Deadline.after(clock, LIMIT_SECONDS),
        environment=command_environment(os.environ, root),
        log=Log(root, io.StringIO(), to_file=False),
        directory=root.path("/"),
    )
    for name in sys.argv[1:] if arguments is None else arguments:
        root.write(f"{FOLDER}/{name}.prom", render(measure(name, root, commands)))
    return 0


def measure(name: str, root: Root, commands: Commands) -> list[Sample]:
    """The samples of one collector, and how it went."""
    began = time.monotonic()
    labels = {"collector": name}
    try:
        found = list(COLLECTORS[name](root, commands))
        good = True
    except (NodeError, OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        found, good = [], False
    return [
        *found,
        Sample(name="hyperpod_collector_ok", value=good, labels=labels),
        Sample(name="hyperpod_collector_seconds", value=time.monotonic() - began, labels=labels),
    ]


if __name__ == "__main__":
    sys.exit(main())
