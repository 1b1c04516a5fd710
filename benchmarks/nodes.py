"""The node scripts on real hosts: from entry to Slurm ready, split by step; again; fifty at once.

Needs root on Linux, as :mod:`hyperpod_cdk.rehearsal.hosts` does: ``make bench-nodes``.
"""

import json
import os
import platform
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.cpu_time import CpuTime, cpu_time
from benchmarks.critical_path import critical_path
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox, ScriptRun

RESULTS = Path(__file__).parent / "results-nodes.json"
SLURM = "22.05"
ROUNDS = 3
MANY = 50
SHARE = 0.03
"""Processors that each compute node gets, alone as among fifty, so that it is as fast there as here. Fifty
use three quarters of this machine's two; the controller and the stand-ins of the service have the rest."""
PEERS = {"Controller": 76.0, "Compute": 12.0}
"""Seconds that AWS's base-config scripts took in such a sandbox, most features off: 76 on the controller, 11
to 13 on the others, whose slurmd had given up on the controller by then (measured)."""
GOALS = {
    "against peers": 0.25,
    "against critical path": 1.3,
    "second run": 0.2,
    # where all have the cores of this one machine, and where each has its share, as machines apart have
    "fifty at once": 2.0,
    "fifty at once, each with its share": 2.0,
}
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
        cpu_seconds: processor time of all nodes in the first run.
        machine: the whole machine's, others' work among it.
    """

    first: Mapping[str, ScriptRun]
    second: Mapping[str, ScriptRun]
    joining: ScriptRun
    cpu_seconds: float
    machine: CpuTime


def measure_cluster(compute: int) -> Measured:
    """Set a cluster up, then run its scripts again.

    Args:
        compute: how many compute nodes start at once.
    """
    with Sandbox(Plan(groups=usual_groups(compute), users=USERS, config=CONFIG), slurm=SLURM) as sandbox:
        sandbox.up()
        before = cpu_time()
        runs = sandbox.provision()
        machine = cpu_time() - before
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
        return Measured(
            first=first,
            second=second,
            joining=joining,
            cpu_seconds=sum(run.cpu_seconds for run in runs.values()),
            machine=machine,
        )


def measure_shared(compute: int) -> float:
    """Seconds of the slowest compute node, each with its share of the processors and no more.

    Args:
        compute: how many compute nodes start at once.
    """
    with Sandbox(Plan(groups=usual_groups(compute), users=USERS, config=CONFIG), slurm=SLURM) as sandbox:
        sandbox.up()
        for host in sandbox.compute:
            host.limit(SHARE)
        runs = sandbox.provision()
        return max(runs[host.name].seconds for host in sandbox.compute)


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
    return {"ratio": round(value, 3), "goal": goal, "met": value <= goal}


def _against_path(runs: Sequence[ScriptRun]) -> dict[str, Any]:
    """How much longer each run took than its own critical path; the worst one counts."""
    paths = [critical_path(run.result) for run in runs]
    worst = max(range(len(runs)), key=lambda index: runs[index].seconds / paths[index].seconds)
    print(f"    critical path: {' > '.join(paths[worst].steps)}, {paths[worst].seconds:.2f} s")
    found = _ratio("against critical path", runs[worst].seconds / paths[worst].seconds)
    # no step: bash, Python and what it reads before the first one, which a busy machine draws out most
    start = runs[worst].seconds - runs[worst].result["seconds"]
    print(f"    before the first step: {start:.2f} s")
    return {
        "steps": list(paths[worst].steps),
        "seconds": round(paths[worst].seconds, 2),
        "before the first step": round(start, 2),
        **found,
    }


def _kind(kind: str, rounds: Sequence[Measured]) -> dict[str, Any]:
    first = [measured.first[kind] for measured in rounds]
    second = [measured.second[kind] for measured in rounds]
    seconds, again = _spread(run.seconds for run in first), _spread(run.seconds for run in second)
    print(f"  {kind.lower()}: {seconds['median']} s, second run {again['median']} s")
    found = {
        "seconds": seconds,
        "second_run_seconds": again,
        "steps": _steps(first),
        "critical path": _against_path(first),
        "second run": _ratio("second run", again["median"] / seconds["median"]),
    }
    if kind == "Compute":
        # peers' compute nodes waited for nobody: so does one that joins later
        joining = _spread(measured.joining.seconds for measured in rounds)
        print(f"  compute, joining a cluster that is there: {joining['median']} s")
        found["joining_seconds"] = joining
        found["joining_cpu_seconds"] = _spread(measured.joining.cpu_seconds for measured in rounds)
        found["joining critical path"] = _against_path([measured.joining for measured in rounds])
        found["against peers"] = _ratio("against peers", joining["median"] / PEERS[kind])
    elif kind in PEERS:
        found["against peers"] = _ratio("against peers", seconds["median"] / PEERS[kind])
    return found


def _fifty(one: float, many: Measured) -> dict[str, Any]:
    """How much longer many nodes took than one: on this machine's cores, and as machines apart."""
    cores = os.cpu_count() or 1
    slowest = many.first["Compute"].seconds
    others = max(0.0, many.machine.busy - many.cpu_seconds)
    bound = many.cpu_seconds / cores
    with_others = many.machine.busy / cores
    print(f"  slowest compute node: {slowest:.1f} s, one of two {one:.1f} s")
    print(
        f"  processor time: nodes {many.cpu_seconds:.1f} s ({many.cpu_seconds / (MANY + 2):.2f} s each), "
        f"others on this machine {others:.1f} s, idle {many.machine.idle:.1f} s, on {cores} cores: "
        f"no order of work is quicker than {bound:.1f} s, with the others {with_others:.1f} s"
    )
    on_cores = _ratio("fifty at once", slowest / one)
    shared_one, shared_many = measure_shared(2), measure_shared(MANY)
    print(
        f"  each compute node with {SHARE:.0%} of a core: slowest of {MANY} {shared_many:.1f} s, "
        f"of two {shared_one:.1f} s"
    )
    return {
        "slowest_seconds": round(slowest, 2),
        "one_seconds": round(one, 2),
        "fifty at once": on_cores,
        "cpu_seconds": {
            "nodes": round(many.cpu_seconds, 2),
            "others": round(others, 2),
            "idle": round(many.machine.idle, 2),
            "bound": round(bound, 2),
            "bound with others": round(with_others, 2),
        },
        "steps": _steps([many.first["Compute"]]),
        "share": SHARE,
        "slowest_with_share_seconds": round(shared_many, 2),
        "one_with_share_seconds": round(shared_one, 2),
        "fifty at once, each with its share": _ratio(
            "fifty at once, each with its share", shared_many / shared_one
        ),
    }


def main() -> None:
    """Measure, print and write."""
    print(f"Slurm {SLURM}, custom mode, a controller, a login node and 2 compute nodes, {ROUNDS} rounds")
    rounds = [measure_cluster(2) for _ in range(ROUNDS)]
    kinds = {kind: _kind(kind, rounds) for kind in ("Controller", "Login", "Compute")}
    print(f"{MANY} compute nodes at once")
    one = statistics.median(measured.first["Compute"].seconds for measured in rounds)
    many = measure_cluster(MANY)
    busy = [measured.machine.busy - measured.cpu_seconds for measured in (*rounds, many)]
    wall = [measured.machine.busy + measured.machine.idle for measured in (*rounds, many)]
    report = {
        "slurm": SLURM,
        "rounds": ROUNDS,
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "others_share": [round(max(0.0, mine) / all_, 2) for mine, all_ in zip(busy, wall, strict=True)],
        "peers_seconds": PEERS,
        "kinds": kinds,
        "fifty": _fifty(one, many),
    }
    print(f"share of the processors that others took, round by round: {report['others_share']}")
    RESULTS.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
