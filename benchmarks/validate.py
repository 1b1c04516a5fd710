"""How long `hyperpod-cdk validate` takes as a whole process: in an editor and before each commit."""

import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.pairs import ROUNDS, Timing

GOAL_SECONDS = 0.5
_PROGRAM = (sys.executable, "-m", "hyperpod_cdk")
_VALIDATE = (*_PROGRAM, "validate", "clusters/slurm-gpu.yaml")
_NOTHING = (*_PROGRAM, "--version")


def measure() -> list[dict[str, Any]]:
    """Seconds by the clock and of the processor, and what of them the command line's start takes.

    By the clock counts, and only on a machine that does nothing else; the processor's tell whether it did.
    """
    clock, processor = _timed("validate", _VALIDATE)
    start, _ = _timed("start of the command line", _NOTHING)
    verdict = "met" if clock.median <= GOAL_SECONDS else "missed"
    print(f"validate of slurm-gpu.yaml: {clock.median:.3f} s, goal {GOAL_SECONDS} s: {verdict}")
    return [
        {
            "title": "validate of slurm-gpu.yaml, as a process of its own: seconds",
            "seconds": [clock.to_json(), processor.to_json(), start.to_json()],
            "goal": GOAL_SECONDS,
        }
    ]


def _timed(name: str, command: Sequence[str]) -> tuple[Timing, Timing]:
    """By the clock, and of the processor."""
    clock, processor = [], []
    for number in range(2 * ROUNDS + 1):
        start, used = time.perf_counter(), _used()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if number:
            # the first one reads the files from the disk
            clock.append(time.perf_counter() - start)
            processor.append(_used() - used)
    return Timing(name=name, seconds=clock), Timing(name=f"{name}, of the processor", seconds=processor)


def _used() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime
