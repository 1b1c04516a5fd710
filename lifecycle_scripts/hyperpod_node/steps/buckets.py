"""S3 buckets as files, by Mountpoint for Amazon S3."""

from __future__ import annotations

import re
import shlex
import tarfile
from pathlib import Path

from hyperpod_node import live_mounts
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.disks import data_disk
from hyperpod_node.downloads import fetch
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.features import BucketMount

PROGRAM = "mount-s3"
IMAGE_FOLDERS = ("/usr/bin", "/usr/local/bin", "/opt/aws/mountpoint-s3/bin")
INSTALLED = "/opt/hyperpod-cdk/mountpoint-s3"
FUSE_CONF = "/etc/fuse.conf"
ALLOW_OTHER = "user_allow_other"
LIMIT_SECONDS = 120
ADVICE = (
    "see `journalctl -u {unit}`: the group's execution role needs s3:ListBucket and s3:GetObject there, "
    "and the node a way to S3"
)
OVERRIDES_ADVICE = "give the url of the makers' own release in lifecycle.downloads.overrides"


def mount_buckets(context: Context) -> str:
    """Have every bucket mounted; one that fails does not keep the others from being tried."""
    wanted = context.config.features.buckets_of(context.node.node_type)
    program = _program(context)
    _allow_others(context)
    failed = []
    for mount in wanted:
        try:
            _mount(context, mount, program)
        except NodeError as error:
            if mount.required:
                raise
            context.warn(f"{mount.bucket} at {mount.mount_path}: {error}")
            failed.append(mount.bucket)
    paths = ", ".join(mount.mount_path for mount in wanted if mount.bucket not in failed)
    if failed and not any(mount.required for mount in wanted):
        raise NodeError(f"not mounted: {', '.join(failed)}; mounted: {paths or 'none'}")
    return f"buckets at {paths or 'no path'}"


def unit_name(mount: BucketMount) -> str:
    """The unit that mounts a bucket."""
    return f"hyperpod-cdk-s3{re.sub(r'[^A-Za-z0-9]+', '-', mount.mount_path)}.service"


def unit_text(mount: BucketMount, program: str, cache: str) -> str:
    """The unit's content."""
    options = [
        "--allow-other",
        *(["--prefix", mount.prefix] if mount.prefix else []),
        *(["--read-only"] if mount.read_only else []),
        *(["--allow-delete", "--allow-overwrite"] if mount.allow_delete and not mount.read_only else []),
        *(["--cache", cache, "--max-cache-size", str(mount.cache_gib * 1024)] if cache else []),
    ]
    command = shlex.join([program, *options, mount.bucket, mount.mount_path])
    return (
        f"[Unit]\nDescription=S3 bucket {mount.bucket}, by hyperpod-cdk\n"
        "Wants=network-online.target\nAfter=network-online.target\n"
        "StartLimitIntervalSec=0\n\n"
        f"[Service]\nType=forking\nExecStart={command.replace('%', '%%')}\n"
        f"ExecStop=/bin/umount {shlex.quote(mount.mount_path)}\n"
        "Restart=on-failure\nRestartSec=10\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )


def _program(context: Context) -> str:
    for folder in IMAGE_FOLDERS:
        if context.root.path(f"{folder}/{PROGRAM}").exists():
            return f"{folder}/{PROGRAM}"
    archive = fetch(context, PROGRAM)
    folder = f"{INSTALLED}/{archive.parent.name[:16]}"
    if not context.root.path(folder).is_dir():
        unpack(archive, context.root.path(folder))
    return program_in(context, folder, PROGRAM)


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive whose content is known by its checksum; the folder is there whole or not at all.

    Raises:
        NodeError: it is no archive of tar's.
    """
    draft = folder.with_name(f".{folder.name}.part")
    draft.mkdir(parents=True, exist_ok=True)
    try:
        _extract(archive, draft)
    except tarfile.TarError as error:
        raise NodeError(f"{archive.name} is no archive: {error}", advice=OVERRIDES_ADVICE) from error
    draft.rename(folder)


def _extract(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as content:
        for member in content.getmembers():
            target = (folder / member.name).resolve()
            if not target.is_relative_to(folder.resolve()) or not (member.isfile() or member.isdir()):
                continue
            content.extract(member, folder, set_attrs=False)
            if member.isfile():
                target.chmod(0o755 if member.mode & 0o100 else 0o644)


def program_in(context: Context, folder: str, name: str) -> str:
    """The program of a name in an unpacked release; releases have folders of their own inside.

    Raises:
        NodeError: there is none.
    """
    found = sorted(path for path in context.root.path(folder).glob(f"**/{name}") if path.is_file())
    if not found:
        raise NodeError(f"there is no {name} in the archive under {folder}", advice=OVERRIDES_ADVICE)
    return "/" + str(found[0].relative_to(context.root.prefix))


def _allow_others(context: Context) -> None:
    text = context.root.read(FUSE_CONF)
    if ALLOW_OTHER not in text.splitlines():
        ends = "" if not text or text.endswith("\n") else "\n"
        context.root.write(FUSE_CONF, f"{text}{ends}{ALLOW_OTHER}\n")


def _mount(context: Context, mount: BucketMount, program: str) -> None:
    cache = ""
    if mount.cache_gib:
        cache = f"{data_disk(context) or '/var/cache'}/mountpoint-s3{mount.mount_path}"
        context.root.path(cache).mkdir(parents=True, exist_ok=True, mode=0o700)
    unit = unit_name(mount)
    live = live_mounts.at(context.root, mount.mount_path)
    if live is None:
        context.root.path(mount.mount_path).mkdir(parents=True, exist_ok=True)
    changed = context.root.write(f"/etc/systemd/system/{unit}", unit_text(mount, program, cache))
    if changed:
        context.commands.run("systemctl", "daemon-reload")
    context.commands.run("systemctl", "enable", unit)
    verb = "restart" if changed and live else "start"
    context.commands.run("systemctl", verb, unit, timeout_seconds=90, advice=ADVICE.format(unit=unit))
    wait_for(
        lambda: _live(context, mount),
        what=f"{mount.bucket} at {mount.mount_path}",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=LIMIT_SECONDS,
        advice=ADVICE.format(unit=unit),
    )


def _live(context: Context, mount: BucketMount) -> None:
    live = live_mounts.at(context.root, mount.mount_path)
    if live is None or not live.kernel_type.startswith("fuse"):
        raise NotYetError("it is not mounted")
