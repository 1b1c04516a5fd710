"""Users and their homes: homes after mounts, users after both (field report 117)."""

from hyperpod_node.catalogue.modes import ACCOUNTS
from hyperpod_node.step import Step
from hyperpod_node.steps import home, removed_users, ssh, users

STEPS = (
    Step(
        name="home",
        run=home.move_home,
        needs=("mounts", "mount"),
        uses=ACCOUNTS,
        time_limit_seconds=300,
        attempts=2,
    ),
    Step(
        name="users",
        run=users.ensure_users,
        idle=users.no_users,
        needs=("home",),
        uses=ACCOUNTS,
        time_limit_seconds=600,
    ),
    Step(
        name="removed-users",
        run=removed_users.lock_removed,
        idle=removed_users.nobody_removed,
        needs=("users",),
        uses=ACCOUNTS,
        time_limit_seconds=300,
    ),
    Step(
        name="ssh",
        run=ssh.ensure_node_keys,
        needs=("users",),
        required=False,
        time_limit_seconds=300,
    ),
)
