"""Instance types: what HyperPod runs on. The set is open; a type born tomorrow is merely unknown here."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any


class Orchestration(StrEnum):
    """What schedules the jobs of a cluster."""

    SLURM = "Slurm"
    EKS = "EKS"


@dataclass(frozen=True, kw_only=True)
class InstanceType:
    """Facts of one instance type; None where no source was found.

    ``architecture`` is ``x86_64`` or ``arm64``; ``network_interfaces`` and ``addresses_per_interface`` are
    EC2's upper bounds; ``deep_health_checks`` tells under what the service checks nodes of the type.
    """

    name: str
    vcpus: int | None
    threads_per_core: tuple[int, ...] | None
    memory_gib: float | None
    architecture: str | None
    accelerator: str | None
    accelerators: int | None
    accelerator_memory_mib: int | None
    efa_interfaces: int | None
    network_cards: int
    network_interfaces: int
    addresses_per_interface: int
    deep_health_checks: tuple[Orchestration, ...]
    source: str
    date: str


@cache
def catalogue() -> Mapping[str, InstanceType]:
    """Every known type by its ``ml.`` name; source and date come with each row."""
    data = json.loads(
        files("hyperpod_cdk.service").joinpath("instance_types.json").read_text(encoding="utf-8")
    )
    rows = (dict(zip(data["columns"], row, strict=True)) for row in data["rows"])
    return {row["name"]: _instance_type(row, data) for row in rows}


def find(name: str) -> InstanceType | None:
    """The type of that name, None if it is not in the catalogue."""
    return catalogue().get(name)


def _instance_type(row: dict[str, Any], data: Mapping[str, Any]) -> InstanceType:
    threads = row.pop("threads_per_core")
    checked_under = row.pop("deep_health_checks")
    return InstanceType(
        **row,
        deep_health_checks=tuple(map(Orchestration, checked_under)),
        threads_per_core=None if threads is None else tuple(threads),
        source=data["sources"].get(row["name"], data["source"]),
        date=data["date"],
    )
