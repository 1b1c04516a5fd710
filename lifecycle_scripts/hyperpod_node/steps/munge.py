"""Munge, by which all of Slurm knows each other: its key, its daemon, and that the two agree."""

from __future__ import annotations

from hyperpod_node import units
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError

KEY = "/etc/munge/munge.key"
# made when munged starts
PID_FILE = "/run/munge/munged.pid"
# the service's agent puts the cluster's key on each node
KEY_LIMIT_SECONDS = 300
ANSWER_LIMIT_SECONDS = 60
ADVICE = (
    "see `journalctl -u munge` and /var/log/munge/munged.log; the key must be the controller's on every node"
)


def check_munge(context: Context) -> str:
    """Have munged run with a key that only it can read, and take its own credential back."""
    wait_for(
        lambda: _key(context),
        what=f"the cluster's {KEY}",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=KEY_LIMIT_SECONDS,
        advice="the service puts it there: see `journalctl -u sagemaker-cluster-agent`",
    )
    path = context.root.path(KEY)
    if path.stat().st_mode & 0o077:
        # munged refuses to start with a key that others can read
        path.chmod(0o400)
        context.say(f"{KEY} was readable by others")
    units.enable(context, "munge")
    _take_new_key(context)
    wait_for(
        lambda: _answers(context),
        what="munge",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=ANSWER_LIMIT_SECONDS,
        advice=ADVICE,
    )
    return "munge takes its own credentials"


def _key(context: Context) -> None:
    path = context.root.path(KEY)
    if not path.is_file() or not path.stat().st_size:
        raise NotYetError("it is missing or empty")


def _take_new_key(context: Context) -> None:
    """Restart a munged that began before its key came: it takes its own credentials, and nobody else does."""
    key, started = context.root.path(KEY), context.root.path(PID_FILE)
    # the time of the change, which a copy does not keep
    if started.is_file() and started.stat().st_mtime < key.stat().st_ctime:
        context.commands.run("systemctl", "restart", "munge", timeout_seconds=30, advice=ADVICE)
        context.say(f"{KEY} is newer than munged was")


def _answers(context: Context) -> None:
    try:
        _round_trip(context)
    except NotYetError:
        if units.is_active(context, "munge"):
            raise
        context.commands.run("systemctl", "start", "munge", accept=(0, 1), timeout_seconds=30)
        _round_trip(context)


def _round_trip(context: Context) -> None:
    try:
        credential = context.commands.run("munge", "--no-input", timeout_seconds=15).text
        context.commands.run("unmunge", given=credential + "\n", timeout_seconds=15)
    except NodeError as error:
        raise NotYetError(error.message) from error
