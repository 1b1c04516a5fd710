"""Looks at accelerators and network adapters."""

from __future__ import annotations

from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.metrics import efa


def gpus(context: Context) -> str:
    """Whether the driver sees every GPU."""
    devices = len(list(context.root.path("/dev").glob("nvidia[0-9]*")))
    if not devices:
        raise StepSkippedError("no GPUs on this node")
    done = context.commands.run("nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader", accept=(0, 9))
    seen = len(done.lines) if done.exit_code == 0 else 0
    if seen != devices:
        raise NodeError(f"nvidia-smi sees {seen} of {devices} GPUs", advice="see `dmesg | grep -i xid`")
    return f"{seen} GPUs"


def efa_devices(context: Context) -> str:
    """Whether every EFA port is up."""
    names = efa.devices(context.root)
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
