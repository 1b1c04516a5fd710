"""Looks at users, homes and keys."""

from __future__ import annotations

import stat

from hyperpod_node.accounts import Account, account, groups
from hyperpod_node.config import User
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps.users import NO_SHELL, SUDOERS

ADVICE = "run the scripts again: `hyperpod-node --hook on_create` or on_init_complete"


def users(context: Context) -> str:
    """Whether every declared user is there under the declared numbers, with a home and its keys."""
    wanted = context.config.users
    if not wanted:
        raise StepSkippedError("no users listed")
    faults = [fault for user in wanted for fault in _faults(context, user)]
    if faults:
        raise NodeError("; ".join(faults), advice=ADVICE)
    return f"{len(wanted)} users"


def removed_users(context: Context) -> str:
    """Whether former users are locked out."""
    wanted = context.config.removed_users
    if not wanted:
        raise StepSkippedError("nobody was removed")
    found = [(name, account(context.root, name)) for name in wanted]
    open_ones = [name for name, entry in found if entry is not None and _shell(context, name) != NO_SHELL]
    if open_ones:
        raise NodeError(f"may still log in: {', '.join(open_ones)}", advice=ADVICE)
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
    home = context.root.path(entry.home)
    if not home.is_dir():
        return [f"{user.name} has no home {entry.home}"]
    if context.root.is_machine and home.stat().st_uid != user.uid:
        return [f"{entry.home} does not belong to {user.name}"]
    keys = home / ".ssh/authorized_keys"
    text = keys.read_text(encoding="utf-8") if keys.is_file() else ""
    lacking = [key for key in user.ssh_public_keys if key not in text]
    if lacking:
        return [f"{user.name} lacks {len(lacking)} ssh keys"]
    if keys.is_file() and stat.S_IMODE(keys.stat().st_mode) & 0o022:
        return [f"{entry.home}/.ssh/authorized_keys can be changed by others: sshd passes it over"]
    return []


def _shell(context: Context, name: str) -> str:
    lines = (line.split(":") for line in context.root.read("/etc/passwd").splitlines())
    return next((fields[6] for fields in lines if fields[0] == name and len(fields) > 6), "")
