"""Accounting against real sacctmgr, slurmdbd and MariaDB: declared, changed, refused, external."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hyperpod_cdk.cluster.node_accounting import accounting_config, accounting_settings
from hyperpod_cdk.rehearsal.hosts.plan import Plan, usual_groups
from hyperpod_cdk.rehearsal.hosts.sandbox import Sandbox
from hyperpod_cdk.spec import (
    Account,
    Accounting,
    AccountingDatabase,
    AccountingUser,
    AdminLevel,
    Association,
    Lifecycle,
    Limits,
    Priority,
    Purge,
    Qos,
    QosFlag,
    QosLimits,
    UnlistedAccounts,
)
from tests.lifecycle.sandbox.scenario import ALICE, BOB, job, submit

SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
PASSWORD = "s3cret-Pass.word_1"
SHOW = (
    "sacctmgr -nP show assoc wopl format=account,user,partition,parentname,fairshare,grptres,maxjobs,"
    "maxsubmit,grpsubmit,qos,defaultqos"
)
EVERYTHING = Limits(
    grp_tres={"cpu": 64, "mem": 1536000, "node": 4},
    grp_tres_minutes={"cpu": 100000},
    grp_tres_running_minutes={"cpu": 50000},
    grp_jobs=20,
    grp_submit_jobs=40,
    grp_wall_minutes=100000,
    max_tres_per_job={"node": 2},
    max_tres_per_node={"cpu": 4},
    max_tres_minutes_per_job={"cpu": 9000},
    max_jobs=10,
    max_submit_jobs=20,
    max_wall_minutes=1501,
)
HIGH = Qos(
    name="high",
    description="In a Hurry",
    priority=100,
    preempt=("normal",),
    grace_time_seconds=30,
    flags=(QosFlag.DENY_ON_LIMIT, QosFlag.NO_RESERVE),
    usage_factor=2.5,
    limits=QosLimits(
        grp_tres={"node": 4},
        grp_tres_minutes={"cpu": 1000},
        grp_tres_running_minutes={"cpu": 1000},
        grp_jobs=3,
        grp_submit_jobs=4,
        grp_wall_minutes=5000,
        max_tres_per_job={"node": 2},
        max_tres_per_node={"cpu": 4},
        max_tres_per_user={"cpu": 8},
        max_tres_per_account={"cpu": 16},
        max_tres_minutes_per_job={"cpu": 300},
        min_tres_per_job={"cpu": 1},
        max_jobs_per_user=1,
        max_jobs_per_account=2,
        max_submit_jobs_per_user=3,
        max_submit_jobs_per_account=4,
        max_wall_minutes=1501,
    ),
)
DECLARED = Accounting(
    accounts=(
        Account(
            name="vision", parent="research", users=("alice",), qos=("normal", "high"), default_qos="high"
        ),
        Account(name="research", description="The Lab", organization="ACME", fairshare=60, limits=EVERYTHING),
        Account(name="text", parent="research", users=("bob", "carol")),
    ),
    associations=(
        Association(user="alice", account="vision", fairshare=3, limits=Limits(max_jobs=4)),
        Association(user="alice", account="text", partition="dev", qos=("normal",), default_qos="normal"),
    ),
    users=(AccountingUser(name="alice", default_account="vision", admin_level=AdminLevel.OPERATOR),),
    qos=(HIGH, Qos(name="low")),
    priority=Priority(weight_tres={"cpu": 10}),
    purge=Purge(),
)


def members(
    accounting: Accounting, *, database: AccountingDatabase | None = None, **more: Any
) -> dict[str, Any]:
    """What a deployment puts into config.json."""
    lifecycle = Lifecycle(accounting=accounting, **more)
    return {
        "accounting": accounting_config(lifecycle, database),
        "slurm": {"conf": accounting_settings(accounting)},
    }


def declare(sandbox: Sandbox, accounting: Accounting, **more: Any) -> str:
    """A changed config.json on the controller; where it lies."""
    path = "/root/declared.json"
    known = json.loads((sandbox.controller.path("/opt/hyperpod-cdk/config.json")).read_text())
    sandbox.controller.path(path).write_text(json.dumps({**known, **members(accounting, **more)}))
    return path


@pytest.fixture(scope="module", params=["22.05", pytest.param("24.11", marks=pytest.mark.long_nodes)])
def cluster(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A cluster in custom mode with everything declared."""
    plan = Plan(groups=usual_groups(1), users=[{**ALICE, "account": None}, BOB], config=members(DECLARED))
    with Sandbox(plan, slurm=request.param) as sandbox:
        sandbox.up()
        sandbox.provision()
        sandbox.idle()
        yield sandbox


def test_everything_declared_is_in_the_database(cluster: Sandbox) -> None:
    assert cluster.controller.run(SHOW).lines == [
        "root||||1|||||normal|",
        "root|root|||1||||||",
        "research|||root|60|cpu=64,mem=1500G,node=4|10|20|40||",
        "text|||research|1||||||",
        "text|alice|dev||1|||||normal|normal",
        "text|bob|||1||||||",
        "text|carol|||1||||||",
        "vision|||research|1|||||high,normal|high",
        "vision|alice|||3||4||||",
    ]
    users = cluster.controller.run("sacctmgr -nP show user format=user,defaultaccount,adminlevel").lines
    assert users == ["alice|vision|Operator", "bob|text|None", "carol|text|None", "root|root|Administrator"]
    shown = "name,priority,preempt,flags,gracetime,usagefactor,maxtresperuser,maxwall"
    qos = cluster.controller.run(f"sacctmgr -nP show qos high format={shown}").output.strip()
    assert qos == "high|100|normal|DenyOnLimit,NoReserve|00:00:30|2.500000|cpu=8|1-01:01:00"


def test_slurm_enforces_and_weighs_what_is_declared(cluster: Sandbox) -> None:
    config = cluster.controller.run("scontrol show config").output
    settings = dict(
        [part.strip() for part in line.split("=", 1)] for line in config.splitlines() if " = " in line
    )
    assert settings["AccountingStorageEnforce"] == "associations,limits,qos"
    assert settings["PriorityType"] == "priority/multifactor"
    assert settings["PriorityDecayHalfLife"] == "14-00:00:00"
    assert settings["PreemptType"] == "preempt/qos"
    assert settings["PreemptMode"] == "REQUEUE"
    number = submit(cluster.login, "bob", "-N1", script="true")
    assert job(cluster, number)["account"] == "text"
    refused = cluster.login.run("cd; srun -A vision hostname", user="bob", check=False)
    assert refused.exit_code != 0
    assert "Invalid account" in refused.output


def test_the_purge_stands_in_a_file_for_slurm_alone(cluster: Sandbox) -> None:
    conf = cluster.controller.run("cat /opt/slurm/etc/slurmdbd.conf").lines
    assert "PurgeJobAfter=12month" in conf
    assert (
        cluster.controller.run("stat -Lc '%U %a' /opt/slurm/etc/slurmdbd.conf").output.strip() == "slurm 600"
    )


def test_a_second_look_finds_nothing(cluster: Sandbox) -> None:
    answer = cluster.controller.run("hyperpod-accounting plan", check=False)
    assert (answer.exit_code, answer.lines[-1]) == (0, "0 differences")


def test_a_change_is_shown_then_made_and_nothing_is_deleted(cluster: Sandbox) -> None:
    before = cluster.controller.run("sacctmgr -nP show assoc format=id,account,user,partition").lines
    less = Accounting(
        accounts=(Account(name="research", limits=Limits(grp_tres={"cpu": 4})), Account(name="vision")),
        associations=(Association(user="alice", account="vision"),),
        qos=(Qos(name="high"),),
        unlisted=UnlistedAccounts.CLOSE,
    )
    path = declare(cluster, less, removed_users=("carol",))
    planned = cluster.controller.run(f"hyperpod-accounting plan --config {path}", check=False)
    assert planned.exit_code == 3
    assert cluster.controller.run("hyperpod-accounting plan", check=False).lines[-1] == "0 differences"
    text = "\n".join(planned.lines)
    assert "~ account vision: below root instead of research" in text
    assert "~ account text is not declared: takes no new job" in text
    assert ". qos low is not declared, and left as it is" in text
    applied = cluster.controller.run(f"hyperpod-accounting apply --config {path}")
    assert applied.lines == planned.lines
    again = cluster.controller.run(f"hyperpod-accounting plan --config {path}", check=False)
    assert again.exit_code == 0
    after = cluster.controller.run("sacctmgr -nP show assoc format=id,account,user,partition").lines
    assert set(before) <= set(after)
    refused = cluster.login.run("cd; srun -A text hostname", user="bob", check=False)
    assert refused.exit_code != 0
    history = cluster.controller.run("sacct -n -X -P -a -S 2020-01-01 -o account,user").lines
    assert "text|bob" in history


def test_and_back_again(cluster: Sandbox) -> None:
    applied = cluster.controller.run("hyperpod-accounting apply")
    assert any("user carol in text: MaxSubmitJobs 0 -> none" in line for line in applied.lines)
    test_everything_declared_is_in_the_database(cluster)


def test_what_slurm_refuses_is_an_error_with_advice(cluster: Sandbox) -> None:
    wrong = Accounting(accounts=(Account(name="research", limits=Limits(grp_tres={"license/none": 1})),))
    path = declare(cluster, wrong)
    answer = cluster.controller.run(f"hyperpod-accounting apply --config {path}", check=False)
    assert answer.exit_code == 1
    assert "license/none" in answer.output
    assert "what to do:" in answer.output
    cluster.controller.run("hyperpod-accounting apply")


def test_the_set_up_ends_with_a_look_at_the_node(cluster: Sandbox) -> None:
    for host in cluster.hosts.values():
        result = json.loads(host.path("/opt/ml/config/hyperpod-cdk/result.json").read_text())
        step = next(step for step in result["steps"] if step["name"] == "check")
        assert step["outcome"] == "done"
        assert step["detail"].endswith("checks passed")


def test_check_node_tells_what_is_wrong(cluster: Sandbox) -> None:
    for host in cluster.hosts.values():
        answer = host.run("hyperpod-check-node", check=False)
        assert answer.exit_code == 0, answer.output
    cluster.controller.run("sacctmgr -i modify account where name=text set fairshare=9")
    answer = cluster.controller.run("hyperpod-check-node", check=False)
    assert answer.exit_code == 3
    assert "Fairshare 9 -> 1" in answer.output
    cluster.controller.run("chmod 644 /opt/slurm/etc/slurmdbd.conf")
    answer = cluster.controller.run("hyperpod-check-node --json", check=False)
    assert answer.exit_code == 1
    found = {one["name"]: one for one in json.loads(answer.output)["checks"]}
    assert found["accounting"]["outcome"] == "failed"
    cluster.controller.run("chmod 600 /opt/slurm/etc/slurmdbd.conf; hyperpod-accounting apply")
    assert cluster.controller.run("hyperpod-check-node", check=False).exit_code == 0


@pytest.mark.long_nodes
def test_extension_mode_keeps_the_services_set_up() -> None:
    plan = Plan(groups=usual_groups(1), mode="extension", users=[ALICE, BOB], config=members(DECLARED))
    with Sandbox(plan) as sandbox:
        sandbox.up()
        runs = sandbox.provision()
        sandbox.idle()
        run = runs[sandbox.controller.name]
        assert run.step("accounts")["outcome"] == "done", run.lines
        assert run.step("purge")["outcome"] == "done"
        assert sandbox.controller.run("hyperpod-accounting plan", check=False).exit_code == 0
        conf = sandbox.controller.run("cat /opt/slurm/etc/slurmdbd.conf").lines
        assert sum(line.startswith("PurgeJobAfter") for line in conf) == 1
        assert sum(line.startswith("StoragePass") for line in conf) == 1
        config = sandbox.controller.run("scontrol show config").output
        assert "associations,limits,qos" in config


@pytest.mark.long_nodes
def test_an_external_database_with_its_secret() -> None:
    database = AccountingDatabase(endpoint="db.example.com", secret_arn=SECRET, name="slurm_acct")
    plan = Plan(groups=usual_groups(1), users=[ALICE], config=members(DECLARED, database=database))
    with Sandbox(plan) as sandbox:
        sandbox.secret(SECRET, json.dumps({"username": "admin", "password": PASSWORD}))
        sandbox.up()
        # any other host will do as the database's
        server = sandbox.login
        sandbox.name("db.example.com", server.run("hostname", "-I").output.split()[0])
        server.run(
            "bash",
            "-euc",
            "printf '[mysqld]\\nbind-address=0.0.0.0\\n' >/etc/mysql/mariadb.conf.d/99-any.cnf\n"
            "systemctl start mariadb\n"
            f"mariadb -e \"create user admin identified by '{PASSWORD}'; grant all on *.* to admin\"",
        )
        runs = sandbox.provision()
        sandbox.idle()
        run = runs[sandbox.controller.name]
        assert run.step("accounting")["outcome"] == "done"
        assert "slurmdbd on db.example.com" in run.step("accounting")["detail"]
        assert server.run("mariadb -Ne 'show tables in slurm_acct'").lines
        assert sandbox.controller.run("systemctl is-active mariadb", check=False).output.strip() != "active"
        for place in ("/var/log", "/opt/hyperpod-cdk", "/opt/ml", "/tmp"):
            found = sandbox.controller.run(f"grep -rl -- '{PASSWORD}' {place}", check=False)
            assert found.output.strip() == "", place
        where = sandbox.controller.run(f"grep -rl -- '{PASSWORD}' /opt/slurm /etc", check=False).lines
        assert where == ["/opt/slurm/etc/slurmdbd.conf"]
        assert sandbox.controller.run("stat -Lc %a /opt/slurm/etc/slurmdbd.conf").output.strip() == "600"
