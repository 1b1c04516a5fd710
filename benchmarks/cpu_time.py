"""Whose processor time passed: the nodes' own, others', nobody's."""

import os
from dataclasses import dataclass
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class CpuTime:
    """Processor seconds of the whole machine.

    Args:
        busy: in which something ran.
        idle: in which nothing did.
    """

    busy: float
    idle: float

    def __sub__(self, other: "CpuTime") -> "CpuTime":
        return CpuTime(busy=self.busy - other.busy, idle=self.idle - other.idle)


def cpu_time() -> CpuTime:
    """What has passed since the machine started."""
    line = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0]
    fields = [int(field) for field in line.split()[1:9]]
    idle = fields[3] + fields[4]
    return CpuTime(busy=(sum(fields) - idle) / TICKS, idle=idle / TICKS)
