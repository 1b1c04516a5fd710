#!/usr/bin/python3 -IS
"""Stands in for mount.lustre, mount.nfs and mount.nfs4: mount(8) runs ``NAME SPEC DIRECTORY [-o OPTIONS]``.

The kernel here has neither client. This checks what the real helpers check, asks whether the server answers,
and mounts a folder that all hosts share: content, owners, modes and locks are real, the speed is not.

The real ones are small programs in C, and benchmarks count what a host's programs take: so this one reads no
module that it can do without, which was two thirds of its processor time (measured).
"""

# of socket's own 7 ms only one function is wanted
import _socket
import os
import sys
import time

SHARED = "/.sandbox"
LONGEST_FILE_SYSTEM_NAME = 8
NO_ANSWER_SECONDS = 2.0
"""A real client takes minutes to give up; every caller has a limit of its own, so a short one does."""
EX_USAGE, EX_SYSTEM, EX_FAIL = 1, 2, 32


def main() -> int:
    """Mount, as the arguments say."""
    helper = sys.argv[0].rpartition("/")[2]
    options, (spec, directory) = parse(sys.argv[1:])
    kind = "lustre" if helper == "mount.lustre" else "nfs4"
    server, name = lustre(spec) if kind == "lustre" else nfs(spec)
    if not server or not name:
        return complain(f"{helper}: {spec}: not a file system of this kind", EX_USAGE)
    try:
        address = _socket.gethostbyname(server)
    except OSError:
        reason = f"can't resolve {server}"
        return complain(
            f"{helper}: Can't parse NID '{spec}': {reason}" if kind == "lustre" else reason, EX_USAGE
        )
    fault = told("file_systems", server)
    answers_from = fault.get("answers_from", 0) if isinstance(fault, dict) else 0
    if answers_from > time.time():
        time.sleep(min(NO_ANSWER_SECONDS, max(answers_from - time.time(), 0)))
        if answers_from > time.time():
            return no_answer(helper, kind, spec, directory)
    if kind == "nfs4" and not exports(server, address, name):
        return complain(
            f"{helper}: mounting {spec} failed, reason given by server: No such file or directory", EX_FAIL
        )
    # named as /proc/mounts shows it: a Lustre server's address, an NFS server's name
    shown = f"{address}@tcp:" if kind == "lustre" else f"{server}:"
    folder = f"{SHARED}/fs/{shown}/{name.strip('/')}"
    if not os.path.isdir(folder):  # noqa: PTH112 (pathlib is what is spared)
        return complain(
            f"{helper}: mount {spec} at {directory} failed: No such file or directory\n"
            "Is the MGS specification correct?\nIs the filesystem name correct?",
            EX_SYSTEM,
        )
    return attach(folder, directory, kind=kind, read_only="ro" in options)


def parse(arguments: list[str]) -> tuple[list[str], tuple[str, str]]:
    """Give the mount options, and what is mounted where."""
    left, options, plain = list(arguments), [], []
    while left:
        one = left.pop(0)
        if one == "-o":
            options += left.pop(0).split(",")
        elif not one.startswith("-"):
            plain.append(one)
    spec, directory = plain
    return options, (spec, directory)


def lustre(spec: str) -> tuple[str, str]:
    """Server and name in ``SERVER@tcp:/NAME``, perhaps with a folder below; empty where it is none."""
    nid, _, path = spec.partition(":/")
    server, _, network = nid.partition("@tcp")
    name = path.partition("/")[0]
    good = "/" not in nid and name.isalnum() and len(name) <= LONGEST_FILE_SYSTEM_NAME and "@tcp" in nid
    return (server, name) if good and (not network or network.isdigit()) else ("", "")


def nfs(spec: str) -> tuple[str, str]:
    """Server and path in ``SERVER:/PATH``; empty where it is none."""
    server, _, path = spec.partition(":")
    return (server, path) if path.startswith("/") and "/" not in server else ("", "")


def told(what: str, server: str) -> object:
    """What is said of a server now."""
    try:
        with open(f"{SHARED}/control.json", encoding="utf-8") as stream:  # noqa: PTH123
            text = stream.read()
    except FileNotFoundError:
        return None
    if server not in text:
        return None
    import json  # noqa: PLC0415 (as much as all the rest)

    found: object = json.loads(text).get(what, {}).get(server)
    return found


def exports(server: str, address: str, name: str) -> bool:
    """Ask the NFS server, over NFS 4, for the export; where this machine can have none, take it as there."""
    if not told("nfs_servers", server):
        return True
    # costs more than all the rest, and Lustre needs it not
    import subprocess  # noqa: PLC0415

    listing = ["nfs-ls", f"nfs://{address}{name}?version=4"]
    return subprocess.run(listing, capture_output=True, check=False, timeout=20).returncode == 0


def attach(folder: str, directory: str, *, kind: str, read_only: bool) -> int:
    """Mount the folder; /proc/mounts will show its path without what comes before the server."""
    wanted = f"subtype={kind},allow_other,nonempty,dev,suid" + (",ro" if read_only else "")
    command = ["bindfs", "--multithreaded", "--enable-lock-forwarding", "-o", wanted, folder, directory]
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
