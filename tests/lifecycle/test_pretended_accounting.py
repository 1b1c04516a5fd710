"""The rehearsal's sacctmgr: what is declared gets into it, and is found there, as with the real one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hyperpod_cdk.cluster.node_accounting import accounting_config
from hyperpod_cdk.spec import Accounting, Lifecycle
from hyperpod_node.accounting.declared import parse
from hyperpod_node.accounting.reconcile import look, reconcile
from hyperpod_node.reading import Reader
from tests.lifecycle.helpers import Bench, bench
from tests.lifecycle.sandbox.test_accounting import DECLARED
from tests.lifecycle.test_entry import node

CLUSTER = "ml-training-cluster"
WANTED = parse(Reader(accounting_config(Lifecycle(accounting=DECLARED), None), "config.json: accounting"))


@pytest.fixture
def controller(tmp_path: Path) -> Bench:
    made = bench(tmp_path, group="controller")
    run = made.context.commands.run
    run("systemctl", "start", "slurmdbd")
    run("sacctmgr", "--immediate", "add", "cluster", CLUSTER)
    return made


def test_everything_that_can_be_declared_gets_into_it(controller: Bench) -> None:
    said: list[str] = []
    found = reconcile(controller.context.commands, WANTED, CLUSTER, say=said.append)
    assert len(found.changed) > 10
    assert look(controller.context.commands, WANTED, CLUSTER).changed == ()


def test_what_is_taken_back_goes_again_and_nothing_is_deleted(controller: Bench) -> None:
    commands = controller.context.commands
    reconcile(commands, WANTED, CLUSTER, say=lambda _: None)
    less = accounting_config(Lifecycle(accounting=Accounting(accounts=DECLARED.accounts[1:2])), None)
    less["accounts"][0]["options"] = {}
    found = reconcile(commands, parse(Reader(less, "config.json")), CLUSTER, say=lambda _: None)
    assert any("GrpTRES cpu=64,mem=1536000,node=4 -> none" in change.line for change in found.changed)
    assert any(change.line.startswith(". account vision") for change in found.left)


def test_what_is_not_there_is_not_modified(controller: Bench) -> None:
    run = controller.context.commands.run
    change = ("modify", "user", "where", "name=x", "account=y", "set", "MaxJobs=1")
    done = run("sacctmgr", "--immediate", *change, accept=(1,))
    assert "Nothing modified" in done.text


def test_a_rehearsed_controller_has_its_accounts(tmp_path: Path) -> None:
    this = node(tmp_path, "custom", "controller")
    path = this.scripts / "config.json"
    declared = accounting_config(Lifecycle(accounting=DECLARED), None)
    document = {**json.loads(path.read_text()), "accounting": declared}
    path.write_text(json.dumps(document))
    outcomes = []
    for _ in range(2):
        assert this.run()[0] == 0
        steps = json.loads((this.root / "opt/ml/config/hyperpod-cdk/result.json").read_text())["steps"]
        (step,) = [step for step in steps if step["name"] == "accounts"]
        outcomes.append((step["outcome"], step["detail"].split()[0]))
    assert [outcome for outcome, _ in outcomes] == ["done", "done"]
    assert int(outcomes[0][1]) > 10
    assert outcomes[1][1] == "0"
