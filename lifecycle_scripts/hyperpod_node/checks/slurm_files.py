"""Looks at what these scripts add to Slurm's files, and at what keeps it there."""

from __future__ import annotations

import os

from hyperpod_node import slurm, slurm_plugins, slurm_topology, units
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps import adopt, epilog, slurm_watch
from hyperpod_node.steps.keep import AGAIN
from hyperpod_node.steps.slurm_files import EPILOG_FOLDER, included, own_text

FILES_AGAIN = "run `hyperpod-node --hook slurm_files`"


def files(context: Context) -> str:
    """Whether slurm.conf has our part, plugstack.conf no wildcards, and the topology is one."""
    root = context.root
    if not root.read(slurm.CONF):
        raise StepSkippedError(f"no {slurm.CONF} here")
    present = slurm.includes(root)
    missing = [path.rpartition("/")[2] for path in included(context) if path not in present]
    faults = [f"slurm.conf does not include {name}" for name in missing]
    if root.read(slurm.OWN_CONF) != own_text(context):
        faults.append(f"{slurm.OWN_CONF} is not what the deployment says")
    faults += [f"plugstack.conf includes {pattern}" for pattern in slurm_plugins.wildcards(root)]
    faults += slurm_topology.faults(root)
    if faults:
        raise NodeError("; ".join(faults), advice=FILES_AGAIN)
    return "as they should be"


def watch(context: Context) -> str:
    """Whether our part is put back when slurm.conf is rewritten."""
    nobody = "nobody puts our part of slurm.conf back"
    return "; ".join(
        _on(context, f"{name}.path", nobody) for name in (slurm_watch.FILES, slurm_watch.CHANGED)
    )


def login_watch(context: Context) -> str:
    """Whether a login node hears of nodes that are added."""
    return _on(context, f"{slurm_watch.LOGIN}.timer", "srun here does not learn of new nodes")


def _on(context: Context, unit: str, otherwise: str) -> str:
    if not units.is_active(context, unit):
        raise NodeError(f"{unit} does not run: {otherwise}", advice=f"`systemctl enable --now {unit}`")
    if not units.is_enabled(context.root, unit):
        raise NodeError(
            f"{unit} does not run after the next start: {otherwise}", advice=f"`systemctl enable {unit}`"
        )
    return f"{unit} is on"


def epilog_script(context: Context) -> str:
    """Whether the epilog is what these scripts placed, and Slurm runs it."""
    path = context.root.path(epilog.SCRIPT)
    if context.root.read(epilog.SCRIPT) != epilog.TEXT or not os.access(path, os.X_OK):
        raise NodeError(f"{epilog.SCRIPT} is missing, changed or not executable", advice=AGAIN)
    found = slurm.node_settings(context.root)
    runs = found.get("epilog", "")
    if found and not runs.startswith(f"{EPILOG_FOLDER}/"):
        raise NodeError(f"Slurm has Epilog={runs}: {EPILOG_FOLDER} is not run", advice="see slurm.conf")
    return epilog.SCRIPT


def adopted(context: Context) -> str:
    """Whether sshd asks Slurm before it lets anybody in."""
    lines = [line.split() for line in context.root.read(adopt.SSHD).splitlines() if not line.startswith("#")]
    named = {word for fields in lines for word in fields}
    if adopt.MODULE not in named or not context.root.path(adopt.ACCESS).is_file():
        raise NodeError("logins need no job here", advice=f"see step adopt in the log; {adopt.ADVICE}")
    return "logins need a job here"


def purge(context: Context) -> str:
    """Whether slurmdbd purges what is declared."""
    if not context.root.path(slurm.SLURMDBD_CONF).is_file():
        raise StepSkippedError(f"no {slurm.SLURMDBD_CONF} here")
    found = slurm.settings(context.root, slurm.SLURMDBD_CONF)
    wanted = context.config.accounting.purge
    lost = [f"{name}={value}" for name, value in wanted.items() if found.get(name.lower()) != value]
    if lost:
        raise NodeError(f"slurmdbd.conf lacks {', '.join(lost)}", advice=AGAIN)
    return ", ".join(f"{name}={value}" for name, value in wanted.items())
