"""Run every benchmark and write the figures to benchmarks/results.json."""

import json
import platform
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import handler, preflight, validate
from benchmarks.level1 import write_from
from benchmarks.pairs import ROUNDS, App, Pair

_RESULTS = Path(__file__).parent / "results.json"
_LIBRARY = ("-m", "benchmarks.apps.library")
_GROUPS = ("-m", "benchmarks.apps.groups")


def _pairs(folder: Path) -> Sequence[Pair]:
    return (
        _against_level1("slurm-gpu", folder),
        _against_level1("eks-training", folder),
        Pair(
            title="synth with 100 instance groups, against three",
            first=App(name="100 groups", program=_GROUPS, arguments=["100"]),
            second=App(name="3 groups", program=_GROUPS, arguments=["3"]),
            goal=1.5,
        ),
    )


def _against_level1(name: str, folder: Path) -> Pair:
    own = folder / name
    own.mkdir()
    level1 = write_from(_LIBRARY, own, [name])
    return Pair(
        title=f"synth of {name}.yaml, against the same resources as L1 constructs",
        first=App(name="library", program=_LIBRARY, arguments=[name]),
        second=App(name="L1 constructs", program=[str(level1)]),
        goal=1.25,
    )


def main() -> None:
    """Measure, print and write."""
    results: list[dict[str, Any]] = [*handler.measure(), *preflight.measure(), *validate.measure()]
    with tempfile.TemporaryDirectory() as folder:
        for pair in _pairs(Path(folder)):
            print(pair.title, end=" ", flush=True)
            first, second = pair.measure()
            ratio = round(first.median / second.median, 3)
            print(
                f"  ratio of medians {ratio}, goal {pair.goal}: {'met' if ratio <= pair.goal else 'missed'}"
            )
            seconds = [first.to_json(), second.to_json()]
            results.append({"title": pair.title, "seconds": seconds, "ratio": ratio, "goal": pair.goal})
    report = {
        "rounds": ROUNDS,
        "python": platform.python_version(),
        "aws-cdk-lib": version("aws-cdk-lib"),
        "results": results,
    }
    _RESULTS.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


main()
