"""Former users: the account stays, since files belong to its number, but nobody gets in by it any more."""

from __future__ import annotations

from hyperpod_node.accounts import Account, account
from hyperpod_node.authorized_keys import BETWEEN_NODES, DECLARED, try_keys
from hyperpod_node.config import LOWEST_ID
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.homes import on_shared
from hyperpod_node.steps.users import NO_SHELL, SUDOERS


def lock_removed(context: Context) -> str:
    """Lock each of them that this node has: no password, no shell, no keys of ours, no sudo."""
    present = [found for name in context.config.removed_users if (found := account(context.root, name))]
    locked = [entry.name for entry in present if _lock(context, entry)]
    absent = len(context.config.removed_users) - len(present)
    return f"{len(present)} former users, {len(locked)} of them locked now; {absent} are not on this node"


def _lock(context: Context, entry: Account) -> bool:
    if entry.uid < LOWEST_ID:
        raise NodeError(
            f"{entry.name} with uid {entry.uid} is an account of the system, and is not locked",
            advice="remove the name from lifecycle.removed_users",
        )
    context.root.path(f"{SUDOERS}/hyperpod-cdk-{entry.name}").unlink(missing_ok=True)
    locked = entry.shell == NO_SHELL
    if not locked:
        options = ("--lock", "--expiredate", "1", "--shell", NO_SHELL)
        context.commands.run("usermod", *options, entry.name, attempts=5)
    if context.root.path(entry.home).is_dir():
        # keys in a shared home would let them in wherever the account is made again
        for block in (DECLARED, BETWEEN_NODES) if on_shared(context, entry.home) else (DECLARED,):
            try_keys(context, entry, block, ())
    return not locked
