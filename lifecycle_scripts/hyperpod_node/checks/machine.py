"""Looks at the machine: the last set-up, network, packages, disks, file systems."""

from __future__ import annotations

import json
import os

from hyperpod_node import apt, disks, live_mounts, units
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError, StepSkippedError
from hyperpod_node.report import RESULT_PATH
from hyperpod_node.resolving import resolve
from hyperpod_node.steps.keep import AGAIN
from hyperpod_node.steps.mounts import ANOTHER_ADVICE, another
from hyperpod_node.steps.network import ask_metadata
from hyperpod_node.steps.packages import HELD, UPGRADERS

FULL_PERCENT = 90
STAT_SECONDS = 15


def last_set_up(context: Context) -> str:
    """Whether the scripts ended well when they ran last."""
    text = context.root.read(RESULT_PATH)
    if not text:
        raise NodeError(f"no {RESULT_PATH}", advice="the scripts have not run to their end on this node")
    try:
        found = json.loads(text)
    except ValueError as error:
        raise NodeError(f"{RESULT_PATH} is no JSON", advice=AGAIN) from error
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


def metadata(context: Context) -> str:
    """Whether the instance metadata service answers, from which programs have the role's credentials."""
    try:
        ask_metadata(context)
    except NotYetError as error:
        raise NodeError(
            f"instance metadata: {error}", advice="see `ip route get 169.254.169.254` and the firewall"
        ) from error
    return "answers"


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
    used = usage.f_blocks - usage.f_bfree
    # as `df` counts: without what is set aside for root
    whole = used + usage.f_bavail
    percent = round(100 * used / whole) if whole else 0
    if percent >= FULL_PERCENT:
        raise NodeError(f"{percent} % full", advice="see `du -xh --max-depth=2 / | sort -h | tail`")
    return f"{percent} % full"


def mounts(context: Context) -> str:
    """Whether every file system is where it shall be, and answers."""
    wanted = context.node.mounts
    if not wanted:
        raise StepSkippedError("no file systems of this node")
    for mount in wanted:
        # what is mounted when it is touched is touched; what is dead hangs whoever asks it, and is given up
        inside = f"{context.root.path(mount.mount_path)}/."
        context.commands.run(
            "stat",
            "--file-system",
            inside,
            timeout_seconds=STAT_SECONDS,
            accept=(0, 1),
            advice="see `dmesg`: it hangs",
        )
    missing = [mount.mount_path for mount in wanted if not live_mounts.is_live(context.root, mount)]
    if missing:
        raise NodeError(f"not mounted: {', '.join(missing)}", advice="see `dmesg` and `mount -av`")
    others = [told for told in (another(context, mount) for mount in wanted) if told]
    if others:
        raise NodeError("; ".join(others), advice=ANOTHER_ADVICE)
    live = [live_mounts.at(context.root, mount.mount_path) for mount in wanted]
    read_only = [one.path for one in live if one and "ro" in one.options]
    if read_only:
        raise NodeError(f"read-only: {', '.join(read_only)}", advice="see `dmesg`, then mount it anew")
    return ", ".join(mount.mount_path for mount in wanted)


def data_disk(context: Context) -> str:
    """What large data lies on."""
    found = [path for path in (disks.NVME, disks.SECONDARY) if live_mounts.at(context.root, path)]
    own = disks.instance_disks(context.root)
    if own and disks.NVME not in found:
        raise NodeError(
            f"{len(own)} disks of the instance, and nothing is mounted at {disks.NVME}",
            advice=f"see `systemctl status {disks.NVME_UNIT}`: large data goes to a smaller disk meanwhile",
        )
    if not found:
        raise StepSkippedError("only the root volume")
    return ", ".join(found)
