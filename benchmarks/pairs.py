"""Times two commands as whole processes, in turn, so that a machine's drift meets both alike."""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass

ROUNDS = 5


@dataclass(frozen=True, kw_only=True)
class Timing:
    """Wall-clock seconds of one command."""

    name: str
    seconds: Sequence[float]

    @property
    def median(self) -> float:
        """The figure to quote."""
        return statistics.median(self.seconds)

    def to_json(self) -> dict[str, float | str]:
        """Minimum, median and maximum, in seconds."""
        return {
            "name": self.name,
            "min": round(min(self.seconds), 3),
            "median": round(self.median, 3),
            "max": round(max(self.seconds), 3),
        }


@dataclass(frozen=True, kw_only=True)
class App:
    """An app: ``python *program OUTDIR *arguments``."""

    name: str
    program: Sequence[str]
    arguments: Sequence[str] = ()

    def run(self) -> float:
        """Synthesize once; the seconds it took."""
        with tempfile.TemporaryDirectory() as out:
            start = time.perf_counter()
            subprocess.run([sys.executable, *self.program, out, *self.arguments], check=True)
            return time.perf_counter() - start


@dataclass(frozen=True, kw_only=True)
class Pair:
    """Two apps, and how many times the second's time the first may take."""

    title: str
    first: App
    second: App
    goal: float

    def measure(self, rounds: int = ROUNDS) -> tuple[Timing, Timing]:
        """Time both, after one uncounted run each."""
        seconds: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds + 1):
            for taken, app in zip(seconds, (self.first, self.second), strict=True):
                now = app.run()
                print(".", end="", flush=True)
                if number:
                    taken.append(now)
        print()
        return (
            Timing(name=self.first.name, seconds=seconds[0]),
            Timing(name=self.second.name, seconds=seconds[1]),
        )
