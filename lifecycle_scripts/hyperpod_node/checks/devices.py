"""Looks at accelerators and network adapters."""

from __future__ import annotations

from hyperpod_node import lustre_efa
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.metrics import efa

PCI = "/sys/bus/pci/devices"
# vendor, and the beginning of class or device: a GPU is a 3D or VGA controller of NVIDIA's
GPU = (("vendor", "0x10de"), ("class", "0x030"))
EFA = (("vendor", "0x1d0f"), ("device", "0xefa"))


def _on_the_bus(context: Context, marks: tuple[tuple[str, str], ...]) -> int:
    """How many devices the machine has, whether or not a driver has taken them."""
    folder = context.root.path(PCI)
    found = folder.iterdir() if folder.is_dir() else ()
    return sum(
        all(
            (path / name).is_file() and (path / name).read_text(encoding="utf-8").startswith(value)
            for name, value in marks
        )
        for path in found
    )


def gpus(context: Context) -> str:
    """Whether the driver sees every GPU."""
    devices = max(len(list(context.root.path("/dev").glob("nvidia[0-9]*"))), _on_the_bus(context, GPU))
    if not devices:
        raise StepSkippedError("no GPUs on this node")
    done = context.commands.run("nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader", accept=(0, 9, 127))
    seen = len(done.lines) if done.exit_code == 0 else 0
    if seen != devices:
        raise NodeError(f"nvidia-smi sees {seen} of {devices} GPUs", advice="see `dmesg | grep -i xid`")
    return f"{seen} GPUs"


def lustre_over_efa(context: Context) -> str:
    """Whether Lustre comes over as many EFA devices as it shall; over TCP it comes either way."""
    found = lustre_efa.devices(context.root)
    if not found or not any(mount.efa for mount in context.node.mounts):
        raise StepSkippedError("no EFA here, or no file system with it")
    up, wanted = lustre_efa.carrying(context)
    if up < wanted:
        raise NodeError(f"{up} of {wanted} EFA devices carry Lustre", advice=lustre_efa.ADVICE)
    return f"{up} of {len(found)} EFA devices carry Lustre"


def efa_devices(context: Context) -> str:
    """Whether every EFA port is up."""
    names = efa.devices(context.root)
    there = _on_the_bus(context, EFA)
    if len(names) < there:
        raise NodeError(f"the driver has {len(names)} of {there} devices", advice="see `dmesg | grep efa`")
    if not names:
        raise StepSkippedError("no EFA on this node")
    down = {
        sample.labels["device"]
        for sample in efa.samples(context.root)
        if sample.name == "hyperpod_efa_port_active" and not sample.value
    }
    if down:
        raise NodeError(f"not active: {', '.join(sorted(down))}", advice="see `ibv_devinfo` and `dmesg`")
    return f"{len(names)} devices"
