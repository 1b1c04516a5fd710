"""Looks at what is set up beside Slurm."""

from __future__ import annotations

import stat
from typing import NoReturn

from hyperpod_node import live_mounts
from hyperpod_node.context import Context
from hyperpod_node.disks import NVME, SECONDARY
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps import buckets as bucket_steps
from hyperpod_node.steps import containers
from hyperpod_node.steps import directory as directory_steps
from hyperpod_node.units import is_active


def docker(context: Context) -> str:
    """Whether Docker answers, and its images lie where there is room."""
    if not context.commands.available("docker"):
        _unless_required(context, "no Docker on this node")
    done = context.commands.run("docker", "info", "--format", "{{.DockerRootDir}}", timeout_seconds=30)
    folder = done.lines[-1].strip() if done.lines else ""
    better = [path for path in (NVME, SECONDARY) if live_mounts.at(context.root, path)]
    if better and not any(folder.startswith(f"{path}/") for path in better):
        raise NodeError(
            f"its images lie in {folder}, though there is {better[0]}",
            advice=f'set "data-root" in {containers.DAEMON_JSON}',
        )
    return folder


def _unless_required(context: Context, lack: str) -> NoReturn:
    wanted = context.config.features.containers
    if wanted and wanted.required:
        raise NodeError(lack, advice="lifecycle.containers.required is set: use an image that has it")
    raise StepSkippedError(lack)


def enroot(context: Context) -> str:
    """Whether Enroot is there, and srun knows of containers."""
    if not context.commands.available("enroot"):
        _unless_required(context, "no Enroot on this node")
    if not context.commands.available("srun"):
        raise StepSkippedError("no srun on this node")
    done = context.commands.run("srun", "--help", timeout_seconds=20)
    if "--container-image" not in done.text:
        raise NodeError(
            "srun has no --container-image: Pyxis is not loaded",
            advice="see plugstack.conf on the controller, then `scontrol reconfigure` (field report 108)",
        )
    return "srun --container-image works"


def directory(context: Context) -> str:
    """Whether SSSD runs, and keeps its password to itself."""
    if not is_active(context, "sssd"):
        raise NodeError("sssd does not run", advice=directory_steps.ADVICE)
    path = context.root.path(directory_steps.CONF)
    mode = stat.S_IMODE(path.stat().st_mode) if path.is_file() else 0
    if mode != 0o600:
        raise NodeError(
            f"sssd.conf has mode {mode:o} instead of 600", advice=f"chmod 600 {directory_steps.CONF}"
        )
    return "sssd runs"


def buckets(context: Context) -> str:
    """Whether every bucket is mounted."""
    wanted = context.config.features.buckets_of(context.node.node_type)
    missing = [one.mount_path for one in wanted if live_mounts.at(context.root, one.mount_path) is None]
    if missing:
        units = " -u ".join(bucket_steps.unit_name(one) for one in wanted if one.mount_path in missing)
        raise NodeError(f"not mounted: {', '.join(missing)}", advice=f"see `journalctl -u {units}`")
    return ", ".join(one.mount_path for one in wanted)
