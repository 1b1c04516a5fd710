"""Lustre over EFA, where the file system, the instance and the client have it; else Lustre comes over TCP."""

from __future__ import annotations

from hyperpod_node import live_mounts, lustre_efa
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError


def set_up_client(context: Context) -> str:
    """Bring Lustre's network up on EFA, now and at each boot, before the file systems are mounted."""
    found = lustre_efa.devices(context.root)
    if not found:
        raise StepSkippedError(f"{context.node.instance.instance_type} has no EFA device")
    unit = lustre_efa.unit(context.root) or _write_unit(context)
    if unit == lustre_efa.AWS_UNIT and context.root.write(lustre_efa.DROP_IN, lustre_efa.DROP_IN_TEXT):
        context.commands.run("systemctl", "daemon-reload")
    if any(mount.kernel_type == "lustre" for mount in live_mounts.read(context.root)):
        raise StepSkippedError(f"Lustre is mounted already: {unit} works from the next boot on")
    context.commands.run("systemctl", "enable", unit)
    context.commands.run("systemctl", "start", unit, timeout_seconds=180, advice=lustre_efa.ADVICE)
    up, wanted = lustre_efa.carrying(context)
    if up < wanted:
        raise NodeError(f"{up} of {wanted} EFA devices carry Lustre", advice=lustre_efa.ADVICE)
    return f"{up} of {len(found)} EFA devices carry Lustre"


def _write_unit(context: Context) -> str:
    if context.commands.run("modinfo", "kefalnd", accept=(0, 1, 127)).exit_code:
        raise NodeError(
            "the image's Lustre client has no EFA module (kefalnd)",
            advice="update the image: FSx wants Ubuntu 22.04 with kernel 6.8 or newer, and its own client",
        )
    context.root.write(lustre_efa.SCRIPT, lustre_efa.script(context.node.instance.instance_type), mode=0o755)
    if context.root.write(f"{lustre_efa.UNITS}/{lustre_efa.OWN_UNIT}", lustre_efa.UNIT_TEXT):
        context.commands.run("systemctl", "daemon-reload")
    return lustre_efa.OWN_UNIT
