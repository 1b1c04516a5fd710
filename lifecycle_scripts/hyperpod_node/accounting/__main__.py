"""Accounts, shares and limits as declared: hyperpod-accounting plan|apply [--config FILE].

Exit codes: 0 the database is as declared, 1 it could not be brought there, 2 it could not be looked at,
3 (plan) it differs.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from hyperpod_node import config, slurm
from hyperpod_node.accounting.reconcile import look, reconcile
from hyperpod_node.accounting.records import read_records
from hyperpod_node.clock import Clock, Deadline
from hyperpod_node.commands import Commands, command_environment
from hyperpod_node.errors import NodeError
from hyperpod_node.log import Log
from hyperpod_node.reading import Reader
from hyperpod_node.root import Root

LIMIT_SECONDS = 600.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Show how the database differs from what is declared, and put it right if asked to."""
    parser = argparse.ArgumentParser(prog="hyperpod-accounting", description=__doc__)
    parser.add_argument("what", choices=("plan", "apply"))
    parser.add_argument(
        "--config", default="config.json", help="a config.json; the one of the scripts by default"
    )
    given = parser.parse_args(arguments)
    root = Root.from_environment(os.environ)
    clock = Clock()
    commands = Commands(
        clock=clock,
        deadline=Deadline.after(clock, LIMIT_SECONDS),
        environment=command_environment(os.environ, root),
        log=Log(root, io.StringIO(), to_file=given.what == "apply"),
        step="accounts",
    )
    try:
        text = Path(given.config).read_text(encoding="utf-8")
        declared = config.parse(Reader.parse(text, given.config)).accounting
        cluster = slurm.settings(root).get("clustername", "").lower()
        records = read_records(commands, cluster)
        found = look(commands, declared, cluster, records)
    except (NodeError, OSError) as error:
        return _failed(error, 2)
    if given.what == "plan":
        for change in (*found.changed, *found.left):
            print(change.line)
        print(found.summary)
        return 3 if found.changed else 0
    try:
        print(reconcile(commands, declared, cluster, say=print, records=records).summary)
    except NodeError as error:
        return _failed(error, 1)
    return 0


def _failed(error: Exception, code: int) -> int:
    print(error, file=sys.stderr)
    if isinstance(error, NodeError) and error.advice:
        print(f"what to do: {error.advice}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
