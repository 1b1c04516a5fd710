"""Accounts, shares and limits that the deployment declares, brought to the accounting database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hyperpod_node import slurm
from hyperpod_node.accounting import ADVICE
from hyperpod_node.accounting.declared import Account, Association, Declared, Qos
from hyperpod_node.clock import wait_for
from hyperpod_node.context import Context
from hyperpod_node.errors import NodeError, NotYetError, StepSkippedError

if TYPE_CHECKING:
    from hyperpod_node.accounting.records import Records

DATABASE_LIMIT_SECONDS = 300
TRES_LIMIT_SECONDS = 120
# what every database knows; slurmctld adds those of AccountingStorageTRES when it registers
KNOWN_TRES = frozenset({"cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages"})


def reconcile_accounts(context: Context) -> str:
    """Show how the database differs from what is declared, and put it right."""
    from hyperpod_node.accounting.reconcile import reconcile  # noqa: PLC0415 (a tenth of all imports)

    cluster = slurm.settings(context.root).get("clustername", "").lower()
    if not cluster:
        raise NodeError(f"{slurm.CONF} has no ClusterName", advice=ADVICE)
    declared = context.config.accounting
    records = wait_for(
        lambda: _registered(context, cluster),
        what=f"cluster {cluster} in the accounting database",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=DATABASE_LIMIT_SECONDS,
        advice=ADVICE,
        longest_pause_seconds=1.0,
    )
    wait_for(
        lambda: _tres_known(context, tres_of(declared)),
        what="the kinds of resources that limits are set on",
        deadline=context.deadline,
        say=context.say,
        limit_seconds=TRES_LIMIT_SECONDS,
        advice="AccountingStorageTRES in slurm.conf has to name them: slurmctld then adds them",
        longest_pause_seconds=1.0,
    )
    return reconcile(context.commands, declared, cluster, say=context.say, records=records).summary


def tres_of(declared: Declared) -> frozenset[str]:
    """The kinds of resources that anything declared sets a limit on."""
    parts: tuple[Qos | Account | Association, ...] = (
        *declared.qos,
        *declared.accounts,
        *declared.associations,
    )
    return frozenset(
        name for part in parts for value in part.values.values() if isinstance(value, dict) for name in value
    )


def purge_settings(context: Context) -> str:
    """Have slurmdbd.conf of the service's own set-up purge what is declared; nothing else of it changes."""
    text = context.root.read(slurm.SLURMDBD_CONF)
    if not text:
        raise StepSkippedError(f"no {slurm.SLURMDBD_CONF} here")
    wanted = context.config.accounting.purge
    names = {name.lower() for name in wanted}
    kept = [line for line in text.splitlines() if line.partition("=")[0].strip().lower() not in names]
    new = "".join(f"{line}\n" for line in (*kept, *(f"{name}={value}" for name, value in wanted.items())))
    path = context.root.path(slurm.SLURMDBD_CONF)
    about = path.stat()
    if not context.root.write(slurm.SLURMDBD_CONF, new, mode=about.st_mode & 0o7777):
        return "slurmdbd.conf purges as declared"
    context.root.own(path, about.st_uid, about.st_gid)
    # slurmdbd reads it again on this signal; it is never stopped, jobs report to it
    context.commands.run("systemctl", "kill", "--signal=HUP", "slurmdbd", advice=ADVICE)
    return f"slurmdbd purges: {', '.join(f'{name}={value}' for name, value in wanted.items())}"


def _registered(context: Context, cluster: str) -> Records:
    from hyperpod_node.accounting.records import read_records  # noqa: PLC0415

    try:
        records = read_records(context.commands, cluster)
    except NodeError as error:
        if not error.command:
            # it answers, but with what is not understood: that does not get better
            raise
        raise NotYetError(error.last_lines[-1] if error.last_lines else error.message) from error
    if not records.registered:
        raise NotYetError("it is not recorded yet")
    return records


def _tres_known(context: Context, names: frozenset[str]) -> None:
    if names <= KNOWN_TRES:
        return
    done = context.commands.run("sacctmgr", "--noheader", "--parsable2", "show", "tres", "format=type,name")
    found = {"/".join(filter(None, line.split("|"))) for line in done.lines}
    missing = names - found
    if missing:
        raise NotYetError(f"the database does not know {', '.join(sorted(missing))}")
