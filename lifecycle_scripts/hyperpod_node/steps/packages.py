"""Keeps kernel and Lustre client as the image has them: a new kernel has no Lustre module to match."""

from __future__ import annotations

from hyperpod_node import apt, units
from hyperpod_node.context import Context
from hyperpod_node.errors import StepSkippedError

# systemd's own timers and the service that upgrade a machine behind its administrator's back
UPGRADERS = (
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "apt-daily.service",
    "apt-daily-upgrade.service",
    "unattended-upgrades.service",
)
HELD = ("linux-image-*", "linux-headers-*", "linux-modules-*", "linux-aws*", "lustre-client*")
PERIODIC_PATH = "/etc/apt/apt.conf.d/99-hyperpod-cdk"
PERIODIC = (
    'APT::Periodic::Enable "0";\n'
    'APT::Periodic::Update-Package-Lists "0";\n'
    'APT::Periodic::Unattended-Upgrade "0";\n'
)


def hold_packages(context: Context) -> str:
    """Stop unattended upgrades, then hold what belongs to the kernel and to Lustre."""
    if not apt.available(context):
        raise StepSkippedError("no apt on this node")
    context.root.write(PERIODIC_PATH, PERIODIC)
    units.mask(context, UPGRADERS)
    packages = apt.installed(context, HELD)
    new = apt.hold(context, packages)
    return f"{len(packages)} packages held, {len(new)} of them now; unattended upgrades off"
