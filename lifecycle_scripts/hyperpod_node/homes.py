"""Home directories on a file system that hundreds of nodes write to at the same time.

Everything here is a mkdir or a rename, which exactly one node wins; and nothing follows a symbolic link that
a user may have put there, since these scripts run as root again on every replaced node.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from hyperpod_node import live_mounts
from hyperpod_node.accounts import Account
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError

LOCAL_BASE = "/home"
SKELETON = "/etc/skel"
# login.defs HOME_MODE of Ubuntu 22.04
HOME_MODE = 0o750
PREFERRED = ("OPENZFS", "LUSTRE")


class HomeBase(NamedTuple):
    """Where home directories lie.

    Args:
        path: the directory that holds them.
        shared: whether every node sees the same.
    """

    path: str
    shared: bool


def choose_base(context: Context) -> HomeBase:
    """OpenZFS where it is mounted, else Lustre, else the node's own disk; by what is mounted now."""
    for kind in PREFERRED:
        for mount in context.node.mounts:
            if mount.file_system_type == kind and live_mounts.is_live(context.root, mount):
                return HomeBase(path=mount.mount_path, shared=True)
    return HomeBase(path=LOCAL_BASE, shared=False)


def on_shared(context: Context, path: str) -> bool:
    """Whether a path lies on one of the node's shared file systems."""
    return any(
        path.startswith(f"{mount.mount_path}/")
        for mount in context.node.mounts
        if live_mounts.is_live(context.root, mount)
    )


def set_home(context: Context, owner: Account, home: str) -> None:
    """Record a user's home; usermod refuses while the user has processes, so it is retried."""
    if owner.home != home:
        context.commands.run(
            "usermod",
            "--home",
            home,
            owner.name,
            attempts=6,
            advice=f"end the processes of {owner.name} and run the script again",
        )


def ensure_home(context: Context, home: str, *, name: str, uid: int, gid: int) -> bool:
    """Have the home directory, filled from /etc/skel, and say whether this node made it.

    Raises:
        NodeError: something else stands there, or it belongs to another user number.
    """
    target = context.root.path(home)
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.lexists(target):
        _check_owner(context, target, home, name=name, uid=uid)
        return False
    draft = target.with_name(f".hyperpod-cdk.{name}.{context.node.instance.instance_id}")
    if draft.exists():
        shutil.rmtree(draft)
    skeleton = context.root.path(SKELETON)
    if skeleton.is_dir():
        shutil.copytree(skeleton, draft, symlinks=True)
    else:
        draft.mkdir()
    for path in (draft, *draft.rglob("*")):
        context.root.own(path, uid, gid)
    draft.chmod(HOME_MODE)
    try:
        draft.rename(target)
    except OSError as error:
        # Another node's rename came first: its directory is there, and not empty or not a directory.
        if not os.path.lexists(target):
            raise NodeError(f"cannot make {home}: {error}") from error
        shutil.rmtree(draft)
        _check_owner(context, target, home, name=name, uid=uid)
        return False
    return True


def _check_owner(context: Context, target: Path, home: str, *, name: str, uid: int) -> None:
    status = target.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise NodeError(
            f"the home of {name}, {home}, is no directory", advice="move it out of the way by hand"
        )
    if status.st_uid != uid and (context.root.is_machine or os.geteuid() == 0):
        raise NodeError(
            f"the home of {name}, {home}, belongs to uid {status.st_uid}, but {name} has uid {uid}",
            advice=f"give {name} uid {status.st_uid} again, or once `chown -R {uid} {home}`: "
            "files belong to numbers, not to names",
        )


@contextmanager
def ssh_directory(context: Context, home: str, *, uid: int, gid: int) -> Iterator[int]:
    """The open `.ssh` directory of a home, made if missing.

    Raises:
        NodeError: it, or the home itself, is a symbolic link or no directory.
    """
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        outer = os.open(context.root.path(home), flags)
    except OSError as error:
        raise NodeError(f"{home} is no plain directory: {error.strerror}") from error
    try:
        try:
            os.mkdir(".ssh", 0o700, dir_fd=outer)
            made = True
        except FileExistsError:
            made = False
        try:
            inner = os.open(".ssh", flags, dir_fd=outer)
        except OSError as error:
            raise NodeError(
                f"{home}/.ssh is no plain directory ({error.strerror}): not followed",
                advice="replace it by a directory of the user's own",
            ) from error
    finally:
        os.close(outer)
    try:
        if made or _left_behind(inner):
            context.root.own(inner, uid, gid)
        yield inner
    finally:
        os.close(inner)


def _left_behind(directory: int) -> bool:
    """Whether a run was ended between making a directory and giving it to its user."""
    return os.fstat(directory).st_uid == 0 and not os.listdir(directory)


def read_within(directory: int, name: str) -> str:
    """The text of a plain file in an open directory; empty when there is none."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    except OSError:
        return ""
    with os.fdopen(handle, encoding="utf-8", errors="replace") as stream:
        return stream.read() if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) else ""


def draft_within(
    context: Context, directory: int, name: str, text: str, *, mode: int, uid: int, gid: int
) -> str:
    """Write a file of this node's own name next to its final place, and return that name."""
    draft = f".{name}.{context.node.instance.instance_id}"
    with suppress(FileNotFoundError):
        os.unlink(draft, dir_fd=directory)
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=directory)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text)
        os.fchmod(stream.fileno(), mode)
        context.root.own(stream.fileno(), uid, gid)
    return draft
