"""What a machine must be and have to run hosts on it, and how it gets the rest by itself."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

TOOLS = {
    # command: Debian's and Ubuntu's package
    "mmdebstrap": "mmdebstrap",
    "unshare": "util-linux",
    "ip": "iproute2",
    "gcc": "gcc libc6-dev",
}
DEVICES = ("/dev/fuse",)
KERNEL_FEATURES = ("cgroup2", "overlay", "fuse", "autofs")


class CannotRunHostsError(RuntimeError):
    """This machine cannot run hosts; the text says why, and what would do."""


def require() -> None:
    """Make sure that hosts can run here, installing what is only a package away.

    Raises:
        CannotRunHostsError: no Linux, not root, a kernel that lacks something, or a package that is nowhere.
    """
    faults = list(_faults())
    if faults:
        raise CannotRunHostsError(
            "real nodes run as namespaces of a Linux machine, and this one cannot:\n"
            + "\n".join(f"  - {fault}" for fault in faults)
        )
    missing = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if missing:
        _install(" ".join(missing).split())


def _faults() -> list[str]:
    if sys.platform != "linux":
        return [f"it runs {platform.system()}; use Linux, for instance Debian 12 in a virtual machine"]
    faults = []
    if os.geteuid() != 0:
        faults.append("this needs root, for namespaces and mounts: sudo -E make ...")
    known = {line.split()[-1] for line in Path("/proc/filesystems").read_text().splitlines()}
    lacking = [name for name in KERNEL_FEATURES if name not in known]
    if lacking:
        faults.append(f"its kernel does not know {', '.join(lacking)}: modprobe, or another kernel")
    elif " cgroup2 " not in Path("/proc/self/mountinfo").read_text():
        faults.append("no cgroup2 file system is mounted: mount -t cgroup2 cgroup2 /sys/fs/cgroup/unified")
    faults += [f"it has no {device}" for device in DEVICES if not Path(device).exists()]
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing and shutil.which("apt-get") is None:
        faults.append(f"it has no {', '.join(missing)}, and no apt-get to install them with")
    return faults


def _install(packages: list[str]) -> None:
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update", "-qq"], ["install", "-qq", "--no-install-recommends", *packages]):
        done = subprocess.run(["apt-get", *command], env=quiet, capture_output=True, text=True, check=False)
        if done.returncode:
            raise CannotRunHostsError(
                f"apt-get {' '.join(command)} failed, and these are needed: {', '.join(packages)}\n"
                + "\n".join((done.stdout + done.stderr).splitlines()[-5:])
            )
