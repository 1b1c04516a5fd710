"""Slurm's controller: waits for its configuration, and starts slurmctld where its start is ours."""

from __future__ import annotations

import re

from hyperpod_node import slurm, units
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError

# The service's agent writes slurm.conf meanwhile; peers give it 60 s and then go on without.
CONF_LIMIT_SECONDS = 600
DAEMON_LIMIT_SECONDS = 180
# the first of several controllers may be gone for good, and this one be what is left
FIRST_LIMIT_SECONDS = 90
DROP_IN = "/etc/systemd/system/slurmctld.service.d/hyperpod-cdk.conf"
# Without state files, as after a power cut in the first seconds, slurmctld ends when slurmdbd is not there
# yet at boot (measured); without this nobody starts it again.
RESTART = (
    "[Unit]\nAfter=slurmdbd.service mariadb.service\nStartLimitIntervalSec=0\n\n"
    "[Service]\nRestart=on-failure\nRestartSec=5\n"
)
CONF_ADVICE = "see `journalctl -u sagemaker-cluster-agent` on the controller: the service writes slurm.conf"
DAEMON_ADVICE = "see /var/log/slurm on this node and `journalctl -u slurmctld -u slurmdbd -u mariadb`"


def wait_for_configuration(context: Context) -> str:
    """Wait until slurm.conf names this node."""
    address = context.node.instance.address

    def named() -> None:
        if not slurm.names_address(context.root, address):
            raise NotYetError(f"{slurm.CONF} does not name {address}")

    wait_for(
        named,
        what="the service's slurm.conf",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=CONF_LIMIT_SECONDS,
        advice=CONF_ADVICE,
    )
    return f"{slurm.CONF} names {address}"


def start_controller(context: Context) -> str:
    """Start slurmctld, never restart it, and wait until it answers."""
    if context.root.write(DROP_IN, RESTART):
        units.read_again(context, {"slurmctld": DROP_IN})
    units.disable(context, "slurmd")
    units.enable(context, "slurmctld")
    if not units.is_active(context, "slurmctld"):
        _let_the_first_begin(context)
        slurm.mark_loaded(context.root)
        context.commands.run("systemctl", "start", "slurmctld", advice=DAEMON_ADVICE)
    with slurm.own_words(context.root, "slurmctld"):
        wait_for(
            lambda: _ping(context),
            what="slurmctld",
            deadline=context.deadline,
            say=context.say,
            limit_seconds=DAEMON_LIMIT_SECONDS,
            advice=DAEMON_ADVICE,
            longest_pause_seconds=0.25,
        )
    return "slurmctld answers"


def _let_the_first_begin(context: Context) -> None:
    """Where there are several controllers, start behind the first one.

    A first slurmctld bids the others step down before it works. One that has just started does not answer
    that, as it is telling the first one that it is there: both then wait for half a minute (measured, 24.11).
    """
    heads = slurm.controllers(context) if context.node.multi_head else []
    if not heads or heads[0].address == context.node.instance.address:
        return
    try:
        wait_for(
            lambda: _first_is_up(context),
            what="slurmctld of the first controller",
            deadline=context.deadline,
            say=context.say,
            limit_seconds=FIRST_LIMIT_SECONDS,
            longest_pause_seconds=1.0,
        )
    except NodeError as error:
        context.warn(f"{error}: this controller starts without it")


def _first_is_up(context: Context) -> None:
    done = context.commands.run("scontrol", "ping", accept=(0, 1))
    if not re.search(r"\(primary\) at \S+ is UP\b", done.text):
        raise NotYetError(done.lines[0] if done.lines else "scontrol ping prints nothing")


def _ping(context: Context) -> None:
    done = context.commands.run("scontrol", "ping", accept=(0, 1))
    if not re.search(r"\bUP\b", done.text):
        raise NotYetError(done.text or "scontrol ping prints nothing")
    # the one that answers may be another controller's
    if context.node.multi_head and not units.is_active(context, "slurmctld"):
        raise NotYetError("slurmctld does not run on this controller")
