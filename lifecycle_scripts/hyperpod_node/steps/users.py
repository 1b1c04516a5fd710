"""Users and groups from the deployment's list: the same names and numbers on every node."""

from __future__ import annotations

import os

from hyperpod_node.accounts import Account, account, accounts, groups
from hyperpod_node.authorized_keys import DECLARED, try_keys
from hyperpod_node.config import User, UserGroup
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.homes import choose_base, ensure_home, set_home
from hyperpod_node.spreading import spread

SUDOERS = "/etc/sudoers.d"
SHELL = "/bin/bash"
NO_SHELL = "/usr/sbin/nologin"
SPREAD_SECONDS = 30
NUMBERS_ADVICE = "give the user a free number in the deployment's list of users"


def ensure_users(context: Context) -> str:
    """Make every listed user, or bring it to what the list says."""
    users = context.config.users
    for user in users:
        check_numbers(context, user)
    for group in context.config.user_groups:
        _ensure_group(context, group)
    base, shared = choose_base(context)
    homes = [context.root.path(f"{base}/{user.name}") for user in users]
    if shared and not all(map(os.path.lexists, homes)):
        # the first node of a large cluster makes them, and the others find them there
        spread(context, "homes", longest_seconds=SPREAD_SECONDS)
    made = [user.name for user in users if _ensure_user(context, user, f"{base}/{user.name}")]
    return f"{len(users)} users, {len(made)} of them made now, homes in {base}"


def _ensure_group(context: Context, wanted: UserGroup) -> None:
    for group in groups(context.root):
        if (group.name == wanted.name) == (group.gid == wanted.gid):
            continue
        raise NodeError(
            f"group {group.name} has gid {group.gid} on this node, but the list says "
            f"{wanted.name} with {wanted.gid}",
            advice="give the group a free name and number in lifecycle.user_groups",
        )
    if wanted.name not in {group.name for group in groups(context.root)}:
        context.commands.run("groupadd", "--gid", str(wanted.gid), wanted.name, attempts=5)


def check_numbers(context: Context, user: User) -> None:
    """Refuse a name or number that is in use otherwise; nothing has been changed by then.

    Raises:
        NodeError: what the machine has and what the list says cannot both be.
    """
    for entry in accounts(context.root):
        if entry.name == user.name and entry.uid != user.uid:
            raise NodeError(
                f"user {user.name} has uid {entry.uid} on this node, but the list says {user.uid}",
                advice=NUMBERS_ADVICE,
            )
        if entry.uid == user.uid and entry.name != user.name:
            raise NodeError(
                f"uid {user.uid} of {user.name} belongs to {entry.name} on this node", advice=NUMBERS_ADVICE
            )
        if entry.name == user.name and entry.gid != user.gid:
            raise NodeError(
                f"user {user.name} has gid {entry.gid} on this node, but the list says {user.gid}",
                advice=NUMBERS_ADVICE,
            )
    present = groups(context.root)
    for group in present if user.gid not in {group.gid for group in present} else ():
        if group.name == user.name:
            raise NodeError(
                f"group {group.name} has gid {group.gid} on this node, but user {user.name} "
                f"has gid {user.gid} in the list",
                advice=NUMBERS_ADVICE,
            )


def _ensure_user(context: Context, user: User, home: str) -> bool:
    present = account(context.root, user.name)
    if present is None:
        _add(context, user, home)
    ensure_home(context, home, name=user.name, uid=user.uid, gid=user.gid)
    if present is not None:
        set_home(context, present, home)
        _unlock(context, present)
    _ensure_groups(context, user)
    _ensure_sudo(context, user)
    owner = Account(name=user.name, uid=user.uid, gid=user.gid, home=home)
    try_keys(context, owner, DECLARED, user.ssh_public_keys)
    return present is None


def _unlock(context: Context, present: Account) -> None:
    """Let a former user in again who is listed again."""
    if present.shell == NO_SHELL:
        context.commands.run(
            "usermod",
            "--unlock",
            "--expiredate",
            "",
            "--shell",
            SHELL,
            present.name,
            accept=(0, 3),
            attempts=5,
        )


def _add(context: Context, user: User, home: str) -> None:
    # The databases may be locked for a moment by another program: useradd says so and gives up at once.
    present = {group.gid for group in groups(context.root)}
    own_group = user.gid == user.uid and user.gid not in present
    if not own_group and user.gid not in present:
        context.commands.run("groupadd", "--gid", str(user.gid), user.name, attempts=5)
    # a group of the user's own gets the user's number where it is free
    group = ("--user-group",) if own_group else ("--gid", str(user.gid))
    place = ("--home-dir", home, "--no-create-home", "--shell", SHELL)
    context.commands.run("useradd", "--uid", str(user.uid), *group, *place, user.name, attempts=5)
    made = account(context.root, user.name)
    if made is None or made.gid != user.gid:
        raise NodeError(
            f"useradd gave {user.name} gid {made and made.gid} instead of {user.gid}",
            advice="see USERGROUPS_ENAB, GID_MIN and GID_MAX in /etc/login.defs, and /etc/group",
        )


def _ensure_groups(context: Context, user: User) -> None:
    if not user.groups:
        return
    present = {group.name: group for group in groups(context.root)}
    unknown = [name for name in user.groups if name not in present]
    if unknown:
        context.warn(f"user {user.name}: this node has no group {', '.join(unknown)}")
    missing = [name for name in user.groups if name in present and user.name not in present[name].members]
    if missing:
        context.commands.run("usermod", "--append", "--groups", ",".join(missing), user.name, attempts=5)


def _ensure_sudo(context: Context, user: User) -> None:
    path = f"{SUDOERS}/hyperpod-cdk-{user.name}"
    if user.sudo:
        context.root.write(path, f"{user.name} ALL=(ALL) NOPASSWD:ALL\n", mode=0o440)
    else:
        context.root.path(path).unlink(missing_ok=True)
