"""The node scripts on real hosts: from entry to Slurm ready, split by step; again; fifty at once.

Needs root on Linux, as :mod:`hyperpod_cdk.rehearsal.hosts` does: ``make bench-nodes``.
"""

import importlib
import json
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperpod_cdk.lifecycle.staging import packaged_scripts
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox, ScriptRun

RESULTS = Path(__file__).parent / "results-nodes.json"
SLURM = "22.05"
ROUNDS = 3
MANY = 50
PEERS = {"Controller": 76.0, "Compute": 12.0}
"""Seconds that AWS's base-config scripts took in such a sandbox, most features off: 76 on the controller, 11
to 13 on the others, whose slurmd had given up on the controller by then (measured)."""
GOALS = {"against peers": 0.25, "against critical path": 1.3, "second run": 0.2, "fifty at once": 2.0}
USERS = [
    {"name": f"user{number}", "uid": 2000 + number, "gid": 2000 + number, "groups": [], "sudo": False}
    for number in range(1, 6)
]
CONFIG = {
    "accounting": {
        "accounts": [{"name": "research"}],
        "associations": [{"user": user["name"], "account": "research"} for user in USERS],
        "users": [{"name": user["name"], "default_account": "research"} for user in USERS],
    }
}


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One cluster's set-up.

    Args:
        first: the first run on each node type, all at once; compute nodes wait for the controller in it.
        second: the second.
        joining: of a compute node that joins when the others are there.
        load: of the machine when it began, over a minute; other work on it makes every figure larger.
    """

    first: Mapping[str, ScriptRun]
    second: Mapping[str, ScriptRun]
    joining: ScriptRun
    load: float


def _catalogue() -> Sequence[Any]:
    """The steps of the scripts, which no package installs."""
    sys.path.insert(0, str(packaged_scripts()))
    return tuple(importlib.import_module("hyperpod_node.catalogue").STEPS)


def critical_path(seconds: Mapping[str, float]) -> float:
    """Seconds of the longest chain of steps that wait for one another: no order of them is quicker.

    Args:
        seconds: by step; one that is missing took none.
    """
    took: dict[str, float] = {}
    for step in _catalogue():
        before = (took.get(name, 0.0) for name in (*step.needs, *step.after))
        took[step.name] = seconds.get(step.name, 0.0) + max(before, default=0.0)
    return max(took.values())


def measure_cluster(compute: int) -> Measured:
    """Set a cluster up, then run its scripts again.

    Args:
        compute: how many compute nodes start at once.
    """
    load = os.getloadavg()[0]
    with Sandbox(Plan(groups=usual_groups(compute), users=USERS, config=CONFIG), slurm=SLURM) as sandbox:
        sandbox.up()
        runs = sandbox.provision()
        sandbox.idle(compute)
        again = sandbox.provision()
        kinds = {"Controller": sandbox.controller, "Login": sandbox.login}
        first = {kind: runs[host.name] for kind, host in kinds.items()}
        second = {kind: again[host.name] for kind, host in kinds.items()}
        # of compute nodes the slowest: a cluster is there when the last one is
        slowest = max(sandbox.compute, key=lambda host: runs[host.name].seconds)
        first["Compute"], second["Compute"] = runs[slowest.name], again[slowest.name]
        (fresh,) = sandbox.grow("compute", 1)
        (joining,) = sandbox.provision([fresh]).values()
        return Measured(first=first, second=second, joining=joining, load=load)


def _spread(values: Iterable[float]) -> dict[str, float]:
    found = sorted(values)
    return {
        "min": round(found[0], 2),
        "median": round(statistics.median(found), 2),
        "max": round(found[-1], 2),
    }


def _steps(runs: Sequence[ScriptRun]) -> dict[str, float]:
    """The median seconds of each step that took any."""
    names = [step["name"] for step in runs[0].result["steps"]]
    seconds = {name: statistics.median(run.step(name)["seconds"] for run in runs) for name in names}
    return {name: round(value, 2) for name, value in seconds.items() if value >= 0.05}


def _ratio(title: str, value: float) -> dict[str, Any]:
    goal = GOALS[title]
    print(f"    {title}: {value:.2f}, goal {goal}: {'met' if value <= goal else 'missed'}")
    return {"ratio": round(value, 3), "goal": goal}


def _kind(kind: str, rounds: Sequence[Measured]) -> dict[str, Any]:
    first = [measured.first[kind] for measured in rounds]
    second = [measured.second[kind] for measured in rounds]
    seconds, again = _spread(run.seconds for run in first), _spread(run.seconds for run in second)
    print(f"  {kind.lower()}: {seconds['median']} s, second run {again['median']} s")
    steps = _steps(first)
    path = critical_path(steps)
    found = {
        "seconds": seconds,
        "second_run_seconds": again,
        "steps": steps,
        "critical_path_seconds": round(path, 2),
        "against critical path": _ratio("against critical path", seconds["median"] / path),
        "second run": _ratio("second run", again["median"] / seconds["median"]),
    }
    if kind == "Compute":
        # peers' compute nodes waited for nobody: so does one that joins later
        joining = _spread(measured.joining.seconds for measured in rounds)
        print(f"  compute, joining a cluster that is there: {joining['median']} s")
        found["joining_seconds"] = joining
        found["against peers"] = _ratio("against peers", joining["median"] / PEERS[kind])
    elif kind in PEERS:
        found["against peers"] = _ratio("against peers", seconds["median"] / PEERS[kind])
    return found


def main() -> None:
    """Measure, print and write."""
    print(f"Slurm {SLURM}, custom mode, a controller, a login node and 2 compute nodes, {ROUNDS} rounds")
    rounds = [measure_cluster(2) for _ in range(ROUNDS)]
    kinds = {kind: _kind(kind, rounds) for kind in ("Controller", "Login", "Compute")}
    print(f"{MANY} compute nodes at once")
    one = statistics.median(measured.first["Compute"].seconds for measured in rounds)
    many = measure_cluster(MANY)
    slowest = many.first["Compute"].seconds
    print(f"  slowest compute node: {slowest:.1f} s, alone {one:.1f} s")
    report = {
        "slurm": SLURM,
        "rounds": ROUNDS,
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "load": [round(measured.load, 1) for measured in (*rounds, many)],
        "peers_seconds": PEERS,
        "kinds": kinds,
        "fifty": {
            "slowest_seconds": round(slowest, 2),
            "one_seconds": round(one, 2),
            "fifty at once": _ratio("fifty at once", slowest / one),
            "steps": _steps([many.first["Compute"]]),
        },
    }
    RESULTS.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
