"""Looks at munge, and at Slurm as the nodes have it that are no controllers."""

from __future__ import annotations

import stat

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.units import is_active

DAEMON_ADVICE = "see `journalctl -u {unit}` and /var/log/slurm/{unit}.log"
BAD_STATES = ("down", "drain", "fail", "not_responding", "unknown", "error", "inval")


def munge(context: Context) -> str:
    """Whether munged takes its own credential, and the key is its own."""
    credential = context.commands.run(
        "munge", "--no-input", timeout_seconds=15, advice=advice_on("munge")
    ).text
    context.commands.run("unmunge", given=credential + "\n", timeout_seconds=15, advice=advice_on("munge"))
    key = context.root.path("/etc/munge/munge.key")
    if key.is_file() and stat.S_IMODE(key.stat().st_mode) & 0o077:
        raise NodeError("munge.key can be read by others", advice="chmod 400 /etc/munge/munge.key")
    return "takes its own credentials"


def compute(context: Context) -> str:
    """Whether slurmd runs, and slurmctld counts on this node."""
    running(context, "slurmd")
    # as the service names its nodes in Slurm
    name = f"ip-{context.node.instance.address.replace('.', '-')}"
    done = context.commands.run("sinfo", "--noheader", "--nodes", name, "--format", "%T", timeout_seconds=20)
    states = sorted({line.strip() for line in done.lines})
    if not states:
        raise NodeError(f"sinfo knows no node {name}", advice="see slurm.conf on the controller")
    bad = [state for state in states if state.endswith("*") or any(word in state for word in BAD_STATES)]
    if bad:
        raise NodeError(f"{name} is {', '.join(bad)}", advice=f"see `scontrol show node {name}`")
    return f"{name} is {', '.join(states)}"


def login(context: Context) -> str:
    """Whether Slurm's commands reach the controller from here."""
    done = context.commands.run(
        "sinfo", "--noheader", "--summarize", timeout_seconds=20, advice=advice_on("slurmd")
    )
    return f"sinfo answers: {len(done.lines)} partitions"


def running(context: Context, unit: str) -> None:
    """Refuse a daemon that does not run."""
    if not is_active(context, unit):
        raise NodeError(f"{unit} does not run", advice=advice_on(unit))


def advice_on(unit: str) -> str:
    """Where a daemon's own words are."""
    return DAEMON_ADVICE.format(unit=unit)
