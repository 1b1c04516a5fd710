"""Rules of what never gets into the accounting database (HP464, HP498, HP499)."""

from typing import Any

import pytest

from hyperpod_cdk.spec import Account, Accounting, AccountingUser, Association, Limits, Priority, Qos, User
from tests.unit.rules.specs import NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

A = "lifecycle.accounting"
NUMBER: Any = NUMBER_TOKEN
NAMED = f"{A}.users[0].name"
LAB = Account(name="lab", users=("ada",))


def about(name: Any, **members: Any) -> dict[str, Any]:
    given = {"accounts": (LAB,), "users": (AccountingUser(name=name),), **members}
    return {A: Accounting(**given)}


def text(**members: Any) -> dict[str, Any]:
    return {A: Accounting(accounts=(Account(name="lab", **members),))}


def limit(*names: Any, counted: str | None = None) -> dict[str, Any]:
    limits = Limits(grp_tres=dict.fromkeys(names, 4))
    conf = {"accountingStorageTRES": counted} if counted else {}
    accounting = Accounting(accounts=(Account(name="lab", limits=limits),))
    return {A: accounting, "lifecycle.slurm.conf": conf}


TRES = f"{A}.accounts[0].limits.grp_tres"
H100, WEIGHTS = "gres/gpu:h100", f"{A}.priority.weight_tres"
ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP464", about("ada"), []),
    ("HP464", about(TEXT_TOKEN), []),
    ("HP464", about("zoe"), [NAMED]),
    ("HP464", about("zoe", associations=(Association(user="zoe", account="lab"),)), []),
    ("HP464", {**about("zoe"), "lifecycle.users": (User(name="zoe", uid=2003, account="lab"),)}, []),
    ("HP498", text(description="it's the lab's", organization="R&D, Zürich"), []),
    ("HP498", text(description=TEXT_TOKEN), []),
    ("HP498", text(description="a|b"), [f"{A}.accounts[0].description"]),
    ("HP498", text(organization="two\nlines"), [f"{A}.accounts[0].organization"]),
    (
        "HP498",
        {A: Accounting(qos=(Qos(name="high", description='"high"'),))},
        [f"{A}.qos[0].description"],
    ),
    ("HP499", limit("cpu", "mem", "gres/gpu"), []),
    ("HP499", limit("gres/gpu", H100, counted=f"gres/gpu, {H100}"), []),
    ("HP499", limit(H100, counted=TEXT_TOKEN), []),
    ("HP499", limit(H100), [f'{TRES}["{H100}"]']),
    ("HP499", limit("gres/gpu", counted=H100), [f'{TRES}["gres/gpu"]']),
    ("HP499", {A: Accounting(priority=Priority(weight_tres={"license/x": 2}))}, [f'{WEIGHTS}["license/x"]']),
    ("HP499", {A: Accounting(priority=Priority(weight_tres={"cpu": NUMBER}))}, []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_row(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]
