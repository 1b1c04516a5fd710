"""Network, mounts and keys."""

import hashlib
import json
import os
import time
from pathlib import Path

from hyperpod_cdk.rehearsal.node_commands.machine import STATE, Answer, Call, Machine

PROC_MOUNTS = "/proc/mounts"


def ip(machine: Machine, _call: Call) -> Answer:
    """``ip -json address show``: loopback and the addresses that the node was given."""
    entries = ["127.0.0.1", *machine.texts("addresses")]
    return 0, json.dumps([{"ifname": f"eth{n}", "addr_info": [{"local": a}]} for n, a in enumerate(entries)])


def getent(_machine: Machine, call: Call) -> Answer:
    """``getent ahosts NAME``: every name resolves."""
    return 0, f"{address_of(call.last)}     STREAM {call.last}"


def curl(_machine: Machine, call: Call) -> Answer:
    """The metadata service answers, and the agent for metrics tells that it writes."""
    if call.last.endswith("/metrics"):
        return 0, f"process_start_time_seconds {time.time()}\nprometheus_remote_storage_samples_total 1"
    return 0, ""


def address_of(name: str) -> str:
    """Give the address that a name resolves to: the same on every node."""
    digest = hashlib.sha256(name.encode()).digest()
    return f"10.{digest[0]}.{digest[1]}.{digest[2]}"


def mount(machine: Machine, call: Call) -> Answer:
    """``mount PATH``, by its line in fstab."""
    path = call.last
    rows = [line.split() for line in machine.read("/etc/fstab").splitlines() if not line.startswith("#")]
    row = next((row for row in rows if row[1:2] == [path]), None)
    if row is None:
        return 1, f"mount: {path}: can't find in /etc/fstab."
    if not machine.path(path).is_dir():
        return 32, f"mount: {path}: mount point does not exist."
    attach(machine, kind=row[2], source=row[0], path=path)
    return 0, ""


def attach(machine: Machine, *, kind: str, source: str, path: str) -> None:
    """Mount a file system: its content is a directory that all nodes with the same storage share.

    Args:
        machine: the node.
        kind: ``lustre`` or ``nfs``.
        source: as mount(8) names it.
        path: where it is mounted; what lies there is hidden.
    """
    state = machine.root / STATE
    content = Path(str(machine.recall("storage", str(state / "storage")))) / source.replace("/", "_")
    content.mkdir(parents=True, exist_ok=True)
    point = machine.path(path)
    if point.is_dir() and not point.is_symlink():
        hidden = state / "hidden" / path.replace("/", "_")
        hidden.parent.mkdir(parents=True, exist_ok=True)
        point.rename(hidden)
    point.parent.mkdir(parents=True, exist_ok=True)
    if not point.is_symlink():
        point.symlink_to(content)
    name, _, rest = source.partition("@tcp:" if kind == "lustre" else ":")
    # the kernel shows the address of a Lustre server, and the name of an NFS server
    shown = f"{address_of(name)}@tcp:{rest}" if kind == "lustre" else source
    machine.append(PROC_MOUNTS, f"{shown} {path} {'lustre' if kind == 'lustre' else 'nfs4'} rw,noatime 0 0")


def modinfo(machine: Machine, call: Call) -> Answer:
    """``modinfo NAME``: the kernel modules that the machine was given."""
    known = call.last in machine.texts("modules")
    return (0, f"name: {call.last}") if known else (1, f"modinfo: ERROR: Module {call.last} not found.")


def lnetctl(machine: Machine, _call: Call) -> Answer:
    """``lnetctl net show --net efa``: every device, once the unit that sets EFA up has run."""
    folder = machine.path("/sys/class/infiniband")
    units = machine.recall("units", {})
    up = isinstance(units, dict) and any("lustre" in unit for unit in units)
    names = sorted(path.name for path in folder.iterdir()) if up and folder.is_dir() else []
    return 0, "\n".join(f"- nid: 10.0.0.1@efa interfaces: {name}" for name in names)


def ssh_keygen(_machine: Machine, call: Call) -> Answer:
    """``ssh-keygen -t ed25519 ... -f FILE``, and ``-y`` for the public half of a key."""
    file = Path(call.option("-f"))
    if "-y" in call.arguments:
        text = file.read_text(encoding="utf-8")
        if "ENCRYPTED" in text:
            return 255, "incorrect passphrase supplied to decrypt private key"
        return 0, _public(text)
    text = f"PRETENDED PRIVATE KEY\n{os.urandom(16).hex()}\n{call.option('-C')}\n"
    file.write_text(text, encoding="utf-8")
    file.with_suffix(".pub").write_text(_public(text) + "\n", encoding="utf-8")
    return 0, ""


def _public(text: str) -> str:
    """A public half: pretended too, but one and the same for a private half."""
    return f"ssh-ed25519 {hashlib.sha256(text.encode()).hexdigest()} {text.splitlines()[-1]}"
