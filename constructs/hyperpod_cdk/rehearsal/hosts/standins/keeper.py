"""Keeps a room: the outer namespaces that every host of a sandbox lives in, and what must be undone after it.

Run as ``python3 -I keeper.py FOLDER`` with a pipe as standard input. It prints ``ready PID`` when the room is
there, and takes it down when the pipe closes, which also happens when whoever opened it is killed. When the
keeper itself is killed, the kernel ends every process of the room; the next keeper sweeps up the rest.
"""

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

INOTIFY = Path("/proc/sys/fs/inotify/max_user_instances")
INOTIFY_WANTED = 8192
"""A systemd host takes about eight; with the usual 128 the sixteenth does not boot (measured)."""
INOTIFY_BEFORE = "inotify-before"
LOCK = "lock"
SERVICE_ADDRESSES = ("169.254.169.253", "169.254.169.254")
"""A VPC's resolver and its metadata service, where AWS has them."""
PR_SET_PDEATHSIG = 1
FAMILY = "hyperpod-cdk"
"""The control group that those of all rooms are in."""


def main() -> None:
    """Keep a room until standard input closes."""
    if sys.argv[1] == "--reap":
        reap()
    folder = Path(sys.argv[1])
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    folder.mkdir(parents=True)
    lock = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    sweep(folder.parent)
    raise_inotify(folder.parent)
    room = None
    try:
        room, init = open_room()
        print("ready", init, flush=True)
        sys.stdin.read()
    finally:
        if room is not None:
            close_room(room)
        clear(folder)
        os.close(lock)
        restore_inotify(folder.parent)


def open_room() -> tuple[subprocess.Popen[bytes], int]:
    """Make the namespaces and a network switch in them; give the process that holds them, and their init."""
    kinds = ("--net", "--mount", "--ipc", "--uts", "--pid")
    room = subprocess.Popen(
        ["unshare", *kinds, "--fork", "--kill-child", sys.executable, "-I", __file__, "--reap"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        preexec_fn=die_with_parent,  # noqa: PLW1509 (this process has one thread)
    )
    init = wait_for_child(room.pid)
    # with an address of its own: else it takes a port's, another one whenever hosts come and go, and those
    # that are there speak to the old one for some seconds
    lines = ["link add br0 address 02:00:00:00:00:01 type bridge", "link set lo up", "link set br0 up"]
    lines += [f"addr add {address}/32 dev lo" for address in SERVICE_ADDRESSES]
    # every address is on the switch: hosts have those that a VPC gives them, whatever its ranges
    lines += ["route add default dev br0"]
    enter = ["nsenter", "--target", str(init), "--net", "ip", "-batch", "-"]
    subprocess.run(enter, input="\n".join(lines).encode(), check=True)
    return room, init


def wait_for_child(pid: int) -> int:
    """Give the one child of a process, once it is there and has begun its work."""
    for _ in range(1000):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        if children and "--reap" in Path(f"/proc/{children[0]}/cmdline").read_text().split("\0"):
            return int(children[0])
        time.sleep(0.005)
    raise TimeoutError("the room's namespaces did not come up within 5 s")


def reap() -> None:
    """Be the room's init: collect what hosts leave behind, and take everything along when killed."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    while True:
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        signal.sigwait([signal.SIGCHLD])


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent dies."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def close_room(room: subprocess.Popen[bytes]) -> None:
    """End every process of a room."""
    room.kill()
    room.wait()


def cgroup_root() -> Path:
    """Where the unified control group hierarchy is mounted on this machine."""
    for folder, kind, _ in mounts():
        if kind == "cgroup2":
            return folder
    raise FileNotFoundError("no cgroup2 file system is mounted")


def old_processor_root() -> Path | None:
    """Where processors are limited on a machine that has a hierarchy of their own for them (version 1)."""
    found = (folder for folder, kind, options in mounts() if kind == "cgroup" and "cpu" in options)
    return next(found, None)


def mounts() -> Iterator[tuple[Path, str, list[str]]]:
    """Folder, type and the file system's options of everything that is mounted here."""
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        kind, _, options = after.split(" ", 2)
        yield Path(before.split()[4]), kind, options.split(",")


def clear(folder: Path) -> None:
    """Remove a room's control groups and its folder; the last of its processes may take a moment to go."""
    for root in (cgroup_root(), old_processor_root()):
        if root:
            remove_groups(root / FAMILY / folder.name)
    shutil.rmtree(folder, ignore_errors=True)


def remove_groups(group: Path) -> None:
    """Remove a control group, those in it, and the one round it when it is the last."""
    for _ in range(200):
        for path in sorted(group.rglob("*/"), key=lambda path: -len(path.parts)):
            with contextlib.suppress(OSError):
                path.rmdir()
        with contextlib.suppress(OSError):
            group.rmdir()
        if not group.exists():
            break
        time.sleep(0.05)
    with contextlib.suppress(OSError):
        group.parent.rmdir()


def living(base: Path) -> list[Path]:
    """The folders of rooms that somebody keeps."""
    return [folder for folder in base.iterdir() if (folder / LOCK).exists() and is_locked(folder / LOCK)]


def is_locked(path: Path) -> bool:
    """Whether some process holds a lock."""
    handle = os.open(path, os.O_RDWR)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def sweep(base: Path) -> None:
    """Clear the rooms whose keeper was killed."""
    kept = living(base)
    for folder in base.iterdir():
        if folder.is_dir() and folder not in kept and (folder / LOCK).exists():
            clear(folder)


def raise_inotify(base: Path) -> None:
    """Let many systemds run at once; remember what the machine had."""
    value = INOTIFY.read_text().strip()
    if int(value) < INOTIFY_WANTED:
        (base / INOTIFY_BEFORE).write_text(value)
        INOTIFY.write_text(str(INOTIFY_WANTED))


def restore_inotify(base: Path) -> None:
    """Give the machine its own value back when the last room is gone."""
    before = base / INOTIFY_BEFORE
    if not living(base) and before.exists():
        INOTIFY.write_text(before.read_text())
        before.unlink()
        with contextlib.suppress(OSError):
            base.rmdir()


if __name__ == "__main__":
    main()
