"""Slurm's own commands, and munge."""

import re

from hyperpod_cdk.rehearsal.node_commands.machine import Answer, Call, Machine
from hyperpod_cdk.rehearsal.node_commands.services import is_active

CONF = "/opt/slurm/etc/slurm.conf"
VERSION = "slurm 25.11.8"
CREDENTIAL = "MUNGE:pretended:"


def munge(machine: Machine, _call: Call) -> Answer:
    """``munge --no-input``."""
    if not is_active(machine, "munge"):
        return 6, 'munge: Error: Failed to access "/run/munge/munge.socket.2": No such file or directory'
    return 0, CREDENTIAL


def unmunge(_machine: Machine, call: Call) -> Answer:
    """``unmunge`` of a credential on standard input."""
    good = call.given.strip() == CREDENTIAL
    return (0, "STATUS: Success (0)") if good else (2, "unmunge: Error: No credential specified")


def scontrol(machine: Machine, call: Call) -> Answer:
    """``scontrol --version``, ``ping``, ``reconfigure`` and ``show hostnames LIST``."""
    verb = call.arguments[0]
    if verb == "--version":
        return 0, str(machine.recall("slurm_version", VERSION))
    if verb == "show":
        return 0, "\n".join(_hostnames(call.last))
    up = is_active(machine, "slurmctld")
    if verb == "ping":
        return (0 if up else 1), f"Slurmctld(primary) at controller is {'UP' if up else 'DOWN'}"
    machine.remember("running_nodes", _named(machine))
    return (0, "") if up else (1, "slurm_reconfigure error: Unable to contact slurm controller")


def sinfo(machine: Machine, call: Call) -> Answer:
    """``sinfo --noheader --Node --format %N``, and a node's state with ``%T``."""
    if "%T" in call.arguments:
        return 0, "idle"
    return 0, "\n".join(machine.texts("running_nodes") or _named(machine))


def _named(machine: Machine) -> list[str]:
    found = re.findall(r"^NodeName=(\S+)", machine.read(CONF), re.MULTILINE)
    return [name for expression in found for name in _hostnames(expression)]


def _hostnames(expression: str) -> list[str]:
    """The names of a list such as ``ip-10-1-0-[4-6],login``: one pair of brackets a name."""
    names: list[str] = []
    for head, inside, single in re.findall(r"([^,\[]+)\[([^\]]+)\]|([^,]+)", expression):
        if single:
            names.append(single)
        for part in inside.split(",") if inside else ():
            first, _, last = part.partition("-")
            names += [f"{head}{number}" for number in range(int(first), int(last or first) + 1)]
    return names
