"""Looks at the machine: the last set-up, network, packages, disks, file systems."""

from __future__ import annotations

import json
import os

from hyperpod_node import apt, disks, live_mounts, units
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError, StepSkippedError
from hyperpod_node.report import RESULT_PATH
from hyperpod_node.resolving import resolve
from hyperpod_node.steps.packages import HELD, UPGRADERS

FULL_PERCENT = 90
STAT_SECONDS = 15
INSTANCE_STORAGE = "Instance Storage"


def last_set_up(context: Context) -> str:
    """Whether the scripts ended well when they ran last."""
    text = context.root.read(RESULT_PATH)
    if not text:
        raise NodeError(f"no {RESULT_PATH}", advice="the scripts have not run to their end on this node")
    try:
        found = json.loads(text)
    except ValueError as error:
        raise NodeError(f"{RESULT_PATH} is no JSON", advice="run the scripts again") from error
    bad = [step["name"] for step in found["steps"] if step["outcome"] in ("failed", "warning")]
    if found["outcome"] != "succeeded" or bad:
        raise NodeError(
            f"the set-up of {found['started']} {found['outcome']}; trouble: {', '.join(bad) or 'none'}",
            advice=f"see {found['log']}",
        )
    return f"succeeded, {found['started']}"


def network(context: Context) -> str:
    """Whether names resolve."""
    cluster = context.node.cluster
    name = f"s3.{cluster.region}.{cluster.dns_suffix}"
    try:
        return f"{name} is {resolve(context, name)}"
    except NotYetError as error:
        raise NodeError(str(error), advice="see /etc/resolv.conf, and the DNS settings of the VPC") from error


def packages(context: Context) -> str:
    """Whether kernel and Lustre client stay as they are."""
    if not apt.available(context):
        raise StepSkippedError("no apt on this node")
    found = apt.installed(context, HELD)
    free = [name for name, is_held in found.items() if not is_held]
    if free:
        raise NodeError(f"not held: {', '.join(free)}", advice="run `apt-mark hold` on them")
    active = units.active_ones(context, UPGRADERS)
    if active:
        raise NodeError(f"upgrades run by themselves: {', '.join(active)}", advice="mask these units")
    return f"{len(found)} held"


def root_disk(context: Context) -> str:
    """Whether the root volume has room."""
    usage = os.statvfs(context.root.prefix)
    percent = round(100 * (1 - usage.f_bavail / usage.f_blocks)) if usage.f_blocks else 0
    if percent >= FULL_PERCENT:
        raise NodeError(f"{percent} % full", advice="see `du -xh --max-depth=2 / | sort -h | tail`")
    return f"{percent} % full"


def mounts(context: Context) -> str:
    """Whether every file system is where it shall be, and answers."""
    wanted = context.node.mounts
    if not wanted:
        raise StepSkippedError("no file systems of this node")
    missing = [mount.mount_path for mount in wanted if not live_mounts.is_live(context.root, mount)]
    if missing:
        raise NodeError(f"not mounted: {', '.join(missing)}", advice="see `dmesg` and `mount -av`")
    read_only = set(_read_only(context)) & {mount.mount_path for mount in wanted}
    if read_only:
        raise NodeError(
            f"read-only: {', '.join(sorted(read_only))}", advice="see `dmesg`, then mount it anew"
        )
    for mount in wanted:
        path = str(context.root.path(mount.mount_path))
        # a dead file system hangs whoever asks it, which is then given up
        context.commands.run(
            "stat", "--file-system", path, timeout_seconds=STAT_SECONDS, advice="see `dmesg`: it hangs"
        )
    return ", ".join(mount.mount_path for mount in wanted)


def _read_only(context: Context) -> list[str]:
    rows = [line.split() for line in context.root.read(live_mounts.PROC_MOUNTS).splitlines()]
    return [row[1] for row in rows if len(row) > 3 and "ro" in row[3].split(",")]


def data_disk(context: Context) -> str:
    """What large data lies on."""
    found = [path for path in (disks.NVME, disks.SECONDARY) if live_mounts.at(context.root, path)]
    models = context.root.path("/sys/block").glob("nvme*/device/model")
    own = [path.parts[-3] for path in models if INSTANCE_STORAGE in path.read_text(encoding="utf-8")]
    if own and disks.NVME not in found:
        raise NodeError(
            f"{len(own)} disks of the instance, and nothing is mounted at {disks.NVME}",
            advice=f"see `systemctl status {disks.NVME_UNIT}`: large data goes to a smaller disk meanwhile",
        )
    if not found:
        raise StepSkippedError("only the root volume")
    return ", ".join(found)
