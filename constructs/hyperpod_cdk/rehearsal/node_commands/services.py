"""systemd's units, and the clients of the daemons that they start."""

import sys

from .machine import Machine

CONF_CACHE = "/var/spool/slurmd/conf-cache/slurm.conf"


def systemctl(machine: Machine, arguments: list[str]) -> int:
    """``systemctl VERB [--now] UNIT...`` for the verbs that node scripts use."""
    verb, *rest = arguments
    units = [argument.removesuffix(".service") for argument in rest if not argument.startswith("-")]
    state = units_of(machine)
    if verb == "is-active":
        return 0 if all(state.get(unit, {}).get("active") for unit in units) else 3
    for unit in units:
        _apply(machine, state.setdefault(unit, {}), unit, verb, now="--now" in rest)
    machine.remember("units", state)
    return 0


def units_of(machine: Machine) -> dict[str, dict[str, bool]]:
    """Give what is known of each unit: enabled, active, masked."""
    found = machine.recall("units", {})
    return found if isinstance(found, dict) else {}


def _apply(machine: Machine, entry: dict[str, bool], unit: str, verb: str, *, now: bool) -> None:
    changes: dict[str, dict[str, bool]] = {
        "enable": {"enabled": True},
        "disable": {"enabled": False},
        "mask": {"masked": True},
        "stop": {"active": False},
        "start": {"active": True},
        "restart": {"active": True},
    }
    entry.update(changes[verb])
    if now:
        entry["active"] = verb == "enable"
    if unit == "slurmd" and entry.get("active"):
        # It fetches the configuration; a login node is not in it, so slurmd ends there.
        machine.write(CONF_CACHE, "# fetched from the controller\n")
        entry["active"] = machine.recall("node_type", "") != "Login"


def _is_active(machine: Machine, unit: str) -> bool:
    return bool(units_of(machine).get(unit, {}).get("active"))


def mariadb(machine: Machine, _arguments: list[str]) -> int:
    """``mariadb --batch`` with statements on standard input."""
    statements = sys.stdin.read()
    if not _is_active(machine, "mariadb"):
        print("ERROR 2002 (HY000): Can't connect to local server through socket", file=sys.stderr)
        return 1
    machine.remember(
        "databases", [line for line in statements.splitlines() if line.startswith("CREATE DATABASE")]
    )
    return 0


def sacctmgr(machine: Machine, arguments: list[str]) -> int:
    """``sacctmgr show cluster`` and ``sacctmgr --immediate add cluster NAME``."""
    clusters = machine.texts("clusters")
    if not _is_active(machine, "slurmdbd"):
        print("sacctmgr: error: slurm_persist_conn_open_without_init: failed to open", file=sys.stderr)
        return 1
    if "show" in arguments:
        print("\n".join(clusters))
        return 0
    if arguments[-1] in clusters:
        print(f" This cluster {arguments[-1]} already exists.  Not adding.")
        return 1
    machine.remember("clusters", [*clusters, arguments[-1]])
    return 0


def scontrol(machine: Machine, _arguments: list[str]) -> int:
    """``scontrol ping``."""
    up = _is_active(machine, "slurmctld")
    print(f"Slurmctld(primary) at controller is {'UP' if up else 'DOWN'}")
    return 0 if up else 1
