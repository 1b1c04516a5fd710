"""The Lambda handler: its start against a stock client's, and the largest cluster."""

import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.pairs import ROUNDS, Timing
from hyperpod_cdk.cluster.handler_code import handler_code

_MEASURED = """
import time
started = time.process_time()
{code}
seconds = time.process_time() - started
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(seconds, int(peak.split()[1]) / 1024)
"""
_OURS = "from handler import index; index._load('cluster.kind'); index._aws().sagemaker"
_STOCK = "import boto3; boto3.client('sagemaker')"
_GOALS = {"seconds": 0.7, "mebibytes": 0.8}
_LARGEST = "tests/handler/test_large_cluster.py"
_LARGEST_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class Start:
    """A process that makes a SageMaker client, as Lambda's does before the first request.

    Python's own start is the same for every handler and does not count. As in Lambda, the handler's folder
    can not be written to: its modules are compiled each time. Processor time is what is measured, since a
    start waits for nothing, and what else runs on the machine shall not count.
    """

    name: str
    code: str
    environment: Mapping[str, str]

    def run(self) -> tuple[float, float]:
        """Start once; processor seconds until the client is there, and the peak memory in MiB."""
        environment = {
            **os.environ,
            "AWS_DEFAULT_REGION": "us-west-2",
            # as in Lambda, where botocore need not look for them
            "AWS_ACCESS_KEY_ID": "none",
            "AWS_SECRET_ACCESS_KEY": "none",
            "PYTHONDONTWRITEBYTECODE": "1",
            **self.environment,
        }
        done = subprocess.run(
            [sys.executable, "-c", _MEASURED.format(code=self.code)],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        )
        seconds, mebibytes = map(float, done.stdout.split())
        return seconds, mebibytes


def measure() -> list[dict[str, Any]]:
    """Measure it all; results in the form of benchmarks/results.json."""
    return [*_starts(), _largest()]


def _starts() -> list[dict[str, Any]]:
    print("handler's client against boto3's", end=" ", flush=True)
    with handler_code() as root:
        paths = {"AWS_DATA_PATH": str(root / "models"), "PYTHONPATH": str(root)}
        starts = (
            Start(name="handler", code=_OURS, environment=paths),
            Start(name="boto3", code=_STOCK, environment={}),
        )
        figures: tuple[list[tuple[float, float]], ...] = ([], [])
        for number in range(ROUNDS + 1):
            for taken, start in zip(figures, starts, strict=True):
                now = start.run()
                print(".", end="", flush=True)
                if number:
                    taken.append(now)
    print()
    return [
        _compared(
            unit, [start.name for start in starts], [[one[index] for one in taken] for taken in figures]
        )
        for index, unit in enumerate(_GOALS)
    ]


def _compared(unit: str, names: Sequence[str], figures: Sequence[Sequence[float]]) -> dict[str, Any]:
    first, second = (Timing(name=name, seconds=taken) for name, taken in zip(names, figures, strict=True))
    ratio, goal = round(first.median / second.median, 3), _GOALS[unit]
    print(f"  {unit}: ratio of medians {ratio}, goal {goal}: {'met' if ratio <= goal else 'missed'}")
    return {
        "title": f"start of the handler with a client, against boto3: {unit}",
        unit: [first.to_json(), second.to_json()],
        "ratio": ratio,
        "goal": goal,
    }


def _largest() -> dict[str, Any]:
    """The figures of the test that holds the goal."""
    print("100 groups with 6,758 nodes, each described, compared and answered")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        subprocess.run(
            [sys.executable, "-m", "pytest", "-q", _LARGEST, f"--junitxml={report}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        found = ET.parse(report).iter("property")
        seconds = {str(entry.get("name")): float(str(entry.get("value"))) for entry in found}
    print(f"  {seconds}, goal {_LARGEST_SECONDS}")
    return {
        "title": "handler's seconds for a cluster of 100 groups and 6,758 nodes",
        "seconds": seconds,
        "goal": _LARGEST_SECONDS,
    }
