"""What config.json declares of accounting, as typed data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from hyperpod_node.accounting.options import ASSOCIATION, QOS, Kind, Values, complete
from hyperpod_node.errors import NodeError
from hyperpod_node.reading import Reader

ROOT = "root"


class Database(NamedTuple):
    """An external database.

    Args:
        endpoint: host name.
        port: 3306 unless said otherwise.
        name: the schema's name; empty for the default.
        secret_arn: Secrets Manager secret with user name and password.
    """

    endpoint: str
    secret_arn: str
    port: int = 3306
    name: str = ""


class Qos(NamedTuple):
    """A quality of service with the value of every option."""

    name: str
    description: str
    values: Values


class Account(NamedTuple):
    """An account with the value of every option."""

    name: str
    parent: str
    description: str
    organization: str
    values: Values


class Association(NamedTuple):
    """A user in an account, perhaps for one partition only."""

    user: str
    account: str
    partition: str
    values: Values

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from others."""
        return self.user, self.account, self.partition


class AccountUser(NamedTuple):
    """What holds for a user in all accounts."""

    name: str
    default_account: str
    admin_level: str


class Declared(NamedTuple):
    """The whole of it.

    Args:
        qos: qualities of service.
        accounts: parents before their children.
        associations: users in accounts.
        users: the users of the associations.
        removed_users: users who may submit nothing any more.
        unlisted: `keep` or `close` what the database has beyond this.
        purge: settings of slurmdbd.conf.
        database: None for MariaDB on the controller.
    """

    qos: tuple[Qos, ...] = ()
    accounts: tuple[Account, ...] = ()
    associations: tuple[Association, ...] = ()
    users: tuple[AccountUser, ...] = ()
    removed_users: tuple[str, ...] = ()
    unlisted: str = "keep"
    purge: Mapping[str, str] = MappingProxyType({})
    database: Database | None = None

    @property
    def anything(self) -> bool:
        """Whether there is something to bring to the database."""
        return bool(self.qos or self.accounts or self.associations or self.removed_users)


def parse(document: Reader) -> Declared:
    """The `accounting` member of config.json; null reads as nothing declared."""
    if document.value is None:
        return Declared()
    return Declared(
        qos=tuple(_qos(entry) for entry in document.get("qos").items()),
        accounts=tuple(_ordered([_account(entry) for entry in document.get("accounts").items()], document)),
        associations=tuple(_association(entry) for entry in document.get("associations").items()),
        users=tuple(_user(entry) for entry in document.get("users").items()),
        removed_users=tuple(entry.text() for entry in document.get("removed_users").items()),
        unlisted=document.get("unlisted").text("keep"),
        purge={name: value.text() for name, value in document.get("purge").members()},
        database=_database(document.get("database")),
    )


def _database(entry: Reader) -> Database | None:
    if entry.value is None:
        return None
    port = entry.get("port")
    return Database(
        endpoint=entry.get("endpoint").text(),
        secret_arn=entry.get("secret_arn").text(),
        port=3306 if port.value is None else port.number(lowest=1, highest=65535),
        name=entry.get("name").text(""),
    )


def _options(entry: Reader, known: Mapping[str, Kind]) -> Values:
    given: dict[str, Any] = {}
    for name, value in entry.members():
        if name not in known:
            raise NodeError(f"{value.where}: no such option; known are {', '.join(known)}")
        given[name] = value.value
    try:
        return complete(known, given)
    except (TypeError, ValueError) as error:
        raise NodeError(f"{entry.where}: {error}") from error


def _qos(entry: Reader) -> Qos:
    name = entry.get("name").text()
    return Qos(
        name=name,
        description=entry.get("description").text(name),
        values=_options(entry.get("options"), QOS),
    )


def _account(entry: Reader) -> Account:
    name, parent = entry.get("name").text(), entry.get("parent").text(ROOT)
    return Account(
        name=name,
        parent=parent,
        description=entry.get("description").text(name),
        organization=entry.get("organization").text(parent),
        values=_options(entry.get("options"), ASSOCIATION),
    )


def _association(entry: Reader) -> Association:
    return Association(
        user=entry.get("user").text(),
        account=entry.get("account").text(),
        partition=entry.get("partition").text(""),
        values=_options(entry.get("options"), ASSOCIATION),
    )


def _user(entry: Reader) -> AccountUser:
    return AccountUser(
        name=entry.get("name").text(),
        default_account=entry.get("default_account").text(),
        admin_level=entry.get("admin_level").text("None"),
    )


def _ordered(accounts: Sequence[Account], document: Reader) -> Iterator[Account]:
    """Accounts behind their parents, however they were declared."""
    left = {account.name: account for account in accounts}
    while left:
        ready = [account for account in left.values() if account.parent not in left]
        if not ready:
            raise NodeError(f"{document.where}.accounts: {', '.join(left)} are each other's parents")
        for account in ready:
            yield left.pop(account.name)
