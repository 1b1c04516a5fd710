"""Brings what is declared to the accounting database, shows the difference first, and looks again after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from hyperpod_node.accounting.batches import Batch, batches
from hyperpod_node.accounting.declared import Declared
from hyperpod_node.accounting.plan import Change, Command, plan
from hyperpod_node.accounting.records import Records, read_records
from hyperpod_node.commands import Commands
from hyperpod_node.errors import NodeError

# said with exit code 1 when somebody else was faster
ALREADY = ("already exists", "Nothing new added", "Nothing modified")
ADVICE = (
    "compare the declared accounts with `sacctmgr show assoc tree` on the controller; "
    "what was put right before stays so, and running this again goes on"
)


class Reconciliation(NamedTuple):
    """How it went.

    Args:
        changed: what was, or would be, put right.
        left: what is not declared, and left as it is.
    """

    changed: tuple[Change, ...]
    left: tuple[Change, ...]

    @property
    def summary(self) -> str:
        """In a line."""
        aside = f", {len(self.left)} not declared and left as they are" if self.left else ""
        return f"{len(self.changed)} differences{aside}"


def look(
    commands: Commands, declared: Declared, cluster: str, records: Records | None = None
) -> Reconciliation:
    """What differs; nothing is changed.

    Args:
        commands: starts sacctmgr.
        declared: how it shall be.
        cluster: its name in Slurm.
        records: how it is; read now unless given.
    """
    found = plan(declared, records or read_records(commands, cluster), cluster)
    return Reconciliation(
        changed=tuple(change for change in found if change.commands),
        left=tuple(change for change in found if not change.commands),
    )


def reconcile(
    commands: Commands,
    declared: Declared,
    cluster: str,
    *,
    say: Callable[[str], None],
    records: Records | None = None,
) -> Reconciliation:
    """Show what differs, put it right, and look whether it is.

    Args:
        commands: starts sacctmgr.
        declared: how it shall be.
        cluster: its name in Slurm.
        say: told every difference.
        records: how it is; read now unless given.

    Raises:
        NodeError: something could not be put right.
    """
    found = look(commands, declared, cluster, records)
    for change in (*found.changed, *found.left):
        say(change.line)
    for batch in batches([command for change in found.changed for command in change.commands]):
        _apply(commands, batch)
    remaining = look(commands, declared, cluster).changed if found.changed else ()
    if remaining:
        # sacctmgr may refuse something and still end with exit code 0
        raise NodeError(
            f"{len(remaining)} differences stay: {'; '.join(change.line for change in remaining)}",
            advice=ADVICE,
        )
    return found


def _apply(commands: Commands, batch: Batch) -> None:
    try:
        _run(commands, batch.together)
    except NodeError:
        if len(batch.singles) == 1:
            raise
        # one name spoils it for all: the others get theirs, and the error is of that one
        _run_each(commands, batch.singles)


def _run_each(commands: Commands, singles: Sequence[Command]) -> None:
    errors = []
    for command in singles:
        try:
            _run(commands, command)
        except NodeError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def _run(commands: Commands, command: Command) -> None:
    done = commands.run("sacctmgr", "--immediate", *command, accept=(0, 1))
    if done.exit_code and not any(text in done.text for text in ALREADY):
        raise done.error(advice=ADVICE)
