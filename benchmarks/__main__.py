"""Run every benchmark and write the figures to benchmarks/results.json."""

import json
import platform
from importlib.metadata import version
from pathlib import Path

from benchmarks.pairs import ROUNDS, Pair

PAIRS = (
    Pair(
        title="synth of slurm-gpu.yaml, against the same resources as L1 constructs",
        first=["library"],
        second=["level1"],
        goal=1.25,
    ),
    Pair(
        title="synth with 100 instance groups, against three",
        first=["groups", "100"],
        second=["groups", "3"],
        goal=1.5,
    ),
)


def main() -> None:
    """Measure, print and write."""
    results = []
    for pair in PAIRS:
        print(pair.title, end=" ", flush=True)
        first, second = pair.measure()
        ratio = round(first.median / second.median, 3)
        verdict = "met" if ratio <= pair.goal else "missed"
        print(f"  ratio of medians {ratio}, goal {pair.goal}: {verdict}")
        results.append(
            {
                "title": pair.title,
                "seconds": [first.to_json(), second.to_json()],
                "ratio": ratio,
                "goal": pair.goal,
            }
        )
    report = {
        "rounds": ROUNDS,
        "python": platform.python_version(),
        "aws-cdk-lib": version("aws-cdk-lib"),
        "results": results,
    }
    path = Path(__file__).parent / "results.json"
    path.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


main()
