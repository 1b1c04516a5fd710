"""Counters of the EFA devices, from sysfs: no package and no privilege is needed."""

from __future__ import annotations

from collections.abc import Iterator

from hyperpod_node.lustre_efa import DEVICES, devices
from hyperpod_node.metrics.text import Sample, number
from hyperpod_node.root import Root

__all__ = ["devices", "samples"]


def samples(root: Root) -> Iterator[Sample]:
    """The number of devices, each port's state, and every counter that the driver has."""
    found = devices(root)
    yield Sample(name="hyperpod_efa_devices", value=len(found))
    for device in found:
        for port in sorted(root.path(f"{DEVICES}/{device}/ports").glob("*")):
            labels = {"device": device, "port": port.name}
            state = (port / "state").read_text(encoding="utf-8") if (port / "state").is_file() else ""
            yield Sample(name="hyperpod_efa_port_active", value="ACTIVE" in state, labels=labels)
            for counter in sorted((port / "hw_counters").glob("*")):
                value = number(counter.read_text(encoding="utf-8").strip()) if counter.is_file() else None
                if value is not None and counter.name != "lifespan":
                    yield Sample(name=f"hyperpod_efa_{counter.name}_total", value=value, labels=labels)
