"""Where data lies that would fill the root volume."""

from __future__ import annotations

from hyperpod_node import live_mounts
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError

# the instance's own NVMe disks, then the secondary EBS volume (field report 106)
NVME = "/opt/dlami/nvme"
SECONDARY = "/opt/sagemaker"
NVME_UNIT = "dlami-nvme.service"
UNITS = ("/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system")
NVME_LIMIT_SECONDS = 120


def data_disk(context: Context, asked: str = "") -> str:
    """The folder for large data: the one asked for, else the best disk; empty when there is only the root."""
    if asked:
        return asked
    if any(context.root.path(f"{folder}/{NVME_UNIT}").is_file() for folder in UNITS):
        try:
            wait_for(
                lambda: _mounted(context, NVME),
                what=f"{NVME_UNIT} to mount {NVME}",
                deadline=context.deadline,
                say=context.say,
                limit_seconds=NVME_LIMIT_SECONDS,
            )
        except NodeError as error:
            # an instance type without NVMe disks has the unit too
            context.say(f"going on without it: {error}")
    for path in (NVME, SECONDARY):
        if live_mounts.at(context.root, path):
            return path
    return ""


def _mounted(context: Context, path: str) -> None:
    if live_mounts.at(context.root, path) is None:
        done = context.commands.run("systemctl", "is-failed", "--quiet", NVME_UNIT, accept=(0, 1, 3, 4))
        reason = "its unit failed" if done.exit_code == 0 else "it is not mounted"
        raise NotYetError(reason)
