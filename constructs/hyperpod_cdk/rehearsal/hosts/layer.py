"""The stand-ins as files of a host: a layer that lies on top of an image."""

import os
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from hyperpod_cdk.rehearsal.hosts.image import STANDINS

LIBRARY = "usr/local/lib/hyperpod-sandbox"
UNITS = "etc/systemd/system"
READY = """\
[Unit]
Description=Tells that this host is up
After=basic.target dbus.service munge.service
[Service]
Type=oneshot
ExecStart=/bin/sh -c 'mkdir -p /.sandbox/up && touch /.sandbox/up/$$(hostname)'
[Install]
WantedBy=multi-user.target
"""
AGENT = f"""\
[Unit]
Description=Stands in for the agent of SageMaker HyperPod
After=basic.target dbus.service munge.service
[Service]
Type=oneshot
RemainAfterExit=yes
Environment=PATH=/opt/slurm/bin:/opt/slurm/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ExecStart=/{LIBRARY}/agent.py boot
[Install]
WantedBy=multi-user.target
"""


@dataclass(frozen=True, kw_only=True)
class File:
    """A file of the layer.

    Args:
        content: its bytes.
        mode: permission bits.
        owner: user of the image; default: root.
    """

    content: bytes
    mode: int = 0o644
    owner: str = "root"


def compose(folder: Path, image: Path) -> Path:
    """Write the layer for hosts of an image.

    Args:
        folder: where to; made.
        image: the image below it, whose directories' owners and modes it keeps.

    Returns:
        The folder.
    """
    library = _compiled(folder.parent)
    files = {
        "usr/sbin/mount.lustre": _program("mount_helper.py"),
        "usr/sbin/mount.nfs": _program("mount_helper.py"),
        "usr/sbin/mount.nfs4": _program("mount_helper.py"),
        "usr/local/bin/aws": _program("aws_cli.py"),
        f"{LIBRARY}/agent.py": _program("agent.py"),
        f"{LIBRARY}/mounts_view.so": File(content=library.read_bytes(), mode=0o755),
        "etc/ld.so.preload": File(content=f"/{LIBRARY}/mounts_view.so\n".encode()),
        "etc/munge/munge.key": File(content=secrets.token_bytes(128), mode=0o400, owner="munge"),
        f"{UNITS}/sandbox-ready.service": File(content=READY.encode()),
        f"{UNITS}/sagemaker-cluster-agent.service": File(content=AGENT.encode()),
    }
    for name, file in files.items():
        _write(folder / name, file, image)
    wants = folder / UNITS / "multi-user.target.wants"
    _directory(wants, folder, image)
    for unit in ("sandbox-ready.service", "sagemaker-cluster-agent.service"):
        (wants / unit).symlink_to(f"/{UNITS}/{unit}")
    return folder


def _program(name: str) -> File:
    return File(content=(STANDINS / name).read_bytes(), mode=0o755)


def _compiled(folder: Path) -> Path:
    target = folder / "mounts_view.so"
    source = STANDINS / "mounts_view.c"
    subprocess.run(["gcc", "-shared", "-fPIC", "-O2", "-o", str(target), str(source), "-ldl"], check=True)
    return target


def _write(path: Path, file: File, image: Path) -> None:
    base = next(parent for parent in path.parents if parent.name == "layer")
    _directory(path.parent, base, image)
    path.write_bytes(file.content)
    path.chmod(file.mode)
    owner, group = _numbers(image, file.owner)
    os.chown(path, owner, group)


def _directory(path: Path, base: Path, image: Path) -> None:
    """Make a directory; in an overlay the topmost one's owner and mode count, so they are the image's."""
    for part in [*reversed(path.relative_to(base).parents), path.relative_to(base)]:
        (base / part).mkdir(parents=True, exist_ok=True)
        below = image / part
        if below.is_dir():
            status = below.stat()
            shutil.copymode(below, base / part)
            os.chown(base / part, status.st_uid, status.st_gid)


def _numbers(image: Path, name: str) -> tuple[int, int]:
    for line in (image / "etc/passwd").read_text(encoding="utf-8").splitlines():
        fields = line.split(":")
        if fields[0] == name:
            return int(fields[2]), int(fields[3])
    raise LookupError(f"no user {name} in {image}")
