"""Users and groups in the root's /etc/passwd and /etc/group."""

import sys

from .machine import Machine

PASSWD, GROUP = "/etc/passwd", "/etc/group"


def groupadd(machine: Machine, arguments: list[str]) -> int:
    """``groupadd --gid GID NAME``."""
    gid, name = _option(arguments, "--gid"), arguments[-1]
    for row in _rows(machine, GROUP):
        if row[0] == name:
            return _refuse(9, f"groupadd: group '{name}' already exists")
        if row[2] == gid:
            return _refuse(4, f"groupadd: GID '{gid}' already exists")
    machine.append(GROUP, f"{name}:x:{gid}:")
    return 0


def useradd(machine: Machine, arguments: list[str]) -> int:
    """``useradd --uid UID --gid GID --home-dir HOME --no-create-home --shell SHELL NAME``."""
    name = arguments[-1]
    uid, gid, home, shell = (_option(arguments, key) for key in ("--uid", "--gid", "--home-dir", "--shell"))
    for row in _rows(machine, PASSWD):
        if row[0] == name:
            return _refuse(9, f"useradd: user '{name}' already exists")
        if row[2] == uid:
            return _refuse(4, f"useradd: UID {uid} is not unique")
    if gid not in {row[2] for row in _rows(machine, GROUP)}:
        return _refuse(6, f"useradd: group '{gid}' does not exist")
    machine.append(PASSWD, f"{name}:x:{uid}:{gid}::{home}:{shell}")
    return 0


def usermod(machine: Machine, arguments: list[str]) -> int:
    """``usermod --home HOME NAME`` and ``usermod --append --groups A,B NAME``."""
    name = arguments[-1]
    users = _rows(machine, PASSWD)
    if name not in {row[0] for row in users}:
        return _refuse(6, f"usermod: user '{name}' does not exist")
    if "--home" in arguments:
        for row in users:
            if row[0] == name:
                row[5] = _option(arguments, "--home")
        _save(machine, PASSWD, users)
    if "--groups" in arguments:
        wanted = _option(arguments, "--groups").split(",")
        rows = _rows(machine, GROUP)
        for row in rows:
            members = [member for member in row[3].split(",") if member]
            if row[0] in wanted and name not in members:
                row[3] = ",".join([*members, name])
        _save(machine, GROUP, rows)
    return 0


def _rows(machine: Machine, path: str) -> list[list[str]]:
    return [line.split(":") for line in machine.read(path).splitlines()]


def _save(machine: Machine, path: str, rows: list[list[str]]) -> None:
    machine.write(path, "".join(":".join(row) + "\n" for row in rows))


def _option(arguments: list[str], name: str) -> str:
    return arguments[arguments.index(name) + 1]


def _refuse(exit_code: int, text: str) -> int:
    print(text, file=sys.stderr)
    return exit_code
