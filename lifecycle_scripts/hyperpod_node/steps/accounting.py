"""Slurm's accounting where its start is ours: database, slurmdbd, the cluster's record, before slurmctld."""

from __future__ import annotations

import re
import secrets
import socket
from functools import partial

from hyperpod_node import slurm, units
from hyperpod_node.accounting.declared import Database
from hyperpod_node.accounts import account
from hyperpod_node.aws import read_secret
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError, StepSkippedError
from hyperpod_node.side_by_side import side_by_side

DAEMON_LIMIT_SECONDS = 180
# a managed database that fails over or is patched is away for some minutes
EXTERNAL_LIMIT_SECONDS = 600
DATABASE = "slurm_acct_db"
DATABASE_USER = "slurm"
# slurmdbd.conf takes a `#` for a comment and blanks and quotes for its own (field report 113)
NOT_IN_A_PASSWORD = frozenset("#\"'\\ \t\r\n")
# At boot the database may come later, or be away: a slurmdbd that gave up would take slurmctld with it.
DROP_IN = "/etc/systemd/system/slurmdbd.service.d/hyperpod-cdk.conf"
AGAIN = (
    "[Unit]\nAfter=mariadb.service mysql.service network-online.target\nStartLimitIntervalSec=0\n\n"
    "[Service]\nRestart=on-failure\nRestartSec=5\n"
)
DAEMON_ADVICE = "see /var/log/slurm/slurmdbd.log on this node and `journalctl -u slurmdbd -u mariadb`"
EXTERNAL_ADVICE = (
    "see whether the database runs, and whether its security group lets the controller's in on its port"
)


def set_up_accounting(context: Context) -> str:
    """Have slurmdbd answer and the cluster recorded, all before slurmctld starts for the first time.

    A slurmctld that ran without accounting and then meets a database ends in "CLUSTER ID MISMATCH" (field
    report 112).
    """
    database = external_database(context)
    storage = _external(context, database) if database else _local(context)
    changed = _write_slurmdbd_conf(context, storage)
    _write_accounting_conf(context)
    if context.root.write(DROP_IN, AGAIN):
        units.read_again(context, {"slurmdbd": DROP_IN})
    context.commands.run("systemctl", "restart" if changed else "start", "slurmdbd", advice=DAEMON_ADVICE)
    # Where the distribution brings an init script, enabling takes a second, which slurmdbd needs as well.
    at_boot = partial(_enable, context, *(() if database else ("mariadb",)))
    name, _ = side_by_side([partial(record_cluster, context), at_boot])
    return f"slurmdbd on {storage['StorageHost']} answers, cluster {name or '(unnamed)'} recorded"


def _enable(context: Context, *databases: str) -> str:
    for unit in (*databases, "slurmdbd"):
        units.enable(context, unit)
    return ""


def external_database(context: Context) -> Database | None:
    """The database that the deployment names, or that several controllers share; None for our own."""
    shared = context.node.multi_head
    if shared is not None:
        return Database(endpoint=shared.database_endpoint, secret_arn=shared.database_secret_arn)
    return context.config.accounting.database


def record_cluster(context: Context) -> str:
    """Wait until slurmdbd answers, and have this cluster in its database."""
    with slurm.own_words(context.root, "slurmdbd"):
        clusters = wait_for(
            lambda: _clusters(context),
            what="slurmdbd",
            deadline=context.deadline,
            say=context.say,
            limit_seconds=DAEMON_LIMIT_SECONDS,
            advice=DAEMON_ADVICE,
            longest_pause_seconds=0.5,
        )
    name = slurm.settings(context.root).get("clustername", "")
    # sacctmgr keeps names in lower case
    if name and name.lower() not in clusters:
        done = context.commands.run("sacctmgr", "--immediate", "add", "cluster", name, accept=(0, 1))
        # another controller may have been faster (field report 115)
        if done.exit_code and "already exists" not in done.text:
            raise done.error(advice=DAEMON_ADVICE)
    return name


def _external(context: Context, database: Database) -> dict[str, str]:
    secret = read_secret(context, database.secret_arn)
    shared = context.node.multi_head
    user = secret.get("username") or (shared.database_user if shared else "")
    password = secret.get("password", "")
    missing = [name for name, value in (("username", user), ("password", password)) if not value]
    if missing:
        raise NodeError(
            f"secret {database.secret_arn} has no {' and no '.join(missing)}",
            advice="store the database's login as the keys username and password, as RDS itself does",
        )
    if NOT_IN_A_PASSWORD & set(password + user):
        raise NodeError(
            f"the login in secret {database.secret_arn} has a character that slurmdbd.conf can not hold: "
            "one of # \" ' \\ or a blank",
            advice="give the database's user another password, without these characters",
        )
    wait_for(
        lambda: _reach(database),
        what=f"the database {database.endpoint}:{database.port}",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=EXTERNAL_LIMIT_SECONDS,
        advice=EXTERNAL_ADVICE,
    )
    return {
        "StorageHost": database.endpoint,
        "StoragePort": str(database.port),
        "StorageUser": user,
        "StoragePass": password,
        "StorageLoc": database.name or _schema_name(context),
    }


def _schema_name(context: Context) -> str:
    """As the service names it: clusters may share a database server."""
    if context.node.multi_head is not None:
        return DATABASE
    return f"{DATABASE}_{context.node.cluster.arn.rpartition('/')[2]}"


def _reach(database: Database) -> None:
    try:
        socket.create_connection((database.endpoint, database.port), timeout=5).close()
    except OSError as error:
        raise NotYetError(str(error)) from error


def _local(context: Context) -> dict[str, str]:
    client = next((name for name in ("mariadb", "mysql") if context.commands.available(name)), None)
    if client is None:
        raise StepSkippedError("no MariaDB on this image: Slurm runs without accounting")
    password = _password(context)
    units.start(context, "mariadb")
    wait_for(
        lambda: _sql(context, client, password),
        what="MariaDB",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=DAEMON_LIMIT_SECONDS,
        advice=DAEMON_ADVICE,
        longest_pause_seconds=0.5,
    )
    return {
        "StorageHost": "localhost",
        "StorageUser": DATABASE_USER,
        "StoragePass": password,
        "StorageLoc": DATABASE,
    }


def _password(context: Context) -> str:
    # hexadecimal: a `#` or a quote would break slurmdbd.conf or SQL (field report 113)
    present = slurm.settings(context.root, slurm.SLURMDBD_CONF)
    kept = present.get("storagepass", "") if present.get("storagehost") == "localhost" else ""
    return kept if kept.isalnum() else secrets.token_hex(24)


def _write_slurmdbd_conf(context: Context, storage: dict[str, str]) -> bool:
    head = slurm.settings(context.root).get("slurmctldhost", "localhost").partition("(")[0]
    owner = account(context.root, "slurm")
    values = {
        "AuthType": "auth/munge",
        "DbdHost": head if context.node.multi_head is None else "localhost",
        "DbdPort": slurm.DATABASE_PORT,
        "SlurmUser": "slurm" if owner else "root",
        "LogFile": "/var/log/slurm/slurmdbd.log",
        "PidFile": "/run/slurmdbd.pid",
        "StorageType": "accounting_storage/mysql",
        **storage,
        **context.config.accounting.purge,
    }
    text = "".join(f"{name}={value}\n" for name, value in values.items())
    # made with this mode, so that at no moment another user can read the password
    changed = context.root.write(slurm.SLURMDBD_CONF, text, mode=0o600)
    if owner:
        context.root.own(context.root.path(slurm.SLURMDBD_CONF), owner.uid, owner.gid)
    return changed


def _write_accounting_conf(context: Context) -> None:
    """Write accounting.conf and have slurm.conf include it; nothing else of slurm.conf is touched."""
    present = slurm.settings(context.root)
    wanted = {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        **_hosts(context),
        "AccountingStoragePort": str(slurm.DATABASE_PORT),
        "JobAcctGatherType": "jobacct_gather/linux",
        "JobAcctGatherFrequency": "30",
    }
    if "gpu" in present.get("grestypes", "").split(","):
        wanted["AccountingStorageTRES"] = "gres/gpu"
    lines = [f"{name}={value}\n" for name, value in wanted.items() if name.lower() not in present]
    context.root.write(slurm.ACCOUNTING_CONF, "".join(lines))
    slurm.ensure_include(context, slurm.ACCOUNTING_CONF)


def _hosts(context: Context) -> dict[str, str]:
    """Where slurmdbd is asked: several controllers share one accounting.conf, so that all write the same."""
    if context.node.multi_head is None:
        return {"AccountingStorageHost": context.node.instance.address}
    names = ("AccountingStorageHost", "AccountingStorageBackupHost")
    return dict(zip(names, (head.address for head in slurm.controllers(context)), strict=False))


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
        # the number alone of the client's own words, which may repeat a statement
        number = re.search(r"ERROR \d+(?: \(\w+\))?", "\n".join(error.last_lines))
        raise NotYetError(f"{client} ended with {number[0] if number else 'an error'}") from error


def _clusters(context: Context) -> list[str]:
    command = ("sacctmgr", "--noheader", "--parsable2", "show", "cluster", "format=cluster")
    try:
        return [line.lower() for line in context.commands.run(*command).lines]
    except NodeError as error:
        raise NotYetError(error.message) from error
