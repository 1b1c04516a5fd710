"""How long `hyperpod-cdk validate` takes as a whole process: in an editor and before each commit."""

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
    """Seconds of wall-clock time, and what of it the command line takes before it does anything."""
    whole, start = _timed("validate", _VALIDATE), _timed("start of the command line", _NOTHING)
    verdict = "met" if whole.median <= GOAL_SECONDS else "missed"
    print(f"  validate of slurm-gpu.yaml: median {whole.median:.3f} s, goal {GOAL_SECONDS} s: {verdict}")
    return [
        {
            "title": "validate of slurm-gpu.yaml, as a process of its own: seconds",
            "seconds": [whole.to_json(), start.to_json()],
            "goal": GOAL_SECONDS,
        }
    ]


def _timed(name: str, command: Sequence[str]) -> Timing:
    seconds = []
    for number in range(2 * ROUNDS + 1):
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if number:
            # the first one reads the files from the disk
            seconds.append(time.perf_counter() - start)
    return Timing(name=name, seconds=seconds)
