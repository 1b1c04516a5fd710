"""The way from what the accounting database has to what is declared, without a database."""

from __future__ import annotations

from typing import Any

import pytest

from hyperpod_node.accounting.batches import LONGEST, Batch, batches
from hyperpod_node.accounting.declared import Declared, parse
from hyperpod_node.accounting.options import ASSOCIATION, QOS, complete, read
from hyperpod_node.accounting.plan import Change, plan
from hyperpod_node.accounting.records import AccountRecord, Records, rows
from hyperpod_node.errors import NodeError
from hyperpod_node.reading import Reader

CLUSTER = "hyperpod"
ROOT = AccountRecord(parent="", description="", organization="", values=complete(ASSOCIATION, {}))


def declared(**members: Any) -> Declared:
    return parse(Reader(members, "config.json: accounting"))


def account(
    parent: str = "root", name: str = "lab", organization: str = "root", **options: Any
) -> AccountRecord:
    return AccountRecord(
        parent=parent, description=name, organization=organization, values=complete(ASSOCIATION, options)
    )


def records(**members: Any) -> Records:
    return Records(**{"accounts": {"root": ROOT}, **members})


def commands(changes: list[Change]) -> list[str]:
    return [" ".join(command) for change in changes for command in change.commands]


def batched(changes: list[Change]) -> list[Batch]:
    return list(batches([command for change in changes for command in change.commands]))


def lines(changes: list[Change]) -> list[str]:
    return [change.line for change in changes]


LAB = {"root": ROOT, "lab": account()}


def test_nothing_declared_changes_nothing() -> None:
    assert plan(Declared(), records(), CLUSTER) == []
    assert not Declared().anything


def test_new_things_come_in_an_order_that_works() -> None:
    wanted = declared(
        qos=[{"name": "high", "options": {"Preempt": ["low"]}}, {"name": "low"}],
        accounts=[{"name": "vision", "parent": "lab"}, {"name": "lab"}],
        associations=[{"user": "ada", "account": "lab"}, {"user": "ada", "account": "vision"}],
        users=[{"name": "ada", "default_account": "vision"}],
    )
    assert commands(plan(wanted, records(), CLUSTER)) == [
        "add qos name=high",
        "add qos name=low",
        "modify qos where name=high set Preempt=low",
        "add account name=lab cluster=hyperpod parent=root organization=root",
        "add account name=vision cluster=hyperpod parent=lab organization=lab",
        # sacctmgr makes a user's first account the default
        "add user name=ada account=vision cluster=hyperpod",
        "add user name=ada account=lab cluster=hyperpod",
    ]


def test_a_hundred_users_of_two_accounts_are_three_commands() -> None:
    names = [f"user{number:03}" for number in range(100)]
    wanted = declared(
        accounts=[{"name": "text"}, {"name": "vision"}],
        associations=[
            {"user": name, "account": account, "options": {"MaxJobs": 2} if account == "vision" else {}}
            for name in names
            for account in ("text", "vision")
        ],
        users=[{"name": name, "default_account": "vision" if name < "user050" else "text"} for name in names],
    )
    changes = plan(wanted, records(), CLUSTER)
    assert len(lines(changes)) == 2 + 200 + 100
    first, second = ",".join(names[50:]), ",".join(names[:50])
    assert [" ".join(batch.together) for batch in batched(changes)] == [
        "add account name=text,vision cluster=hyperpod parent=root organization=root",
        # each one's default first, and then the other
        f"add user name={first} account=text cluster=hyperpod",
        f"add user name={second} account=vision cluster=hyperpod",
        f"add user name={second} account=text cluster=hyperpod",
        f"add user name={first} account=vision cluster=hyperpod",
        f"modify user where name={','.join(names)} account=vision cluster=hyperpod partition= set MaxJobs=2",
    ]


def test_what_is_not_the_same_stays_apart_and_in_its_order() -> None:
    wanted = declared(
        accounts=[
            {"name": "lab", "options": {"MaxJobs": 1}},
            {"name": "all", "options": {"MaxJobs": 2}},
            {"name": "old", "options": {"MaxJobs": 1}},
        ]
    )
    have = records(accounts={"root": ROOT} | {name: account(name=name) for name in ("lab", "all", "old")})
    changes = plan(wanted, have, CLUSTER)
    assert [" ".join(batch.together) for batch in batched(changes)] == commands(changes)


def test_no_command_gets_longer_than_a_command_line_holds() -> None:
    singles = [("add", "user", f"name=u{number}", "account=lab") for number in range(LONGEST + 1)]
    first, second = batches(singles)
    assert (len(first.singles), second.together) == (LONGEST, singles[-1])


def test_what_is_as_declared_is_left_alone() -> None:
    wanted = declared(accounts=[{"name": "lab", "options": {"GrpTRES": {"cpu": 4}, "MaxWall": 90}}])
    have = records(accounts={"root": ROOT, "lab": account(GrpTRES={"cpu": 4}, MaxWall=90)})
    assert plan(wanted, have, CLUSTER) == []


@pytest.mark.parametrize(
    ("have", "wanted", "texts"),
    [
        ({}, {"GrpJobs": 3}, ["GrpJobs=3"]),
        ({"GrpJobs": 3}, {}, ["GrpJobs=-1"]),
        ({"GrpTRES": {"cpu": 1, "mem": 5}}, {"GrpTRES": {"cpu": 2}}, ["GrpTRES=cpu=2,mem=-1"]),
        ({"Fairshare": 5}, {}, ["Fairshare=1"]),
        ({"QOS": ["a", "b"]}, {"QOS": ["b", "a"]}, []),
        ({}, {"QOS": ["b", "a"]}, ["QOS=a,b"]),
        ({}, {"DefaultQOS": "a"}, ["DefaultQOS=a"]),
        ({"DefaultQOS": "a"}, {}, ["DefaultQOS=-1"]),
        # a QOS is taken only from who does not have it as default, and given before it becomes the default
        ({"QOS": ["a"], "DefaultQOS": "a"}, {}, ["DefaultQOS=-1", "QOS="]),
        (
            {"QOS": ["a"], "DefaultQOS": "a"},
            {"QOS": ["b"], "DefaultQOS": "b"},
            ["DefaultQOS=-1", "QOS=b", "DefaultQOS=b"],
        ),
    ],
)
def test_options(have: dict[str, Any], wanted: dict[str, Any], texts: list[str]) -> None:
    changes = plan(
        declared(accounts=[{"name": "lab", "options": wanted}]),
        records(accounts={"root": ROOT, "lab": account(**have)}),
        CLUSTER,
    )
    assert commands(changes) == [
        f"modify account where name=lab cluster=hyperpod set {text}" for text in texts
    ]


def test_a_moved_account_with_another_description() -> None:
    wanted = declared(accounts=[{"name": "lab", "parent": "all", "description": "Lab"}, {"name": "all"}])
    have = records(accounts={"root": ROOT, "lab": account(), "all": account(name="all")})
    assert commands(plan(wanted, have, CLUSTER)) == [
        "modify account where name=lab cluster=hyperpod set parent=all",
        "modify account where name=lab set organization=all",
    ]


def test_an_association_for_one_partition_is_its_own() -> None:
    wanted = declared(
        accounts=[{"name": "lab"}],
        associations=[
            {"user": "ada", "account": "lab", "options": {"MaxJobs": 1}},
            {"user": "ada", "account": "lab", "partition": "gpu", "options": {"MaxJobs": 2}},
        ],
        users=[{"name": "ada", "default_account": "lab", "admin_level": "Operator"}],
    )
    have = records(
        accounts=LAB,
        associations={
            ("ada", "lab", ""): complete(ASSOCIATION, {}),
            ("ada", "lab", "gpu"): complete(ASSOCIATION, {}),
        },
        users={"ada": ("other", "None")},
    )
    assert commands(plan(wanted, have, CLUSTER)) == [
        "modify user where name=ada account=lab cluster=hyperpod partition= set MaxJobs=1",
        "modify user where name=ada account=lab cluster=hyperpod partition=gpu set MaxJobs=2",
        "modify user where name=ada cluster=hyperpod set defaultaccount=lab",
        "modify user where name=ada set adminlevel=Operator",
    ]


OTHERS = records(
    accounts={**LAB, "old": account(name="old")},
    associations={
        ("root", "root", ""): complete(ASSOCIATION, {}),
        ("bob", "lab", ""): complete(ASSOCIATION, {}),
        ("eve", "old", ""): complete(ASSOCIATION, {}),
    },
    qos={"normal": ("", complete(QOS, {})), "spare": ("", complete(QOS, {}))},
)


def test_what_is_not_declared_is_told_and_kept() -> None:
    changes = plan(declared(accounts=[{"name": "lab"}]), OTHERS, CLUSTER)
    assert commands(changes) == []
    assert lines(changes) == [
        ". account old is not declared, and left as it is",
        ". user bob in lab is not declared, and left as it is",
        ". user eve in old is not declared, and left as it is",
        ". qos spare is not declared, and left as it is",
    ]


def test_what_is_not_declared_is_closed_where_asked_for_and_nothing_is_ever_deleted() -> None:
    changes = plan(declared(accounts=[{"name": "lab"}], unlisted="close"), OTHERS, CLUSTER)
    assert commands(changes) == [
        "modify account where name=old cluster=hyperpod set GrpSubmitJobs=0",
        "modify user where name=bob account=lab cluster=hyperpod partition= set MaxSubmitJobs=0",
    ]


def test_a_former_user_is_closed_everywhere_and_once() -> None:
    wanted = declared(accounts=[{"name": "lab"}], removed_users=["eve"])
    changes = plan(wanted, OTHERS, CLUSTER)
    assert commands(changes) == [
        "modify user where name=eve account=old cluster=hyperpod partition= set MaxSubmitJobs=0"
    ]
    closed = {("eve", "old", ""): complete(ASSOCIATION, {"MaxSubmitJobs": 0})}
    assert commands(plan(wanted, records(accounts=LAB, associations=closed), CLUSTER)) == []


def test_what_was_closed_opens_again_when_it_is_declared() -> None:
    closed = {("ada", "lab", ""): complete(ASSOCIATION, {"MaxSubmitJobs": 0})}
    wanted = declared(
        accounts=[{"name": "lab"}],
        associations=[{"user": "ada", "account": "lab"}],
        users=[{"name": "ada", "default_account": "lab"}],
    )
    have = records(accounts=LAB, associations=closed, users={"ada": ("lab", "None")})
    assert commands(plan(wanted, have, CLUSTER)) == [
        "modify user where name=ada account=lab cluster=hyperpod partition= set MaxSubmitJobs=-1"
    ]


def test_no_plan_deletes() -> None:
    for unlisted in ("keep", "close"):
        changes = plan(declared(unlisted=unlisted, removed_users=["eve", "bob"]), OTHERS, CLUSTER)
        assert not [text for text in commands(changes) if text.split()[0] not in ("add", "modify")]


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("GrpTRES", "cpu=5,gres/gpu=8,mem=1500G", {"cpu": 5, "gres/gpu": 8, "mem": 1536000}),
        ("GrpTRES", "mem=1537M", {"mem": 1537}),
        ("GrpTRES", "mem=2T", {"mem": 2097152}),
        ("GrpTRES", "", {}),
        ("Fairshare", "3", 3),
        ("Fairshare", "parent", "parent"),
        ("MaxWall", "1-01:00:00", 1500),
        ("MaxWall", "01:30:00", 90),
        ("MaxWall", "", None),
        ("QOS", "high,normal", frozenset({"high", "normal"})),
    ],
)
def test_what_sacctmgr_prints(option: str, text: str, value: object) -> None:
    cells = {**dict.fromkeys(ASSOCIATION, ""), option: text}
    assert read(ASSOCIATION, cells)[option] == value


@pytest.mark.parametrize("text", ["cpu=five", "mem=1.5G"])
def test_a_tres_that_is_not_understood_is_an_error(text: str) -> None:
    with pytest.raises(NodeError, match="is not known"):
        read(ASSOCIATION, {**dict.fromkeys(ASSOCIATION, ""), "GrpTRES": text})


def test_rows_have_a_cell_for_each_column() -> None:
    text = ["sacctmgr: error: something", "", "a|b"]
    assert rows(text, ("x", "y")) == [{"x": "a", "y": "b"}]
    with pytest.raises(NodeError, match="printed 3 columns instead of 2"):
        rows(["a|b|c"], ("x", "y"))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"accounts": [{"name": "a", "options": {"GrpCPUs": 1}}]}, "options.GrpCPUs: no such option"),
        ({"accounts": [{"name": "a", "options": {"GrpJobs": "x"}}]}, "accounts\\[0\\].options"),
        ({"accounts": [{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}]}, "each other's parents"),
        ({"database": {"endpoint": "db"}}, "database.secret_arn: expected a text"),
    ],
)
def test_a_fault_in_what_is_declared_is_told_with_its_place(members: dict[str, Any], message: str) -> None:
    with pytest.raises(NodeError, match=message):
        declared(**members)
