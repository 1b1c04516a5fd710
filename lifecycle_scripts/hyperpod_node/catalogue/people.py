"""Users and their homes: homes after mounts, users after both (field report 117)."""

from hyperpod_node import idle
from hyperpod_node.catalogue.modes import ACCOUNTS
from hyperpod_node.step import Later, Step

STEPS = (
    Step(
        name="home",
        run=Later("steps.home.move_home"),
        needs=("mounts", "mount"),
        uses=ACCOUNTS,
        time_limit_seconds=300,
        attempts=2,
    ),
    Step(
        name="users",
        run=Later("steps.users.ensure_users"),
        idle=idle.no_users,
        needs=("home",),
        uses=ACCOUNTS,
        time_limit_seconds=600,
    ),
    Step(
        name="removed-users",
        run=Later("steps.removed_users.lock_removed"),
        idle=idle.nobody_removed,
        needs=("users",),
        uses=ACCOUNTS,
        time_limit_seconds=300,
    ),
    Step(
        name="ssh",
        run=Later("steps.ssh.ensure_node_keys"),
        needs=("users",),
        required=False,
        time_limit_seconds=300,
    ),
)
