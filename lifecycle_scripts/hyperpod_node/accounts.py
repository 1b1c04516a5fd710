"""The machine's own users and groups, read from /etc/passwd and /etc/group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hyperpod_node.root import Root


class Account(NamedTuple):
    """A line of /etc/passwd."""

    name: str
    uid: int
    gid: int
    home: str
    shell: str = ""


class UnixGroup(NamedTuple):
    """A line of /etc/group."""

    name: str
    gid: int
    members: tuple[str, ...]


def accounts(root: Root) -> tuple[Account, ...]:
    """Every local user."""
    return tuple(_accounts(root.read("/etc/passwd").splitlines()))


def account(root: Root, name: str) -> Account | None:
    """A local user by name."""
    lines = root.read("/etc/passwd").splitlines()
    return next(_accounts(line for line in lines if line.startswith(f"{name}:")), None)


def _accounts(lines: Iterable[str]) -> Iterator[Account]:
    for row in (line.split(":") for line in lines):
        if len(row) == 7:
            yield Account(name=row[0], uid=int(row[2]), gid=int(row[3]), home=row[5], shell=row[6])


def groups(root: Root) -> tuple[UnixGroup, ...]:
    """Every local group."""
    rows = [line.split(":") for line in root.read("/etc/group").splitlines()]
    return tuple(
        UnixGroup(name=row[0], gid=int(row[2]), members=tuple(filter(None, row[3].split(","))))
        for row in rows
        if len(row) == 4
    )
