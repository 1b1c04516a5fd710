"""Slurm's accounting database, as sacctmgr shows and changes it."""

from collections.abc import Iterator, Mapping

from hyperpod_cdk.rehearsal.node_commands.machine import Answer, Call, Machine
from hyperpod_cdk.rehearsal.node_commands.services import is_active

Row = dict[str, str]
Table = dict[str, Row]
"""Rows by the text that names them."""

DEFAULTS: Row = {
    "Fairshare": "1",
    "Priority": "0",
    "UsageFactor": "1.000000",
    "PreemptMode": "cluster",
    "GraceTime": "00:00:00",
}
"""What a column shows of which nothing was said; the others show nothing."""
SECONDS_OF = {"GrpWall": 60, "MaxWall": 60, "GraceTime": 1}
"""Columns that show a time, by the unit in which it is given."""
SHOWN_AS = {"MaxTRESMins": "MaxTRESMinsPerJob"}
OWN_COLUMNS = {
    "parent": "ParentName",
    "description": "Description",
    "organization": "Organization",
    "defaultaccount": "DefaultAccount",
    "adminlevel": "AdminLevel",
}
"""What is set under another name than it is shown under."""
TRES = ("cpu|", "mem|", "node|", "billing|", "gres|gpu")
AWAY = "sacctmgr: error: slurm_persist_conn_open_without_init: failed to open"


def sacctmgr(machine: Machine, call: Call) -> Answer:
    """``sacctmgr show|add|modify`` of clusters, accounts, users, associations and qualities of service."""
    if not is_active(machine, "slurmdbd"):
        return 1, AWAY
    verb, kind, *rest = [word for word in call.arguments if not word.startswith("--")]
    if kind == "cluster":
        return _cluster(machine, verb, rest)
    if kind == "tres":
        return 0, "\n".join(TRES)
    tables = _tables(machine)
    if verb == "show":
        return 0, "\n".join(_shown(tables, kind, rest))
    texts = _assigned(rest)
    names = texts.pop("name").split(",")
    changed = [name for name in names if (_add if verb == "add" else _modify)(tables, kind, name, texts)]
    machine.remember("accounting", tables)
    return (0, "") if changed else (1, f" Nothing {'new added' if verb == 'add' else 'modified'}")


def _cluster(machine: Machine, verb: str, rest: list[str]) -> Answer:
    clusters = machine.texts("clusters")
    if verb == "show":
        return 0, "\n".join(clusters)
    if rest[-1] in clusters:
        return 1, f" This cluster {rest[-1]} already exists.  Not adding."
    machine.remember("clusters", [*clusters, rest[-1]])
    return 0, ""


def _tables(machine: Machine) -> dict[str, Table]:
    found = machine.recall("accounting", None)
    if isinstance(found, dict):
        return found
    root = {"Account": "root", "Description": "default root account", "Organization": "root"}
    return {
        "account": {"root": root} if machine.texts("clusters") else {},
        "user": {"root": {"User": "root", "DefaultAccount": "root", "AdminLevel": "Administrator"}},
        "assoc": {"|root|": {"Account": "root"}, "root|root|": {"Account": "root", "User": "root"}}
        if machine.texts("clusters")
        else {},
        "qos": {"normal": {"Name": "normal", "Description": "normal qos default"}},
    }


def _assigned(words: list[str]) -> Row:
    pairs = (word.partition("=") for word in words if "=" in word)
    return {name: text for name, _, text in pairs}


def _shown(tables: Mapping[str, Table], kind: str, rest: list[str]) -> Iterator[str]:
    columns = _assigned(rest)["format"].split(",")
    for row in tables[kind].values():
        yield "|".join(row.get(name, DEFAULTS.get(name, "")) for name in _full(columns))


def _full(columns: list[str]) -> list[str]:
    return [SHOWN_AS.get(name, name) for name in columns]


def _key(name: str, texts: Mapping[str, str]) -> str:
    return f"{name}|{texts['account']}|{texts.get('partition', '')}"


def _add(tables: dict[str, Table], kind: str, name: str, texts: Row) -> bool:
    if kind == "qos":
        row = {"Name": name, "Description": texts.get("description", name).lower()}
        return tables["qos"].setdefault(name, row) is row
    if kind == "account":
        return _add_account(tables, name, texts)
    key = _key(name, texts)
    if key in tables["assoc"]:
        return False
    row = {"User": name, "Account": texts["account"], "Partition": texts.get("partition", "")}
    tables["assoc"][key] = row
    known = {"User": name, "DefaultAccount": texts["account"], "AdminLevel": "None"}
    tables["user"].setdefault(name, known)
    return True


def _add_account(tables: dict[str, Table], name: str, texts: Row) -> bool:
    if name in tables["account"]:
        return False
    parent = texts.get("parent", "root")
    tables["account"][name] = {
        "Account": name,
        "Description": texts.get("description", name).lower(),
        "Organization": texts.get("organization", name if parent == "root" else parent).lower(),
    }
    tables["assoc"][f"|{name}|"] = {"Account": name, "ParentName": parent}
    return True


def _modify(tables: dict[str, Table], kind: str, name: str, texts: Row) -> bool:
    row = _meant(tables, kind, name, texts)
    if row is None:
        return False
    where = {"account", "cluster", "partition"}
    for option, text in texts.items():
        if option not in where:
            row[OWN_COLUMNS.get(option, option)] = _kept(option, text, row.get(option, ""))
    return True


def _meant(tables: dict[str, Table], kind: str, name: str, texts: Row) -> Row | None:
    if kind == "user" and "account" in texts:
        return tables["assoc"].get(_key(name, texts))
    if kind == "account" and not {"description", "organization"} & set(texts):
        return tables["assoc"].get(f"|{name}|")
    return tables[kind].get(name)


def _kept(option: str, text: str, before: str) -> str:
    """What is shown of an option afterwards."""
    if option in SECONDS_OF:
        return "" if text == "-1" else _clock(int(text) * SECONDS_OF[option])
    if "TRES" in option:
        parts = (part.partition("=") for part in [*before.split(","), *text.split(",")] if part)
        found = {name: amount for name, _, amount in parts}
        return ",".join(f"{name}={amount}" for name, amount in found.items() if amount != "-1")
    if option.lower() in ("description", "organization"):
        return text.lower()
    return "" if text == "-1" else text


def _clock(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    time = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{time}" if days else time
