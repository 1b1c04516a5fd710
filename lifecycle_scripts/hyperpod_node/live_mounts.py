"""The file systems that are mounted now, from /proc/mounts."""

from __future__ import annotations

import re
from typing import NamedTuple

from hyperpod_node.config import Mount
from hyperpod_node.root import Root

PROC_MOUNTS = "/proc/mounts"
KERNEL_TYPES = {"LUSTRE": ("lustre",), "OPENZFS": ("nfs4", "nfs")}


class LiveMount(NamedTuple):
    """One line of /proc/mounts."""

    source: str
    path: str
    kernel_type: str
    options: tuple[str, ...] = ()


def read(root: Root) -> tuple[LiveMount, ...]:
    """All lines, in the order in which the file systems were mounted."""
    rows = [line.split() for line in root.read(PROC_MOUNTS).splitlines()]
    return tuple(
        LiveMount(
            source=_decode(row[0]),
            path=_decode(row[1]),
            kernel_type=row[2],
            options=tuple("".join(row[3:4]).split(",")),
        )
        for row in rows
        if len(row) >= 3
    )


def at(root: Root, path: str) -> LiveMount | None:
    """What is mounted at a path now: the last line wins, as it lies on top.

    A bare automount point (`autofs`) counts as nothing, since nobody has touched it yet.
    """
    found = [mount for mount in read(root) if mount.path == path and mount.kernel_type != "autofs"]
    return found[-1] if found else None


def is_live(root: Root, mount: Mount) -> bool:
    """Whether a configured file system is mounted where it shall be."""
    live = at(root, mount.mount_path)
    return live is not None and live.kernel_type in KERNEL_TYPES[mount.file_system_type]


def _decode(field: str) -> str:
    # the kernel writes space, tab, newline and backslash as octal escapes
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), field)
