"""Prometheus' text format (prometheus.io, Exposition formats)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple


class Sample(NamedTuple):
    """One value of a metric.

    Args:
        name: of the metric; a counter's ends in `_total`.
        value: as it is.
        labels: what tells it from others of the name.
    """

    name: str
    value: float
    labels: Mapping[str, str] = MappingProxyType({})


def render(samples: Iterable[Sample]) -> str:
    """All samples as text, those of one metric together."""
    by_name: dict[str, list[Sample]] = {}
    for sample in samples:
        by_name.setdefault(sample.name, []).append(sample)
    lines = []
    for name in sorted(by_name):
        lines.append(f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}")
        lines += [f"{name}{_labels(sample.labels)} {_value(sample.value)}" for sample in by_name[name]]
    return "".join(f"{line}\n" for line in lines)


def number(text: str) -> float | None:
    """A number that a command prints; None for its ways to say that there is none."""
    try:
        return float(text)
    except ValueError:
        return None


def _value(value: float) -> str:
    # whole numbers in full: a counter of bytes outgrows what a float is printed with
    return str(int(value)) if value == int(value) else repr(float(value))


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    parts = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return "{" + ",".join(parts) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
