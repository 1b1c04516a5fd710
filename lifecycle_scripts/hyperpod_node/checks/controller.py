"""Looks at slurmctld, its configuration and its accounting."""

from __future__ import annotations

import re
import stat

from hyperpod_node import slurm
from hyperpod_node.checks.slurm import advice_on, running
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps.keep import AGAIN
from hyperpod_node.steps.slurm_files import AUTO_RESUME


def controller(context: Context) -> str:
    """Whether slurmctld runs and answers."""
    running(context, "slurmctld")
    done = context.commands.run("scontrol", "ping", accept=(0, 1), timeout_seconds=20)
    if not re.search(r"\bUP\b", done.text):
        raise NodeError(done.text or "scontrol ping prints nothing", advice=advice_on("slurmctld"))
    return "slurmctld answers"


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


def _told_of_accounting(context: Context) -> str:
    found = slurm.others_settings(context.root) | slurm.settings(context.root, slurm.OWN_CONF)
    return found.get("accountingstoragetype", "")


def accounting(context: Context) -> str:
    """Whether slurmdbd answers, knows the cluster, and keeps its password to itself."""
    if not context.root.path(slurm.SLURMDBD_CONF).is_file():
        if "slurmdbd" in _told_of_accounting(context):
            raise NodeError(
                f"Slurm is told to use slurmdbd, and there is no {slurm.SLURMDBD_CONF}",
                advice=AGAIN,
            )
        raise StepSkippedError("no slurmdbd.conf: Slurm runs without accounting")
    mode = stat.S_IMODE(context.root.path(slurm.SLURMDBD_CONF).stat().st_mode)
    if mode & 0o077:
        raise NodeError(
            f"slurmdbd.conf has mode {mode:o}: others can read the database's password",
            advice=f"chmod 600 {slurm.SLURMDBD_CONF}",
        )
    cluster = slurm.settings(context.root).get("clustername", "").lower()
    show = ("show", "cluster", "format=cluster")
    done = context.commands.run("sacctmgr", "--noheader", "--parsable2", *show, advice=advice_on("slurmdbd"))
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
