"""What the accounting database has, read with sacctmgr."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from hyperpod_node.accounting.declared import ROOT
from hyperpod_node.accounting.options import ASSOCIATION, QOS, SHOWN, Kind, Values, read
from hyperpod_node.commands import Commands
from hyperpod_node.errors import NodeError
from hyperpod_node.side_by_side import side_by_side

ASSOCIATION_COLUMNS = ("Account", "User", "Partition", "ParentName")
QOS_COLUMNS = ("Name", "Description")
ACCOUNT_COLUMNS = ("Account", "Description", "Organization")
USER_COLUMNS = ("User", "DefaultAccount", "AdminLevel")


class AccountRecord(NamedTuple):
    """An account of the cluster."""

    parent: str
    description: str
    organization: str
    values: Values


class Records(NamedTuple):
    """Everything that is compared.

    Args:
        qos: description and values by name.
        accounts: by name; those of this cluster.
        associations: values by user, account and partition.
        users: default account and admin level by name.
    """

    qos: Mapping[str, tuple[str, Values]] = MappingProxyType({})
    accounts: Mapping[str, AccountRecord] = MappingProxyType({})
    associations: Mapping[tuple[str, str, str], Values] = MappingProxyType({})
    users: Mapping[str, tuple[str, str]] = MappingProxyType({})

    @property
    def registered(self) -> bool:
        """Whether the database knows the cluster: each has an account `root` from its first moment."""
        return ROOT in self.accounts


def read_records(commands: Commands, cluster: str) -> Records:
    """Ask sacctmgr for all of it.

    All at once, since each answer takes 0.18 s, in which hardly anybody works (measured).

    Raises:
        NodeError: slurmdbd does not answer, or prints something that is not understood.
    """
    of_cluster = f"cluster={cluster}"
    # wopl: only what is set here, without what the parents' limits make of it
    associations, qos, accounts, users = side_by_side(
        [
            partial(_show, commands, ("assoc", "wopl", of_cluster), ASSOCIATION_COLUMNS, ASSOCIATION),
            partial(_show, commands, ("qos",), QOS_COLUMNS, QOS),
            partial(_show, commands, ("account",), ACCOUNT_COLUMNS, {}),
            partial(_show, commands, ("user",), USER_COLUMNS, {}),
        ]
    )
    about = {row["Account"]: row for row in accounts}
    return Records(
        qos={row["Name"]: (row["Description"], read(QOS, row)) for row in qos},
        accounts={
            row["Account"]: AccountRecord(
                parent=row["ParentName"],
                description=about.get(row["Account"], {}).get("Description", ""),
                organization=about.get(row["Account"], {}).get("Organization", ""),
                values=read(ASSOCIATION, row),
            )
            for row in associations
            if not row["User"]
        },
        associations={
            (row["User"], row["Account"], row["Partition"]): read(ASSOCIATION, row)
            for row in associations
            if row["User"]
        },
        users={row["User"]: (row["DefaultAccount"], row["AdminLevel"]) for row in users},
    )


def _show(
    commands: Commands, what: Sequence[str], columns: Sequence[str], options: Mapping[str, Kind]
) -> list[dict[str, str]]:
    names = (*columns, *options)
    shown = ",".join(SHOWN.get(name, name) for name in names)
    done = commands.run("sacctmgr", "--noheader", "--parsable2", "show", *what, f"format={shown}")
    return rows(done.lines, names)


def rows(lines: Sequence[str], names: Sequence[str]) -> list[dict[str, str]]:
    """Rows of `--parsable2`, each with a cell for each name.

    Raises:
        NodeError: a row has another number of cells.
    """
    found = []
    for line in lines:
        # what sacctmgr says on standard error comes with the rest
        if not line or line.startswith("sacctmgr:"):
            continue
        cells = line.split("|")
        if len(cells) != len(names):
            raise NodeError(f"sacctmgr printed {len(cells)} columns instead of {len(names)}: {line}")
        found.append(dict(zip(names, cells, strict=True)))
    return found
