"""Slurm, as its own commands tell of it on the controller: nodes, jobs and the scheduler.

Counts, with short lines to count from: a full listing of all jobs grows with the queue, and holds slurmctld.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from hyperpod_node.commands import Commands
from hyperpod_node.metrics.text import Sample, number

# what sinfo puts behind a state: not responding, powering, maintenance, reserved and so on
STATE_FLAGS = "*~#!%$@^-+"
SDIAG = {
    "Server thread count": "hyperpod_slurm_server_threads",
    "Agent queue size": "hyperpod_slurm_agent_queue",
    "DBD Agent queue size": "hyperpod_slurm_dbd_agent_queue",
    "Jobs submitted": "hyperpod_slurm_jobs_submitted_total",
    "Jobs started": "hyperpod_slurm_jobs_started_total",
    "Jobs completed": "hyperpod_slurm_jobs_completed_total",
    "Jobs canceled": "hyperpod_slurm_jobs_canceled_total",
    "Jobs failed": "hyperpod_slurm_jobs_failed_total",
}
CYCLES = ("Last cycle", "Mean cycle")


def samples(commands: Commands) -> Iterator[Sample]:
    """Counts of nodes and jobs by what tells them apart, and the scheduler's own figures."""
    done = commands.run("sinfo", "--noheader", "--format", "%R|%T|%D", accept=(0, 1), timeout_seconds=20)
    yield Sample(name="hyperpod_slurm_up", value=done.exit_code == 0)
    if done.exit_code:
        return
    yield from nodes(done.lines)
    form = "%P|%T|%a|%D"
    yield from jobs(commands.run("squeue", "--noheader", "--format", form, timeout_seconds=20).lines)
    yield from scheduler(commands.run("sdiag", timeout_seconds=20).lines)


def nodes(lines: Sequence[str]) -> Iterator[Sample]:
    """Nodes by partition and state; a node counts in each of its partitions."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        partition, state, number_of = line.rsplit("|", 2)
        counts[partition, state.rstrip(STATE_FLAGS)] += int(number_of)
        if state.endswith("*"):
            counts[partition, "not responding"] += int(number_of)
    for key, count in sorted(counts.items()):
        labels = dict(zip(("partition", "state"), key, strict=True))
        yield Sample(name="hyperpod_slurm_nodes", value=count, labels=labels)


def jobs(lines: Sequence[str]) -> Iterator[Sample]:
    """Jobs, and the nodes that they have or ask for, by partition, state and account."""
    counts: Counter[tuple[str, str, str]] = Counter()
    used: Counter[tuple[str, str, str]] = Counter()
    for line in lines:
        partition, state, account, number_of = line.rsplit("|", 3)
        counts[partition, state.lower(), account] += 1
        used[partition, state.lower(), account] += int(number_of)
    for key, count in sorted(counts.items()):
        labels = dict(zip(("partition", "state", "account"), key, strict=True))
        yield Sample(name="hyperpod_slurm_jobs", value=count, labels=labels)
        yield Sample(name="hyperpod_slurm_job_nodes", value=used[key], labels=labels)


def scheduler(lines: Sequence[str]) -> Iterator[Sample]:
    """What sdiag says of slurmctld; the first schedule's cycles are the main one's, the second backfill's."""
    kind = "main"
    for line in lines:
        if line.startswith("Backfilling stats"):
            kind = "backfill"
        if line.startswith("Remote Procedure Call"):
            return
        name, _, text = (part.strip() for part in line.partition(":"))
        value = number(re.split(r"\s", text)[0]) if text else None
        if value is None:
            continue
        if name in SDIAG:
            yield Sample(name=SDIAG[name], value=value)
        if name in CYCLES:
            which = name.partition(" ")[0].lower()
            labels = {"scheduler": kind}
            yield Sample(name=f"hyperpod_slurm_cycle_{which}_seconds", value=value / 1e6, labels=labels)
