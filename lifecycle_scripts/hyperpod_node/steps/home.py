"""The home of the image's own user, on the shared file system where there is one."""

from __future__ import annotations

from hyperpod_node.accounts import account
from hyperpod_node.context import Context
from hyperpod_node.errors import StepSkippedError
from hyperpod_node.homes import choose_base, ensure_home, on_shared, set_home

USER = "ubuntu"


def move_home(context: Context) -> str:
    """Put ubuntu's home where every node sees it; in extension mode the service has mostly done so."""
    owner = account(context.root, USER)
    if owner is None:
        raise StepSkippedError(f"no user {USER} on this image")
    base = choose_base(context)
    if not base.shared:
        raise StepSkippedError("no shared file system is mounted: home directories stay on the node's disk")
    home = owner.home if on_shared(context, owner.home) else f"{base.path}/{USER}"
    made = ensure_home(context, home, name=USER, uid=owner.uid, gid=owner.gid)
    set_home(context, owner, home)
    return f"{home}, {'made by this node' if made else 'already there'}"
