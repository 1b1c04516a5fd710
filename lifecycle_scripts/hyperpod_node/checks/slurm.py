"""Looks at munge, Slurm's daemons, its configuration and its accounting."""

from __future__ import annotations

import re
import stat

from hyperpod_node import slurm
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps.slurm_files import AUTO_RESUME
from hyperpod_node.units import is_active

DAEMON_ADVICE = "see `journalctl -u {unit}` and /var/log/slurm/{unit}.log"
BAD_STATES = ("down", "drain", "fail", "not_responding", "unknown", "error", "inval")


def munge(context: Context) -> str:
    """Whether munged takes its own credential, and the key is its own."""
    credential = context.commands.run("munge", "--no-input", timeout_seconds=15, advice=_advice("munge")).text
    context.commands.run("unmunge", given=credential + "\n", timeout_seconds=15, advice=_advice("munge"))
    key = context.root.path("/etc/munge/munge.key")
    if key.is_file() and stat.S_IMODE(key.stat().st_mode) & 0o077:
        raise NodeError("munge.key can be read by others", advice="chmod 400 /etc/munge/munge.key")
    return "takes its own credentials"


def controller(context: Context) -> str:
    """Whether slurmctld runs and answers."""
    _running(context, "slurmctld")
    done = context.commands.run("scontrol", "ping", accept=(0, 1), timeout_seconds=20)
    if not re.search(r"\bUP\b", done.text):
        raise NodeError(done.text or "scontrol ping prints nothing", advice=_advice("slurmctld"))
    return "slurmctld answers"


def compute(context: Context) -> str:
    """Whether slurmd runs, and slurmctld counts on this node."""
    _running(context, "slurmd")
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
        "sinfo", "--noheader", "--summarize", timeout_seconds=20, advice=_advice("slurmd")
    )
    return f"sinfo answers: {len(done.lines)} partitions"


def auto_resume(context: Context) -> str:
    """Whether `srun --auto-resume=1` can do its work."""
    found = slurm.others_settings(context.root) | slurm.settings(context.root, slurm.OWN_CONF)
    lost = [
        f"{name}={found.get(name, '')}"
        for name, needed in AUTO_RESUME.items()
        if needed not in found.get(name, "").split(",")
    ]
    if lost:
        raise NodeError(
            f"does nothing with {', '.join(lost)}", advice="the service sets both: see who changed them"
        )
    return "possible"


def accounting(context: Context) -> str:
    """Whether slurmdbd answers, knows the cluster, and keeps its password to itself."""
    if not context.root.path(slurm.SLURMDBD_CONF).is_file():
        raise StepSkippedError("no slurmdbd.conf: Slurm runs without accounting")
    mode = stat.S_IMODE(context.root.path(slurm.SLURMDBD_CONF).stat().st_mode)
    if mode & 0o077:
        raise NodeError(
            f"slurmdbd.conf has mode {mode:o}: others can read the database's password",
            advice=f"chmod 600 {slurm.SLURMDBD_CONF}",
        )
    cluster = slurm.settings(context.root).get("clustername", "").lower()
    show = ("show", "cluster", "format=cluster")
    done = context.commands.run("sacctmgr", "--noheader", "--parsable2", *show, advice=_advice("slurmdbd"))
    if cluster not in [line.lower() for line in done.lines]:
        raise NodeError(f"the database does not know cluster {cluster}", advice="restart slurmctld once")
    return f"slurmdbd knows {cluster}"


def accounts(context: Context) -> str:
    """Whether accounts, shares and limits are as declared."""
    if not context.config.accounting.anything:
        raise StepSkippedError("no accounts and no QOS declared")
    from hyperpod_node.accounting.reconcile import look  # noqa: PLC0415 (a tenth of all imports)

    cluster = slurm.settings(context.root).get("clustername", "").lower()
    found = look(context.commands, context.config.accounting, cluster)
    if found.changed:
        lines = "; ".join(change.line for change in found.changed[:5])
        raise NodeError(f"{found.summary}: {lines}", advice="run `hyperpod-accounting apply`")
    return found.summary


def _running(context: Context, unit: str) -> None:
    if not is_active(context, unit):
        raise NodeError(f"{unit} does not run", advice=_advice(unit))


def _advice(unit: str) -> str:
    return DAEMON_ADVICE.format(unit=unit)
