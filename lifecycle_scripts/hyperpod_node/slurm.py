"""Slurm's files as HyperPod lays them out, and the daemons' units."""

from __future__ import annotations

from hyperpod_node.context import Context
from hyperpod_node.root import Root

CONF = "/opt/slurm/etc/slurm.conf"
ACCOUNTING_CONF = "/opt/slurm/etc/accounting.conf"
SLURMDBD_CONF = "/opt/slurm/etc/slurmdbd.conf"
# where slurmd keeps the configuration that it fetched from the controller
CONF_CACHE = "/var/spool/slurmd/conf-cache/slurm.conf"
CONTROLLER_PORT = 6817
DATABASE_PORT = 6819


def settings(root: Root, path: str = CONF) -> dict[str, str]:
    """The settings of a Slurm file that stand one on a line, by lower-case name."""
    found: dict[str, str] = {}
    for line in root.read(path).splitlines():
        name, sign, value = line.split("#")[0].partition("=")
        if sign and " " not in name.strip():
            found[name.strip().lower()] = value.strip()
    return found


def is_active(context: Context, unit: str) -> bool:
    """Whether a unit runs; 3 is systemctl's way to say that it does not."""
    return context.commands.run("systemctl", "is-active", "--quiet", unit, accept=(0, 3, 4)).exit_code == 0
