"""slurmdbd on our own database and on another's, and what becomes of its password."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node.accounting import declared
from hyperpod_node.accounting.options import ASSOCIATION
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.reading import Reader
from hyperpod_node.steps import accounting, accounts
from tests.lifecycle.scripted import Answer, Scripted, scripted

SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
PASSWORD = "a-Long_password.1"
CONF = "/opt/slurm/etc/slurmdbd.conf"
HEAD = "ClusterName=hyperpod\nSlurmctldHost=ip-10-1-0-4(10.1.0.4)\nGresTypes=gpu\n"


# a cluster without anything: sacctmgr's answers, whose columns are those of the options
ASSOCIATIONS = "sacctmgr --noheader --parsable2 show assoc"
EMPTY_DATABASE: dict[str, Answer] = {
    ASSOCIATIONS: (0, "root" + "|" * (len(ASSOCIATION) + 3)),
    "sacctmgr --noheader --parsable2 show": (0, ""),
}


def controller(
    directory: Path,
    *,
    answers: dict[str, Answer] | None = None,
    present: tuple[str, ...] = (),
    **members: Any,
) -> Scripted:
    known: dict[str, Answer] = {
        "sacctmgr --noheader --parsable2 show cluster": (0, "other"),
        **(answers or {}),
    }
    made = scripted(directory, answers=known, present=("sacctmgr", *present), group="controller")
    made.context.root.write("/opt/slurm/etc/slurm.conf", HEAD)
    parsed = declared.parse(Reader(members, "config.json: accounting"))
    made.context = made.context._replace(config=made.context.config._replace(accounting=parsed))
    return made


def login(**members: str) -> dict[str, Answer]:
    return {"aws secretsmanager": (0, json.dumps(members))}


@pytest.fixture
def port() -> Iterator[int]:
    """A port that a database listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def database(port: int, **more: Any) -> dict[str, Any]:
    return {"endpoint": "127.0.0.1", "port": port, "secret_arn": SECRET, **more}


def test_an_external_database(tmp_path: Path, port: int) -> None:
    this = controller(
        tmp_path, answers=login(username="admin", password=PASSWORD), database=database(port, name="acct")
    )
    detail = accounting.set_up_accounting(this.context)
    assert detail == "slurmdbd on 127.0.0.1 answers, cluster hyperpod recorded"
    lines = this.read(CONF).splitlines()
    for line in (
        "StorageHost=127.0.0.1",
        f"StoragePort={port}",
        "StorageUser=admin",
        f"StoragePass={PASSWORD}",
        "StorageLoc=acct",
    ):
        assert line in lines
    assert this.context.root.path(CONF).stat().st_mode & 0o777 == 0o600
    assert "systemctl restart slurmdbd" in this.calls
    assert "sacctmgr --immediate add cluster hyperpod" in this.calls
    assert not [call for call in this.calls if "mariadb" in call]
    assert PASSWORD not in this.log
    assert not [call for call in this.calls if PASSWORD in call]


def test_its_schema_is_named_as_the_service_names_it(tmp_path: Path, port: int) -> None:
    this = controller(tmp_path, answers=login(username="a", password="b"), database=database(port))
    accounting.set_up_accounting(this.context)
    assert "StorageLoc=slurm_acct_db_abcdefghijkl" in this.read(CONF)


def test_a_second_run_restarts_nothing_and_a_new_password_does(tmp_path: Path, port: int) -> None:
    answers = login(username="a", password="b")
    this = controller(tmp_path, answers=answers, database=database(port))
    accounting.set_up_accounting(this.context)
    this.calls.clear()
    accounting.set_up_accounting(this.context)
    assert "systemctl start slurmdbd" in this.calls
    assert "systemctl daemon-reload" not in this.calls
    known = this.context.commands.answers  # type: ignore[attr-defined]
    known["aws secretsmanager"] = (0, json.dumps({"username": "a", "password": "rotated"}))
    accounting.set_up_accounting(this.context)
    assert "systemctl restart slurmdbd" in this.calls
    assert "StoragePass=rotated" in this.read(CONF)


@pytest.mark.parametrize("password", ["with#hash", "with blank", 'with"quote', "with'quote", "with\\slash"])
def test_113_a_password_that_slurmdbd_conf_can_not_hold_is_refused_and_not_shown(
    tmp_path: Path, port: int, password: str
) -> None:
    this = controller(tmp_path, answers=login(username="a", password=password), database=database(port))
    with pytest.raises(NodeError, match=r"has a character that slurmdbd\.conf can not hold") as error:
        accounting.set_up_accounting(this.context)
    assert "another password" in error.value.advice
    assert password not in str(error.value) + error.value.advice + this.log
    assert this.read(CONF) == ""
    assert not [call for call in this.calls if "slurmdbd" in call]


def test_a_secret_without_a_login_is_told(tmp_path: Path, port: int) -> None:
    this = controller(tmp_path, answers=login(user="a"), database=database(port))
    with pytest.raises(NodeError, match="has no username and no password"):
        accounting.set_up_accounting(this.context)


def test_a_database_that_comes_late_is_waited_for(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    this = controller(tmp_path, answers=login(username="a", password="b"), database=database(port))
    servers: list[socket.socket] = []

    def later() -> None:
        if this.bench.clock.time > 60 and not servers:
            servers.append(socket.create_server(("127.0.0.1", port)))

    this.bench.clock.meanwhile = later
    try:
        accounting.set_up_accounting(this.context)
    finally:
        for server in servers:
            server.close()
    assert servers
    assert "waiting for the database 127.0.0.1" in this.log


def test_a_database_that_never_comes_is_told_with_what_to_look_at(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    this = controller(tmp_path, answers=login(username="a", password="b"), database=database(port))
    with pytest.raises(NodeError, match="still not so after 600 s") as error:
        accounting.set_up_accounting(this.context)
    assert "security group" in error.value.advice
    assert this.read(CONF) == ""


def test_our_own_database_keeps_its_password_and_leaves_another_database_behind(
    tmp_path: Path, port: int
) -> None:
    this = controller(tmp_path, present=("mariadb",))
    accounting.set_up_accounting(this.context)
    first = this.read(CONF)
    assert "StorageHost=localhost" in first
    assert "#" not in first
    accounting.set_up_accounting(this.context)
    assert this.read(CONF) == first
    assert this.context.root.path(CONF).stat().st_mode & 0o777 == 0o600
    password = next(line for line in first.splitlines() if line.startswith("StoragePass=")).partition("=")[2]
    assert password not in this.log


def test_without_mariadb_there_is_no_accounting(tmp_path: Path) -> None:
    with pytest.raises(StepSkippedError, match="no MariaDB on this image"):
        accounting.set_up_accounting(controller(tmp_path).context)


def test_slurmdbd_starts_again_when_its_database_is_late_at_boot(tmp_path: Path) -> None:
    this = controller(tmp_path, present=("mariadb",))
    accounting.set_up_accounting(this.context)
    drop_in = this.read("/etc/systemd/system/slurmdbd.service.d/hyperpod-cdk.conf")
    assert "Restart=on-failure" in drop_in
    assert "StartLimitIntervalSec=0" in drop_in
    assert this.calls.index("systemctl daemon-reload") < this.calls.index("systemctl restart slurmdbd")


def test_115_a_cluster_that_another_controller_recorded_is_no_error(tmp_path: Path) -> None:
    answers: dict[str, Answer] = {
        "sacctmgr --immediate add cluster": (1, " This cluster hyperpod already exists.  Not adding.")
    }
    this = controller(tmp_path, answers=answers, present=("mariadb",))
    accounting.set_up_accounting(this.context)


def test_purging_changes_its_own_lines_alone(tmp_path: Path) -> None:
    this = controller(tmp_path, purge={"PurgeJobAfter": "12month", "PurgeStepAfter": "1month"})
    theirs = "AuthType=auth/munge\nStoragePass=x\npurgejobafter=3month\n"
    this.context.root.write(CONF, theirs, mode=0o640)
    accounts.purge_settings(this.context)
    wanted = "AuthType=auth/munge\nStoragePass=x\nPurgeJobAfter=12month\nPurgeStepAfter=1month\n"
    assert this.read(CONF) == wanted
    assert this.context.root.path(CONF).stat().st_mode & 0o777 == 0o640
    assert "systemctl kill --signal=HUP slurmdbd" in this.calls
    this.calls.clear()
    assert accounts.purge_settings(this.context) == "slurmdbd.conf purges as declared"
    assert this.calls == []


def test_limits_wait_until_slurmctld_has_named_what_they_are_on(tmp_path: Path) -> None:
    limited: dict[str, Any] = {"accounts": [{"name": "lab", "options": {"GrpTRES": {"gres/gpu": 4}}}]}
    answers: dict[str, Answer] = {
        **EMPTY_DATABASE,
        "sacctmgr --noheader --parsable2 show tres": (0, "cpu|\nmem|"),
    }
    this = controller(tmp_path, answers=answers, **limited)
    with pytest.raises(NodeError, match="the database does not know gres/gpu") as error:
        accounts.reconcile_accounts(this.context)
    assert "AccountingStorageTRES" in error.value.advice
    assert not [call for call in this.calls if "add account" in call]


LAB: dict[str, Any] = {"accounts": [{"name": "lab"}]}


def test_a_cluster_that_slurmdbd_does_not_know_yet_is_waited_for(tmp_path: Path) -> None:
    looks: list[int] = []

    def associations(_arguments: tuple[str, ...]) -> tuple[int, str]:
        looks.append(1)
        answers: list[Any] = [
            (1, "sacctmgr: error: slurm_persist_conn_open: failed"),
            (0, ""),
            EMPTY_DATABASE[ASSOCIATIONS],
        ]
        found: tuple[int, str] = answers[min(len(looks), len(answers)) - 1]
        return found

    answers: dict[str, Answer] = {**EMPTY_DATABASE, ASSOCIATIONS: associations}
    this = controller(tmp_path, answers=answers, **LAB)
    with pytest.raises(NodeError, match="1 differences stay"):
        accounts.reconcile_accounts(this.context)
    assert "slurm_persist_conn_open: failed" in this.log
    assert "it is not recorded yet" in this.log
    assert "sacctmgr --immediate add account name=lab cluster=hyperpod parent=root organization=root" in (
        this.calls
    )


def test_what_sacctmgr_prints_and_nobody_understands_is_told_at_once(tmp_path: Path) -> None:
    answers: dict[str, Answer] = {"sacctmgr --noheader --parsable2 show": (0, "a|b")}
    this = controller(tmp_path, answers=answers, **LAB)
    with pytest.raises(NodeError, match="printed 2 columns"):
        accounts.reconcile_accounts(this.context)
    assert this.bench.clock.time == 0


def test_a_user_whom_slurm_refuses_spoils_it_for_nobody_else(tmp_path: Path) -> None:
    def add(arguments: tuple[str, ...]) -> tuple[int, str]:
        return (1, " error: no such user") if "bad" in " ".join(arguments) else (0, "")

    associations = [{"user": user, "account": "lab"} for user in ("ada", "bad", "cleo")]
    answers: dict[str, Answer] = {**EMPTY_DATABASE, "sacctmgr --immediate add user": add}
    this = controller(tmp_path, answers=answers, **LAB, associations=associations)
    with pytest.raises(NodeError, match="no such user") as error:
        accounts.reconcile_accounts(this.context)
    assert "name=bad" in error.value.command
    added = [call for call in this.calls if "add user" in call]
    assert [call.partition("name=")[2].split()[0] for call in added] == ["ada,bad,cleo", "ada", "bad", "cleo"]
