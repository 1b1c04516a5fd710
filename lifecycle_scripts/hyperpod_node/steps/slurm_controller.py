"""Starts Slurm on the controller: its configuration, then accounting, then slurmctld, in this order."""

from __future__ import annotations

import re
import secrets

from hyperpod_node import slurm
from hyperpod_node.accounts import account
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError, StepSkippedError

# The service's agent writes slurm.conf meanwhile; peers give it 60 s and then go on without.
CONF_LIMIT_SECONDS = 600
DAEMON_LIMIT_SECONDS = 180
DATABASE = "slurm_acct_db"
DATABASE_USER = "slurm"
CONF_ADVICE = "see `journalctl -u sagemaker-cluster-agent` on the controller: the service writes slurm.conf"
DAEMON_ADVICE = "see /var/log/slurm on this node and `journalctl -u slurmctld -u slurmdbd -u mariadb`"
INCLUDE = "Include accounting.conf"


def wait_for_configuration(context: Context) -> str:
    """Wait until slurm.conf names this node."""
    if context.node.multi_head:
        raise NodeError(
            "slurm_configurations asks for several controllers, which these scripts do not set up",
            advice="use one controller and leave slurm_configurations out",
        )
    address = context.node.instance.address

    def named() -> None:
        # a whole address, not the beginning of a longer one
        if not re.search(rf"(?<![\d.]){re.escape(address)}(?![\d.])", context.root.read(slurm.CONF)):
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


def set_up_accounting(context: Context) -> str:
    """Have MariaDB, slurmdbd and the cluster's record, all before slurmctld starts for the first time.

    A slurmctld that ran without accounting and then meets a database ends in "CLUSTER ID MISMATCH" (field
    report 112).
    """
    client = next((name for name in ("mariadb", "mysql") if context.commands.available(name)), None)
    if client is None:
        raise StepSkippedError("no MariaDB on this image: Slurm runs without accounting")
    password = _password(context)
    changed = _write_slurmdbd_conf(context, password)
    context.commands.run("systemctl", "enable", "--now", "mariadb", timeout_seconds=120, advice=DAEMON_ADVICE)
    wait_for(
        lambda: _sql(context, client, password),
        what="MariaDB",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=DAEMON_LIMIT_SECONDS,
        advice=DAEMON_ADVICE,
    )
    _write_accounting_conf(context)
    context.commands.run("systemctl", "enable", "slurmdbd")
    context.commands.run("systemctl", "restart" if changed else "start", "slurmdbd", advice=DAEMON_ADVICE)
    clusters = wait_for(
        lambda: _clusters(context),
        what="slurmdbd",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=DAEMON_LIMIT_SECONDS,
        advice=DAEMON_ADVICE,
    )
    name = slurm.settings(context.root).get("clustername", "")
    if name and name not in clusters:
        context.commands.run("sacctmgr", "--immediate", "add", "cluster", name)
    return f"slurmdbd on {DATABASE} answers, cluster {name or '(unnamed)'} recorded"


def start_controller(context: Context) -> str:
    """Start slurmctld, never restart it, and wait until it answers."""
    context.commands.run("systemctl", "disable", "slurmd", accept=(0, 1))
    context.commands.run("systemctl", "enable", "slurmctld")
    context.commands.run("systemctl", "start", "slurmctld", advice=DAEMON_ADVICE)
    wait_for(
        lambda: _ping(context),
        what="slurmctld",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=DAEMON_LIMIT_SECONDS,
        advice=DAEMON_ADVICE,
    )
    return "slurmctld answers"


def _password(context: Context) -> str:
    # hexadecimal: a `#` or a quote would break slurmdbd.conf or SQL (field report 113)
    present = slurm.settings(context.root, slurm.SLURMDBD_CONF).get("storagepass")
    return present if present and present.isalnum() else secrets.token_hex(24)


def _write_slurmdbd_conf(context: Context, password: str) -> bool:
    head = slurm.settings(context.root).get("slurmctldhost", "localhost").partition("(")[0]
    owner = account(context.root, "slurm")
    values = {
        "AuthType": "auth/munge",
        "DbdHost": head,
        "DbdPort": slurm.DATABASE_PORT,
        "SlurmUser": "slurm" if owner else "root",
        "LogFile": "/var/log/slurm/slurmdbd.log",
        "PidFile": "/run/slurmdbd.pid",
        "StorageType": "accounting_storage/mysql",
        "StorageHost": "localhost",
        "StorageUser": DATABASE_USER,
        "StoragePass": password,
        "StorageLoc": DATABASE,
    }
    text = "".join(f"{name}={value}\n" for name, value in values.items())
    changed = context.root.write(slurm.SLURMDBD_CONF, text, mode=0o600)
    if owner:
        context.root.own(context.root.path(slurm.SLURMDBD_CONF), owner.uid, owner.gid)
    return changed


def _write_accounting_conf(context: Context) -> None:
    """Write accounting.conf and have slurm.conf include it; nothing else of slurm.conf is touched."""
    present = slurm.settings(context.root)
    wanted = {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": context.node.instance.address,
        "AccountingStoragePort": str(slurm.DATABASE_PORT),
        "JobAcctGatherType": "jobacct_gather/linux",
        "JobAcctGatherFrequency": "30",
    }
    if "gpu" in present.get("grestypes", "").split(","):
        wanted["AccountingStorageTRES"] = "gres/gpu"
    lines = [f"{name}={value}\n" for name, value in wanted.items() if name.lower() not in present]
    context.root.write(slurm.ACCOUNTING_CONF, "".join(lines))
    text = context.root.read(slurm.CONF)
    if not re.search(r"^\s*include\s+\S*accounting\.conf\s*$", text, re.IGNORECASE | re.MULTILINE):
        with context.root.path(slurm.CONF).open("a", encoding="utf-8") as stream:
            stream.write(("" if text.endswith("\n") else "\n") + INCLUDE + "\n")


def _sql(context: Context, client: str, password: str) -> None:
    # on standard input, so that the password is in no log and no list of processes
    statements = (
        f"CREATE DATABASE IF NOT EXISTS {DATABASE};",
        f"CREATE USER IF NOT EXISTS '{DATABASE_USER}'@'localhost';",
        f"ALTER USER '{DATABASE_USER}'@'localhost' IDENTIFIED BY '{password}';",
        f"GRANT ALL ON {DATABASE}.* TO '{DATABASE_USER}'@'localhost';",
    )
    try:
        context.commands.run(client, "--batch", given="\n".join(statements) + "\n")
    except NodeError as error:
        raise NotYetError(f"{client} ended with an error") from error


def _clusters(context: Context) -> list[str]:
    command = ("sacctmgr", "--noheader", "--parsable2", "show", "cluster", "format=cluster")
    try:
        return list(context.commands.run(*command).lines)
    except NodeError as error:
        raise NotYetError(error.message) from error


def _ping(context: Context) -> None:
    done = context.commands.run("scontrol", "ping", accept=(0, 1))
    if not re.search(r"\bUP\b", done.text):
        raise NotYetError(done.text or "scontrol ping prints nothing")
