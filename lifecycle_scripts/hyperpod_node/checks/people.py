"""Looks at users, groups, homes and keys."""

from __future__ import annotations

import stat
from pathlib import Path

from hyperpod_node.accounts import Account, account, groups
from hyperpod_node.config import User
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.homes import choose_base, on_shared
from hyperpod_node.steps.home import USER
from hyperpod_node.steps.keep import AGAIN
from hyperpod_node.steps.ssh import CLIENT_PATH, KEYS, owners_of_shared_homes
from hyperpod_node.steps.users import NO_SHELL, SUDOERS


def users(context: Context) -> str:
    """Whether every declared user and group is there under the declared numbers, users with home and keys."""
    wanted = context.config.users
    faults = [fault for user in wanted for fault in _faults(context, user)]
    numbers = {group.name: group.gid for group in groups(context.root)}
    faults += [
        f"group {group.name} has {numbers.get(group.name, 'no number')} instead of {group.gid}"
        for group in context.config.user_groups
        if numbers.get(group.name) != group.gid
    ]
    if faults:
        raise NodeError("; ".join(faults), advice=AGAIN)
    return f"{len(wanted)} users, {len(context.config.user_groups)} groups"


def home(context: Context) -> str:
    """Whether the home of the image's own user lies where every node sees it."""
    owner = account(context.root, USER)
    if owner is None:
        raise StepSkippedError(f"no user {USER} on this image")
    base = choose_base(context)
    if not base.shared:
        raise StepSkippedError("no shared file system is mounted")
    if not on_shared(context, owner.home):
        raise NodeError(f"{USER} has {owner.home}, on this node's own disk", advice=AGAIN)
    faults = _folder_faults(context, owner)
    if faults:
        raise NodeError(faults[0], advice=AGAIN)
    return owner.home


def ssh(context: Context) -> str:
    """Whether every user gets from node to node."""
    owners = owners_of_shared_homes(context)
    if not owners:
        raise StepSkippedError("no home is on a shared file system")
    faults = [fault for owner in owners for fault in _key_faults(context, owner)]
    if not context.root.path(CLIENT_PATH).is_file():
        faults.append(f"no {CLIENT_PATH}: ssh asks for each new node")
    if faults:
        raise NodeError("; ".join(faults), advice=AGAIN)
    return f"{len(owners)} users"


def _key_faults(context: Context, owner: Account) -> list[str]:
    folder = context.root.path(f"{owner.home}/.ssh")
    name = next((name for name in KEYS if (folder / name).is_file()), "")
    if not name:
        return [f"{owner.name} has no key of their own"]
    public = _text(folder / f"{name}.pub").split()[1:2]
    # one that is only there with its passphrase is left alone
    if public and public[0] not in _text(folder / "authorized_keys"):
        return [f"the key of {owner.name} lets them in nowhere"]
    return []


def removed_users(context: Context) -> str:
    """Whether former users are locked out."""
    wanted = context.config.removed_users
    if not wanted:
        raise StepSkippedError("nobody was removed")
    found = [(name, account(context.root, name)) for name in wanted]
    open_ones = [name for name, entry in found if entry is not None and _shell(context, name) != NO_SHELL]
    if open_ones:
        raise NodeError(f"may still log in: {', '.join(open_ones)}", advice=AGAIN)
    return f"{len(wanted)} former users locked"


def _faults(context: Context, user: User) -> list[str]:
    entry = account(context.root, user.name)
    if entry is None:
        return [f"no user {user.name}"]
    if (entry.uid, entry.gid) != (user.uid, user.gid):
        return [f"{user.name} has {entry.uid}:{entry.gid} instead of {user.uid}:{user.gid}"]
    members = {group.name: group.members for group in groups(context.root)}
    # a group that the node has not is told by the set-up
    lacking = [name for name in user.groups if name in members and user.name not in members[name]]
    if lacking:
        return [f"{user.name} is not in {', '.join(lacking)}"]
    if user.sudo != context.root.path(f"{SUDOERS}/hyperpod-cdk-{user.name}").is_file():
        return [f"{user.name} {'may not' if user.sudo else 'may'} use sudo"]
    return _home_faults(context, user, entry)


def _home_faults(context: Context, user: User, entry: Account) -> list[str]:
    faults = _folder_faults(context, entry)
    if faults:
        return faults
    keys = context.root.path(entry.home) / ".ssh/authorized_keys"
    text = _text(keys)
    lacking = [key for key in user.ssh_public_keys if key not in text]
    if lacking:
        return [f"{user.name} lacks {len(lacking)} ssh keys"]
    if keys.is_file() and stat.S_IMODE(keys.stat().st_mode) & 0o022:
        return [f"{entry.home}/.ssh/authorized_keys can be changed by others: sshd passes it over"]
    return []


def _folder_faults(context: Context, entry: Account) -> list[str]:
    try:
        status = context.root.path(entry.home).stat()
    except FileNotFoundError:
        return [f"{entry.name} has no home {entry.home}"]
    except OSError as error:
        # a file system that is gone
        return [f"{entry.home} can not be looked at: {error.strerror}"]
    if not stat.S_ISDIR(status.st_mode):
        return [f"{entry.home} of {entry.name} is no folder"]
    if context.root.is_machine and status.st_uid != entry.uid:
        return [f"{entry.home} does not belong to {entry.name}"]
    return []


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _shell(context: Context, name: str) -> str:
    lines = (line.split(":") for line in context.root.read("/etc/passwd").splitlines())
    return next((fields[6] for fields in lines if fields[0] == name and len(fields) > 6), "")
