"""Looks at what has to come back by itself when the node is switched on again."""

from __future__ import annotations

from hyperpod_node import units
from hyperpod_node.catalogue.modes import OURS
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps.keep import AGAIN
from hyperpod_node.steps.mounts import FSTAB

DAEMONS = {"Controller": ("slurmctld",), "Login": ("slurmd",), "Compute": ("slurmd",)}


def at_boot(context: Context) -> str:
    """Whether file systems and daemons of these scripts come back; those of the service are its own."""
    mounts = [mount.mount_path for mount in context.node.mounts_by_scripts]
    ours = context.node.mode in OURS
    daemons = ("munge", *DAEMONS[context.node.node_type]) if ours else ()
    if not mounts and not daemons:
        raise StepSkippedError("the service starts and mounts everything here")
    lines = [line.split() for line in context.root.read(FSTAB).splitlines() if not line.startswith("#")]
    known = {fields[1] for fields in lines if len(fields) > 1}
    lost = [path for path in mounts if path not in known]
    lost += [name for name in daemons if not units.is_enabled(context.root, name)]
    if lost:
        raise NodeError(f"gone after the next start: {', '.join(lost)}", advice=AGAIN)
    return ", ".join((*mounts, *daemons))
