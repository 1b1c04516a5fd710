"""systemd's units, and the clients of the daemons that they start."""

from hyperpod_cdk.rehearsal.node_commands.machine import Answer, Call, Machine

UNITS = "/etc/systemd/system"
CONF_CACHE = "/var/spool/slurmd/conf-cache/slurm.conf"
CHANGES = {
    "enable": {"enabled": True},
    "disable": {"enabled": False},
    "mask": {"masked": True},
    "stop": {"active": False},
    "start": {"active": True},
    "restart": {"active": True},
    "daemon-reload": {},
    "try-restart": {},
}
"""What a verb of systemctl makes of a unit."""


def systemctl(machine: Machine, call: Call) -> Answer:
    """``systemctl VERB [--now] UNIT...`` for the verbs that node scripts use."""
    verb, *rest = [argument for argument in call.arguments if argument != "--no-block"]
    units = [argument.removesuffix(".service") for argument in rest if not argument.startswith("-")]
    if verb == "is-active":
        states = [is_active(machine, unit) for unit in units]
        words = "" if "--quiet" in rest else "\n".join("active" if state else "inactive" for state in states)
        return (0 if all(states) else 3), words
    if verb == "show":
        # as of a systemd that has read nothing since
        return 0, "\n\n".join("NeedDaemonReload=yes" for _ in units)
    state = units_of(machine)
    for unit in units:
        entry = state.setdefault(unit, {})
        entry.update(CHANGES[verb])
        _link(machine, verb, unit)
        if "--now" in rest:
            entry["active"] = verb == "enable"
        if unit == "slurmd" and entry.get("active"):
            # It fetches the configuration; a login node is not in it, so slurmd ends there.
            machine.write(CONF_CACHE, "# fetched from the controller\n")
            entry["active"] = machine.recall("node_type", "") != "Login"
    machine.remember("units", state)
    return 0, ""


def _link(machine: Machine, verb: str, unit: str) -> None:
    """Make or remove the link by which systemd remembers what is enabled or masked."""
    name = unit if "." in unit else f"{unit}.service"
    wanted = machine.path(f"{UNITS}/multi-user.target.wants/{name}")
    if verb == "disable":
        wanted.unlink(missing_ok=True)
    path, target = (
        (machine.path(f"{UNITS}/{name}"), "/dev/null") if verb == "mask" else (wanted, f"/lib/{name}")
    )
    if verb in ("enable", "mask") and not path.is_symlink():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


def units_of(machine: Machine) -> dict[str, dict[str, bool]]:
    """Give what is known of each unit: enabled, active, masked."""
    found = machine.recall("units", {})
    return found if isinstance(found, dict) else {}


def is_active(machine: Machine, unit: str) -> bool:
    """Tell whether a unit runs."""
    return bool(units_of(machine).get(unit, {}).get("active"))


def mariadb(machine: Machine, call: Call) -> Answer:
    """``mariadb --batch`` with statements on standard input."""
    if not is_active(machine, "mariadb"):
        return 1, "ERROR 2002 (HY000): Can't connect to local server through socket"
    machine.remember("statements", call.given.splitlines())
    return 0, ""
