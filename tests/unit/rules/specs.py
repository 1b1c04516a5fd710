"""A valid spec with something of everything, and a way to change one value of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

from hyperpod_cdk.rules.registry import CHECKS
from hyperpod_cdk.spec import (
    Cluster,
    HyperPodSpec,
    InstanceGroup,
    Lifecycle,
    LustreFileSystem,
    Mount,
    Network,
    NodeType,
    OpenZfsFileSystem,
    SlurmConfig,
    User,
)

TEXT_TOKEN = "${Token[TOKEN.42]}"
LIST_TOKEN = ("#{Token[TOKEN.43]}",)
NUMBER_TOKEN = -1.8881545897087505e289
REMOVED = object()

_MOUNTS = (Mount(storage="scratch"), Mount(storage="home"))
_SHORT = {
    "controller": "cluster.instance_groups[0]",
    "login": "cluster.instance_groups[1]",
    "compute": "cluster.instance_groups[2]",
    "scratch": "storage.scratch",
    "home": "storage.home",
    "slurm": "cluster.orchestrator.slurm",
}

BASE = HyperPodSpec(
    stack_name="base",
    region="us-west-2",
    network=Network(availability_zone_ids=("usw2-az4",)),
    storage={"scratch": LustreFileSystem(), "home": OpenZfsFileSystem()},
    lifecycle=Lifecycle(users=(User(name="ada", uid=2001), User(name="grace", uid=2002))),
    cluster=Cluster(
        cluster_name="base",
        instance_groups=(
            InstanceGroup(
                instance_group_name="controller",
                instance_type="ml.c5.xlarge",
                instance_count=1,
                slurm_config=SlurmConfig(node_type=NodeType.CONTROLLER),
                mounts=_MOUNTS,
            ),
            InstanceGroup(
                instance_group_name="login",
                instance_type="ml.c5.xlarge",
                instance_count=1,
                slurm_config=SlurmConfig(node_type=NodeType.LOGIN),
                mounts=_MOUNTS,
            ),
            InstanceGroup(
                instance_group_name="compute",
                instance_type="ml.p5.48xlarge",
                instance_count=4,
                slurm_config=SlurmConfig(node_type=NodeType.COMPUTE, partition_names=("gpu",)),
                mounts=_MOUNTS,
            ),
        ),
    ),
)


def full_path(short: str) -> str:
    """``compute.instance_count`` is short for ``cluster.instance_groups[2].instance_count``."""
    head = re.match(r"\w*", short)
    assert head
    return _SHORT.get(head.group(), head.group()) + short[head.end() :]


def changed(changes: Mapping[str, Any], spec: HyperPodSpec = BASE) -> HyperPodSpec:
    """The spec with other values at some paths; keys and items that are not there yet are added."""
    for short, value in changes.items():
        spec = _set(spec, re.findall(r"\w[\w-]*", full_path(short)), value)
    return spec


def findings(spec: HyperPodSpec, code: str) -> list[str]:
    """Paths that a rule complains of, in its own order."""
    (one,) = (check for check in CHECKS if check.rule.code == code)
    return [finding.path for finding in one(spec)]


def _set(part: Any, steps: Sequence[str], value: Any) -> Any:
    if not steps:
        return value
    step, rest = steps[0], steps[1:]
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{step: _set(getattr(part, step), rest, value)})
    if isinstance(part, Mapping):
        kept = {**part, step: _set(part.get(step), rest, value)}
        return {key: one for key, one in kept.items() if one is not REMOVED}
    items = list(part)
    items[int(step) : int(step) + 1] = [
        _set(items[int(step)] if int(step) < len(items) else None, rest, value)
    ]
    return tuple(item for item in items if item is not REMOVED)
