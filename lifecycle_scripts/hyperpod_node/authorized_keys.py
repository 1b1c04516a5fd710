"""The part of ~/.ssh/authorized_keys that is ours; lines that users added themselves stay."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hyperpod_node.accounts import Account
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError
from hyperpod_node.homes import draft_within, read_within, ssh_directory

NAME = "authorized_keys"
# a block each: the declared keys, and the key the nodes use among themselves
DECLARED, BETWEEN_NODES = "declared", "between-nodes"


def merge(text: str, block: str, keys: Sequence[str]) -> str:
    """Replace one block of the file by these keys; without keys the block goes."""
    begin, end = f"# hyperpod-cdk {block} begin", f"# hyperpod-cdk {block} end"
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        if line == begin:
            inside = True
        elif line == end:
            inside = False
        elif not inside:
            kept.append(line)
    ours = [begin, *keys, end] if keys else []
    # The blocks stand in one order, whichever step came first, so that a second run changes nothing.
    whole = [*ours, *kept] if block == DECLARED else [*kept, *ours]
    return "\n".join(whole) + "\n" if whole else ""


def ensure_keys(context: Context, home: str, block: str, keys: Sequence[str], *, uid: int, gid: int) -> bool:
    """Have exactly these keys in a block and say whether the file changed."""
    with ssh_directory(context, home, uid=uid, gid=gid) as directory:
        before = read_within(directory, NAME)
        after = merge(before, block, keys)
        if after == before:
            return False
        draft = draft_within(context, directory, NAME, after, mode=0o600, uid=uid, gid=gid)
        os.rename(draft, NAME, src_dir_fd=directory, dst_dir_fd=directory)
        return True


def try_keys(context: Context, owner: Account, block: str, keys: Sequence[str]) -> bool:
    """The same, and say whether that was possible.

    Users may do with their homes what they like, such as a link for `.ssh`: that costs them their keys, and
    not the cluster each node that joins.
    """
    try:
        ensure_keys(context, owner.home, block, keys, uid=owner.uid, gid=owner.gid)
    except (NodeError, OSError) as error:
        context.warn(f"the keys of {owner.name} stay as they are: {error}")
        return False
    return True
