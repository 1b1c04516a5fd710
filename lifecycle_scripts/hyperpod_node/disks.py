"""Where data lies that would fill the root volume."""

from __future__ import annotations

from hyperpod_node import live_mounts
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.root import Root

# the instance's own NVMe disks, then the secondary EBS volume (field report 106)
NVME = "/opt/dlami/nvme"
SECONDARY = "/opt/sagemaker"
NVME_UNIT = "dlami-nvme.service"
# what the kernel says of a disk that is the instance's own
MODEL = "Instance Storage"
UNITS = ("/etc/systemd/system", "/lib/systemd/system", "/usr/lib/systemd/system")
NVME_LIMIT_SECONDS = 120


def data_disk(context: Context, asked: str = "") -> str:
    """The folder for large data: the one asked for, else the best disk; empty when there is only the root."""
    if asked:
        return asked
    if instance_disks(context.root) and any(
        context.root.path(f"{folder}/{NVME_UNIT}").is_file() for folder in UNITS
    ):
        try:
            wait_for(
                lambda: _mounted(context, NVME),
                what=f"{NVME_UNIT} to mount {NVME}",
                deadline=context.deadline,
                say=context.say,
                limit_seconds=NVME_LIMIT_SECONDS,
            )
        except NodeError as error:
            context.say(f"going on without it: {error}")
    for path in (NVME, SECONDARY):
        if live_mounts.at(context.root, path):
            return path
    return ""


def instance_disks(root: Root) -> list[str]:
    """The instance's own NVMe disks; every image has the unit for them, and most instance types have none."""
    models = root.path("/sys/block").glob("nvme*/device/model")
    return [path.parts[-3] for path in models if MODEL in path.read_text(encoding="utf-8")]


def _mounted(context: Context, path: str) -> None:
    if live_mounts.at(context.root, path) is None:
        done = context.commands.run("systemctl", "is-failed", "--quiet", NVME_UNIT, accept=(0, 1, 3, 4))
        reason = "its unit failed" if done.exit_code == 0 else "it is not mounted"
        raise NotYetError(reason)
