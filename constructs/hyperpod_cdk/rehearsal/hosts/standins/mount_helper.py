#!/usr/bin/python3 -IS
"""Stands in for mount.lustre, mount.nfs and mount.nfs4: mount(8) runs ``NAME SPEC DIRECTORY [-o OPTIONS]``.

The kernel here has neither client. This checks what the real helpers check, asks whether the server answers,
and mounts a folder that all hosts share: content, owners, modes and locks are real, the speed is not.
"""

import getopt
import json
import os
import re
import socket
import sys
import time
from pathlib import Path
from typing import Any

SHARED = Path("/.sandbox")
LUSTRE = re.compile(r"(?P<server>[^@:/]+)@tcp\d*:/(?P<name>[A-Za-z0-9]{1,8})(?P<below>/.*)?")
NFS = re.compile(r"(?P<server>[^:/]+):(?P<name>/\S*)")
NO_ANSWER_SECONDS = 2.0
"""A real client takes minutes to give up; every caller has a limit of its own, so a short one does."""
EX_USAGE, EX_SYSTEM, EX_FAIL = 1, 2, 32


def main() -> int:
    """Mount, as the arguments say."""
    helper = Path(sys.argv[0]).name
    options, (spec, directory) = parse(sys.argv[1:])
    kind = "lustre" if helper == "mount.lustre" else "nfs4"
    found = (LUSTRE if kind == "lustre" else NFS).fullmatch(spec)
    if found is None:
        return complain(f"{helper}: {spec}: not a file system of this kind", EX_USAGE)
    try:
        address = socket.gethostbyname(found["server"])
    except OSError:
        reason = f"can't resolve {found['server']}"
        return complain(
            f"{helper}: Can't parse NID '{spec}': {reason}" if kind == "lustre" else reason, EX_USAGE
        )
    fault = control().get("file_systems", {}).get(found["server"], {})
    if fault.get("answers_from", 0) > time.time():
        time.sleep(min(NO_ANSWER_SECONDS, max(fault["answers_from"] - time.time(), 0)))
        if fault["answers_from"] > time.time():
            return no_answer(helper, kind, spec, directory)
    if kind == "nfs4" and not exports(found["server"], address, found["name"]):
        return complain(
            f"{helper}: mounting {spec} failed, reason given by server: No such file or directory", EX_FAIL
        )
    # named as /proc/mounts shows it: a Lustre server's address, an NFS server's name
    shown = f"{address}@tcp:" if kind == "lustre" else f"{found['server']}:"
    folder = SHARED / "fs" / shown / found["name"].strip("/")
    if not folder.is_dir():
        return complain(
            f"{helper}: mount {spec} at {directory} failed: No such file or directory\n"
            "Is the MGS specification correct?\nIs the filesystem name correct?",
            EX_SYSTEM,
        )
    return attach(folder, directory, kind=kind, read_only="ro" in options)


def parse(arguments: list[str]) -> tuple[list[str], tuple[str, str]]:
    """Give the mount options, and what is mounted where."""
    pairs, (spec, directory) = getopt.gnu_getopt(arguments, "sfnvo:")
    return ",".join(value for flag, value in pairs if flag == "-o").split(","), (spec, directory)


def control() -> dict[str, Any]:
    """What is to go wrong now."""
    try:
        rules: dict[str, Any] = json.loads((SHARED / "control.json").read_text())
    except FileNotFoundError:
        return {}
    return rules


def exports(server: str, address: str, name: str) -> bool:
    """Ask the NFS server, over NFS 4, for the export; where this machine can have none, take it as there."""
    if not control().get("nfs_servers", {}).get(server):
        return True
    # costs more than all the rest, and Lustre needs it not
    import subprocess  # noqa: PLC0415

    listing = ["nfs-ls", f"nfs://{address}{name}?version=4"]
    return subprocess.run(listing, capture_output=True, check=False, timeout=20).returncode == 0


def attach(folder: Path, directory: str, *, kind: str, read_only: bool) -> int:
    """Mount the folder; /proc/mounts will show its path without what comes before the server."""
    wanted = f"subtype={kind},allow_other,nonempty,dev,suid" + (",ro" if read_only else "")
    command = ["bindfs", "--multithreaded", "--enable-lock-forwarding", "-o", wanted, str(folder), directory]
    return os.spawnvp(os.P_WAIT, command[0], command) and EX_FAIL


def no_answer(helper: str, kind: str, spec: str, directory: str) -> int:
    """Fail as the real helpers do when no server answers."""
    if kind == "lustre":
        text = f"{helper}: mount {spec} at {directory} failed: Input/output error\nIs the MGS running?"
        return complain(text, 5)
    return complain(f"{helper}: Connection timed out", EX_FAIL)


def complain(text: str, code: int) -> int:
    """Say what is wrong, and give the exit code."""
    print(text, file=sys.stderr)
    return code


if __name__ == "__main__":
    os.umask(0o022)
    sys.exit(main())
