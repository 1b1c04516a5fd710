"""Users and groups in the root's /etc/passwd and /etc/group."""

from hyperpod_cdk.rehearsal.node_commands.machine import Answer, Call, Machine

PASSWD, GROUP = "/etc/passwd", "/etc/group"


def groupadd(machine: Machine, call: Call) -> Answer:
    """``groupadd --gid GID NAME``."""
    gid, name = call.option("--gid"), call.last
    for row in _rows(machine, GROUP):
        if row[0] == name:
            return 9, f"groupadd: group '{name}' already exists"
        if row[2] == gid:
            return 4, f"groupadd: GID '{gid}' already exists"
    machine.append(GROUP, f"{name}:x:{gid}:")
    return 0, ""


def useradd(machine: Machine, call: Call) -> Answer:
    """``useradd --uid UID`` with ``--gid GID`` or ``--user-group``, ``--home-dir``, ``--shell`` and NAME."""
    uid, name = call.option("--uid"), call.last
    own_group = "--user-group" in call.arguments
    gid = uid if own_group else call.option("--gid")
    for row in _rows(machine, PASSWD):
        if row[0] == name:
            return 9, f"useradd: user '{name}' already exists"
        if row[2] == uid:
            return 4, f"useradd: UID {uid} is not unique"
    groups = _rows(machine, GROUP)
    if own_group:
        if name in {row[0] for row in groups}:
            return 9, f"useradd: group {name} exists - if you want to add this user to that group, use -g."
        machine.append(GROUP, f"{name}:x:{gid}:")
    elif gid not in {row[2] for row in groups}:
        return 6, f"useradd: group '{gid}' does not exist"
    machine.append(PASSWD, f"{name}:x:{uid}:{gid}::{call.option('--home-dir')}:{call.option('--shell')}")
    return 0, ""


def usermod(machine: Machine, call: Call) -> Answer:
    """``usermod NAME`` with ``--home``, ``--shell``, ``--append --groups A,B``, ``--lock``, ``--unlock``."""
    name = call.last
    users = _rows(machine, PASSWD)
    if name not in {row[0] for row in users}:
        return 6, f"usermod: user '{name}' does not exist"
    for row in users:
        if row[0] == name:
            row[5:] = [call.option("--home") or row[5], call.option("--shell") or row[6]]
    _save(machine, PASSWD, users)
    if {"--lock", "--unlock"} & set(call.arguments):
        others = {*machine.texts("locked")} - {name}
        machine.remember("locked", sorted(others | ({name} if "--lock" in call.arguments else set())))
    wanted = call.option("--groups").split(",")
    rows = _rows(machine, GROUP)
    for row in rows:
        members = [member for member in row[3].split(",") if member]
        if row[0] in wanted and name not in members:
            row[3] = ",".join([*members, name])
    _save(machine, GROUP, rows)
    return 0, ""


def pam_auth_update(machine: Machine, call: Call) -> Answer:
    """``pam-auth-update --package --remove NAME``."""
    path = "/etc/pam.d/common-session"
    lines = machine.read(path).splitlines(keepends=True)
    machine.write(path, "".join(line for line in lines if f"pam_{call.last}.so" not in line))
    return 0, ""


def _rows(machine: Machine, path: str) -> list[list[str]]:
    return [line.split(":") for line in machine.read(path).splitlines()]


def _save(machine: Machine, path: str, rows: list[list[str]]) -> None:
    machine.write(path, "".join(":".join(row) + "\n" for row in rows))
