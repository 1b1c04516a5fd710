"""Network and mounts."""
# ruff: noqa: PTH103, PTH112, PTH114, PTH118, PTH120, PTH211

import json
import os
import sys
import zlib

from .machine import STATE, Machine

PROC_MOUNTS = "/proc/mounts"


def ip(machine: Machine, _arguments: list[str]) -> int:
    """``ip -json address show``: loopback and the addresses that the node was given."""
    entries = ["127.0.0.1", *machine.texts("addresses")]
    print(json.dumps([{"ifname": f"eth{n}", "addr_info": [{"local": a}]} for n, a in enumerate(entries)]))
    return 0


def getent(_machine: Machine, arguments: list[str]) -> int:
    """``getent ahosts NAME``: every name resolves."""
    print(f"{address_of(arguments[-1])}     STREAM {arguments[-1]}")
    return 0


def curl(_machine: Machine, _arguments: list[str]) -> int:
    """Only the metadata service is asked, and it answers."""
    return 0


def address_of(name: str) -> str:
    """Give the address that a name resolves to: the same on every node."""
    number = zlib.crc32(name.encode())
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def mount(machine: Machine, arguments: list[str]) -> int:
    """``mount PATH``, by its line in fstab."""
    path = arguments[-1]
    rows = [line.split() for line in machine.read("/etc/fstab").splitlines() if not line.startswith("#")]
    row = next((row for row in rows if row[1:2] == [path]), None)
    if row is None:
        print(f"mount: {path}: can't find in /etc/fstab.", file=sys.stderr)
        return 1
    if not os.path.isdir(machine.path(path)):
        print(f"mount: {path}: mount point does not exist.", file=sys.stderr)
        return 32
    attach(machine, kind=row[2], source=row[0], path=path)
    return 0


def attach(machine: Machine, *, kind: str, source: str, path: str) -> None:
    """Mount a file system: its content is a directory that all nodes with the same storage share.

    Args:
        machine: the node.
        kind: ``lustre`` or ``nfs``.
        source: as mount(8) names it.
        path: where it is mounted; what lies there is hidden.
    """
    storage = str(machine.recall("storage", os.path.join(machine.root, STATE, "storage")))
    content = os.path.join(storage, source.replace("/", "_"))
    os.makedirs(content, exist_ok=True)
    point = machine.path(path)
    if os.path.isdir(point) and not os.path.islink(point):
        hidden = os.path.join(machine.root, STATE, "hidden", path.replace("/", "_"))
        os.renames(point, hidden)
    os.makedirs(os.path.dirname(point), exist_ok=True)
    if not os.path.islink(point):
        os.symlink(content, point)
    name, _, rest = source.partition("@tcp:" if kind == "lustre" else ":")
    # the kernel shows the address of a Lustre server, and the name of an NFS server
    shown = f"{address_of(name)}@tcp:{rest}" if kind == "lustre" else source
    machine.append(PROC_MOUNTS, f"{shown} {path} {'lustre' if kind == 'lustre' else 'nfs4'} rw,noatime 0 0")
