"""Connects compute and login nodes to the controller, from which they fetch their configuration."""

from __future__ import annotations

import socket
from collections.abc import Sequence

from hyperpod_node import facts, slurm, units
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NotYetError
from hyperpod_node.spreading import spread

CONTROLLER_LIMIT_SECONDS = 300
# A controller that sets its database up took 76 s with peers' scripts, and may wait 600 s for slurm.conf.
FETCH_LIMIT_SECONDS = 900
SPREAD_SECONDS = 30
DROP_IN = "/etc/systemd/system/slurmd.service.d/hyperpod-cdk.conf"
# slurmd gives up after about a minute without a controller; systemd then starts it again, without end.
RESTART = "Restart=on-failure\nRestartSec=5\n"
ADVICE = (
    "see `journalctl -u slurmd` here and whether slurmctld runs on the controller; "
    "the nodes' security group must allow all traffic within itself"
)


def join_as_compute(context: Context) -> str:
    """Start slurmd and wait until it runs with the controller's configuration."""
    servers = _configure(context, restart=True)
    wait_for(
        lambda: _running(context),
        what=f"slurmd with the configuration of {servers}",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=FETCH_LIMIT_SECONDS,
        advice=ADVICE,
        longest_pause_seconds=2.0,
    )
    return f"slurmd runs with the configuration of {servers}"


def fetch_as_login(context: Context) -> str:
    """Fetch the configuration through slurmd, which then ends: a login node is not in slurm.conf."""
    servers = _configure(context, restart=False)
    wait_for(
        lambda: _fetched(context),
        what=f"the configuration of {servers}",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=FETCH_LIMIT_SECONDS,
        advice=ADVICE,
        longest_pause_seconds=2.0,
    )
    return f"client commands use the configuration of {servers}; slurmd does not stay here"


def _configure(context: Context, *, restart: bool) -> str:
    heads = wait_for(
        lambda: _controllers(context),
        what="a controller in resource_config.json",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=CONTROLLER_LIMIT_SECONDS,
    )
    servers = ",".join(f"{head.address}:{slurm.CONTROLLER_PORT}" for head in heads)
    text = f'[Service]\nEnvironment="SLURMD_OPTIONS=--conf-server {servers}"\n'
    if restart:
        text = f"[Unit]\nStartLimitIntervalSec=0\n\n{text}{RESTART}"
    changed = context.root.write(DROP_IN, text)
    if changed:
        units.read_again(context, {"slurmd": DROP_IN})
    units.disable(context, "slurmctld")
    units.enable(context, "slurmd")
    _wait_for_controller(context, heads)
    # Asking for the start is enough: whether slurmd stays is waited for, and on a login node it does not. A
    # unit of Type=notify would hold the command until the controller answers.
    verb = "restart" if changed else "start"
    context.commands.run("systemctl", verb, "--no-block", "slurmd", accept=(0, 1))
    return servers


def _wait_for_controller(context: Context, heads: Sequence[facts.Instance]) -> None:
    """Wait until a slurmctld takes connections; slurmd itself would give up and begin anew every minute."""
    wait_for(
        lambda: _reach(context, heads),
        what="slurmctld on the controller",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=FETCH_LIMIT_SECONDS,
        advice=ADVICE,
        longest_pause_seconds=1.0,
    )
    # all nodes of a new cluster see it within a second
    spread(context, "slurmctld", longest_seconds=SPREAD_SECONDS)


def _reach(context: Context, heads: Sequence[facts.Instance]) -> None:
    reasons = []
    # outside a real node there is no network to reach it by
    for head in heads if context.root.is_machine else ():
        try:
            socket.create_connection((head.address, slurm.CONTROLLER_PORT), timeout=2).close()
        except OSError as error:
            reasons.append(f"{head.address}: {error.strerror or error}")
        else:
            return
    if reasons:
        raise NotYetError("; ".join(reasons))


def _controllers(context: Context) -> list[facts.Instance]:
    heads = slurm.controllers(context)
    if not heads:
        raise NotYetError(
            f"no instance in the groups {', '.join(context.node.controller_groups) or '(none)'}"
        )
    return heads


def _running(context: Context) -> None:
    if not context.root.path(slurm.CONF_CACHE).is_file():
        raise NotYetError(f"no {slurm.CONF_CACHE} yet")
    if not units.is_active(context, "slurmd"):
        raise NotYetError("slurmd is not active")


def _fetched(context: Context) -> None:
    if context.root.path(slurm.CONF_CACHE).is_file():
        return
    if not units.is_active(context, "slurmd"):
        context.commands.run("systemctl", "start", "--no-block", "slurmd", accept=(0, 1))
    raise NotYetError(f"no {slurm.CONF_CACHE} yet")
