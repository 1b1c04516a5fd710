"""HP479: numbers of accounting and of the nodes' software, each with its bounds."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from math import inf
from typing import Any

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.rules.unread import class_of, readable
from hyperpod_cdk.spec import (
    Account,
    Association,
    BucketMount,
    HyperPodSpec,
    Limits,
    LogRotation,
    Monitoring,
    OwnStep,
    Priority,
    Purge,
    Qos,
    QosLimits,
)

# 32 bits without the values that Slurm keeps for itself (slurm.h: INFINITE, NO_VAL)
_MOST = 4294967293
_SHARES = range(0, 2147483647)
_LIMIT = range(0, _MOST + 1)
_WEIGHT = range(0, 4294967296)
_MONTHS = range(1, 1201)
_WEIGHTS = (
    "weight_fairshare",
    "weight_age",
    "weight_qos",
    "weight_partition",
    "weight_job_size",
    "weight_association",
    "weight_tres",
)

BOUNDS: Mapping[type, Mapping[str, range]] = {
    Account: {"fairshare": _SHARES},
    Association: {"fairshare": _SHARES},
    Limits: {field.name: _LIMIT for field in fields(Limits)},
    QosLimits: {field.name: _LIMIT for field in fields(QosLimits)},
    Qos: {"priority": _LIMIT, "grace_time_seconds": range(0, 86401)},
    Priority: {
        **dict.fromkeys(_WEIGHTS, _WEIGHT),
        "decay_half_life_days": range(0, 3651),
        "max_age_days": range(1, 3651),
    },
    Purge: {field.name: _MONTHS for field in fields(Purge)},
    LogRotation: {"max_size_mib": range(1, 10241), "keep": range(1, 366)},
    Monitoring: {"interval_seconds": range(10, 301)},
    BucketMount: {"cache_gib": range(0, 1000001)},
    OwnStep: {"time_limit_seconds": range(1, 3601), "attempts": range(1, 11)},
}
"""Fields of numbers, or of mappings to numbers, and what they may be."""


@checks(
    Rule(
        code="HP479",
        title="a number out of its bounds",
        why="Slurm, logrotate or the node scripts refuse it, on the node and not before",
        fix="use a number within the bounds",
        source="https://slurm.schedmd.com/sacctmgr.html and slurm.conf.html; hyperpod_cdk.spec for the rest",
    )
)
def number_in_bounds(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, value, bounds in _numbers(spec.lifecycle, "lifecycle"):
        if not unresolved(value) and value not in bounds:
            nearest = bounds[0] if value < bounds[0] else bounds[-1]
            allowed = f"{bounds[0]} to {bounds[-1]}"
            yield rule.finding(path, "is out of bounds", given=value, allowed=allowed, nearest=(nearest,))
    for index, qos in enumerate(spec.lifecycle.accounting.qos if spec.lifecycle.accounting else ()):
        factor = qos.usage_factor
        if not unresolved(factor) and not (0 <= factor < inf):
            path = f"lifecycle.accounting.qos[{index}].usage_factor"
            yield rule.finding(path, "is out of bounds", given=factor, allowed="0 or more", nearest=(1.0,))


def _numbers(part: Any, path: str) -> Iterator[tuple[str, int, range]]:
    """Path, value and bounds of every number that has some, below a part of the spec."""
    if isinstance(part, tuple | list):
        for index, item in enumerate(part):
            yield from _numbers(item, f"{path}[{index}]")
    if not is_dataclass(part):
        return
    bounds = BOUNDS.get(class_of(part), {})
    for field, value in readable(part):
        where = f"{path}.{field.name}"
        if field.name not in bounds:
            yield from _numbers(value, where)
        elif isinstance(value, Mapping):
            for name, amount in value.items():
                yield join(where, name), amount, bounds[field.name]
        elif value is not None:
            yield where, value, bounds[field.name]
