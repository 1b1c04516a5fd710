"""The way from what the database has to what is declared: lines for people and commands for sacctmgr.

Nothing is ever deleted: jobs of the past belong to accounts, users and qualities of service.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from hyperpod_node.accounting.declared import ROOT, Account, AccountUser, Association, Declared, Qos
from hyperpod_node.accounting.options import ASSOCIATION, QOS, Kind, Values, changes, complete, told
from hyperpod_node.accounting.records import AccountRecord, Records

Command = tuple[str, ...]
NORMAL = "normal"
"""The quality of service that every Slurm database has."""
_NEW_ACCOUNT = AccountRecord(
    parent="", description="", organization="", values=complete(ASSOCIATION, {"QOS": ()})
)
_NEW_QOS = complete(QOS, {})


class Change(NamedTuple):
    """Something that differs.

    Args:
        line: what is different, for people; `+` is new, `~` changes, `.` is left as it is.
        commands: what puts it right; none for what is left alone.
    """

    line: str
    commands: tuple[Command, ...] = ()


def plan(declared: Declared, records: Records, cluster: str) -> list[Change]:
    """Everything that differs, in an order in which it can be put right.

    Args:
        declared: how it shall be.
        records: how it is.
        cluster: whose associations are meant; a database may serve several clusters.
    """
    return [
        *_new_qos(declared.qos, records),
        *_qos(declared.qos, records),
        *_accounts(declared.accounts, records, cluster),
        *_associations(declared, records, cluster),
        *_users(declared.users, records, cluster),
        *_unlisted(declared, records, cluster),
    ]


def _new_qos(declared: Sequence[Qos], records: Records) -> Iterator[Change]:
    # all of them before any is changed, since one may name another that it preempts
    for qos in declared:
        if qos.name not in records.qos:
            about = () if qos.description == qos.name else (f"description={qos.description}",)
            yield Change(line=f"+ qos {qos.name}", commands=(("add", "qos", f"name={qos.name}", *about),))


def _qos(declared: Sequence[Qos], records: Records) -> Iterator[Change]:
    for qos in declared:
        description, old = records.qos.get(qos.name, (qos.description, _NEW_QOS))
        new = changes(QOS, old, qos.values)
        if description != qos.description.lower():
            new["Description"] = qos.description
        if new and not (qos.name not in records.qos and set(new) == {"Description"}):
            yield Change(
                line=f"~ qos {qos.name}: {_difference(QOS, old, qos.values, new)}",
                commands=(_modify("qos", (f"name={qos.name}",), new),),
            )


def _accounts(declared: Sequence[Account], records: Records, cluster: str) -> Iterator[Change]:
    # new ones first, so that those of one parent are one command
    for account in declared:
        if account.name not in records.accounts:
            about = {"parent": account.parent, **_about(account, _NEW_ACCOUNT)}
            # sacctmgr describes what is new by its name unless told
            if about["description"] == account.name:
                del about["description"]
            texts = (f"{name}={text}" for name, text in about.items())
            command = ("add", "account", *_account_where(account.name, cluster), *texts)
            yield Change(line=f"+ account {account.name} below {account.parent}", commands=(command,))
    for account in declared:
        where = _account_where(account.name, cluster)
        old = records.accounts.get(account.name)
        if old is not None:
            yield from _moved(account, old, where)
        values = (old or _NEW_ACCOUNT).values
        yield from _values(f"account {account.name}", "account", where, values, account.values)


def _account_where(name: str, cluster: str) -> tuple[str, str]:
    return f"name={name}", f"cluster={cluster}"


def _about(account: Account, old: AccountRecord) -> dict[str, str]:
    # sacctmgr keeps both in lower case
    wanted = {"description": account.description, "organization": account.organization}
    return {name: text for name, text in wanted.items() if getattr(old, name) != text.lower()}


def _moved(account: Account, old: AccountRecord, where: Sequence[str]) -> Iterator[Change]:
    if old.parent != account.parent:
        yield Change(
            line=f"~ account {account.name}: below {account.parent} instead of {old.parent}",
            commands=(_modify("account", where, {"parent": account.parent}),),
        )
    about = _about(account, old)
    if about:
        words = ", ".join(f"{name} {text!r}" for name, text in about.items())
        # description and organization belong to the account in all clusters
        command = _modify("account", (f"name={account.name}",), about)
        yield Change(line=f"~ account {account.name}: {words}", commands=(command,))


def _associations(declared: Declared, records: Records, cluster: str) -> Iterator[Change]:
    defaults = {user.name: user.default_account for user in declared.users}
    new = [one for one in declared.associations if one.key not in records.associations]
    # The first account of a user becomes the default, which is why it comes first; and users of one account
    # stand together, so that they are one command.
    firsts: dict[str, Association] = {}
    for one in sorted(new, key=lambda one: _default_first(one, defaults)):
        firsts.setdefault(one.user, one)
    for one in sorted(new, key=lambda one: (one is not firsts[one.user], *_by_account(one))):
        partition = (f"partition={one.partition}",) if one.partition else ()
        named = (f"name={one.user}", f"account={one.account}", f"cluster={cluster}", *partition)
        yield Change(line=f"+ user {_name(one)}", commands=(("add", "user", *named),))
    for one in sorted(declared.associations, key=_by_account):
        old = records.associations.get(one.key, _NEW_ACCOUNT.values)
        where = _association_where(one.key, cluster)
        yield from _values(f"user {_name(one)}", "user", where, old, one.values)


def _default_first(one: Association, defaults: Mapping[str, str]) -> tuple[bool, str, str]:
    return one.account != defaults.get(one.user), one.account, one.partition


def _by_account(one: Association) -> tuple[str, str, str]:
    return one.account, one.partition, one.user


def _name(one: Association) -> str:
    return f"{one.user} in {one.account}" + (f" for partition {one.partition}" if one.partition else "")


def _association_where(key: tuple[str, str, str], cluster: str) -> Command:
    user, account, partition = key
    # an empty partition means the association for all of them, and no other
    return (f"name={user}", f"account={account}", f"cluster={cluster}", f"partition={partition}")


def _users(declared: Sequence[AccountUser], records: Records, cluster: str) -> Iterator[Change]:
    for user in declared:
        account, level = records.users.get(user.name, (user.default_account, "None"))
        if account != user.default_account:
            yield Change(
                line=f"~ user {user.name}: default account {user.default_account} instead of {account}",
                commands=(
                    _modify(
                        "user",
                        (f"name={user.name}", f"cluster={cluster}"),
                        {"defaultaccount": user.default_account},
                    ),
                ),
            )
        if level != user.admin_level:
            command = _modify("user", (f"name={user.name}",), {"adminlevel": user.admin_level})
            line = f"~ user {user.name}: admin level {user.admin_level} instead of {level}"
            yield Change(line=line, commands=(command,))


def _unlisted(declared: Declared, records: Records, cluster: str) -> Iterator[Change]:
    listed = {account.name for account in declared.accounts} | {ROOT}
    close = declared.unlisted == "close"
    for name, record in records.accounts.items():
        if name not in listed:
            where = (f"name={name}", f"cluster={cluster}")
            yield from _leave(
                f"account {name}", "account", where, "GrpSubmitJobs", record.values, close=close
            )
    keys = {one.key for one in declared.associations}
    for key, values in records.associations.items():
        user, account, partition = key
        if user == ROOT or key in keys:
            continue
        gone = user in declared.removed_users
        one = Association(user=user, account=account, partition=partition, values=values)
        yield from _leave(
            f"user {_name(one)}",
            "user",
            _association_where(key, cluster),
            "MaxSubmitJobs",
            values,
            close=gone or (close and account in listed),
        )
    known = {qos.name for qos in declared.qos} | {NORMAL}
    for name in records.qos:
        if name not in known:
            yield Change(line=f". qos {name} is not declared, and left as it is")


def _leave(
    what: str, kind: str, where: Sequence[str], limit: str, values: Values, *, close: bool
) -> Iterator[Change]:
    if values[limit] == 0:
        return
    if close:
        yield Change(
            line=f"~ {what} is not declared: takes no new job",
            commands=(_modify(kind, where, {limit: "0"}),),
        )
    else:
        yield Change(line=f". {what} is not declared, and left as it is")


def _values(what: str, kind: str, where: Sequence[str], old: Values, new: Values) -> Iterator[Change]:
    texts = changes(ASSOCIATION, old, new)
    if not texts:
        return
    line = f"~ {what}: {_difference(ASSOCIATION, old, new, texts)}"
    commands = []
    default = texts.pop("DefaultQOS", None)
    if "QOS" in texts and old["DefaultQOS"]:
        # sacctmgr takes a QOS away only from who does not have it as default, and says so with exit code 0
        commands.append(_modify(kind, where, {"DefaultQOS": "-1"}))
        default = new["DefaultQOS"] or None
    if texts:
        commands.append(_modify(kind, where, texts))
    if default is not None:
        commands.append(_modify(kind, where, {"DefaultQOS": default}))
    yield Change(line=line, commands=tuple(commands))


def _modify(kind: str, where: Sequence[str], texts: Mapping[str, str]) -> Command:
    return ("modify", kind, "where", *where, "set", *(f"{name}={text}" for name, text in texts.items()))


def _difference(options: Mapping[str, Kind], old: Values, new: Values, texts: Mapping[str, str]) -> str:
    return ", ".join(
        f"{name} {told(old[name])} -> {told(new[name])}" if name in options else f"{name} {text!r}"
        for name, text in texts.items()
    )
