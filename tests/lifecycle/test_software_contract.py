"""What a spec asks of nodes beside Slurm arrives there, and nothing of it is unknown to them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from typing import Any

import aws_cdk as cdk
import pytest

from hyperpod_cdk.cluster.node_accounting import _OPTIONS, accounting_config, accounting_settings
from hyperpod_cdk.cluster.nodes import node_config
from hyperpod_cdk.config import load
from hyperpod_cdk.spec import (
    Accounting,
    AccountingEnforce,
    Directory,
    HyperPodSpec,
    Lifecycle,
    LifecycleMode,
    Limits,
    NodeType,
    OwnStep,
    Priority,
    Purge,
    Qos,
    QosLimits,
    StepPosition,
    User,
)
from hyperpod_node import config
from hyperpod_node.accounting import declared, options
from hyperpod_node.catalogue import STEPS, steps_of
from hyperpod_node.reading import Reader
from hyperpod_node.step import catalogue_faults


def arrived(spec: HyperPodSpec) -> config.NodeConfig:
    modes = {group.instance_group_name: LifecycleMode.CUSTOM for group in spec.cluster.instance_groups}
    groups = [replace(group, mounts=()) for group in spec.cluster.instance_groups]
    cluster = replace(spec.cluster, instance_groups=groups)
    written = node_config(cluster, spec.lifecycle, modes, bucket_name="lifecycle-bucket")
    document = deployed(cdk.Stack().resolve(written))
    return config.parse(Reader.parse(json.dumps(document), "config.json"))


def deployed(part: Any) -> Any:
    """What CloudFormation makes of joined texts in a partition of amazonaws.com."""
    if isinstance(part, list):
        return [deployed(item) for item in part]
    if not isinstance(part, dict):
        return part
    if "Fn::Join" in part:
        return "".join(item if isinstance(item, str) else "amazonaws.com" for item in part["Fn::Join"][1])
    return {name: deployed(item) for name, item in part.items()}


@pytest.fixture(scope="module")
def team() -> config.NodeConfig:
    return arrived(load("clusters/slurm-team.yaml"))


def test_every_limit_has_an_option_that_nodes_know() -> None:
    assert {_OPTIONS[field.name] for field in fields(Limits)} <= set(options.ASSOCIATION)
    assert {_OPTIONS[field.name] for field in fields(QosLimits)} <= set(options.QOS)


def test_accounts_of_the_example(team: config.NodeConfig) -> None:
    found = team.accounting
    assert [account.name for account in found.accounts] == ["research", "vision", "text"]
    assert {(one.user, one.account) for one in found.associations} == {
        ("ada", "vision"),
        ("grace", "text"),
        ("ubuntu", "text"),
    }
    assert found.accounts[1].values["GrpTRES"] == {"gres/gpu": 24}
    assert next(one for one in found.associations if one.user == "ada").values["MaxJobs"] == 20
    assert [(user.name, user.default_account) for user in found.users] == [
        ("ada", "vision"),
        ("grace", "text"),
        ("ubuntu", "text"),
    ]
    assert found.purge["PurgeJobAfter"] == "12month"
    assert team.slurm.conf["AccountingStorageEnforce"] == "associations,limits,qos"


def test_accounts_that_only_users_name_are_made() -> None:
    users = (User(name="ada", uid=2001, account="nlp"), User(name="bob", uid=2002))
    written = accounting_config(Lifecycle(users=users), None)
    assert [(one["name"], one["parent"]) for one in written["accounts"]] == [("nlp", "root")]
    assert [(one["user"], one["account"]) for one in written["associations"]] == [("ada", "nlp")]
    assert declared.parse(Reader(written, "config.json: accounting")).anything
    assert accounting_settings(None) == {}, "nothing is enforced that nobody asked for"


def test_software_of_the_example(team: config.NodeConfig) -> None:
    found = team.features
    assert found.monitoring is not None
    workspace = "workspaces/ws-0a1b2c3d-1111-2222-3333-444455556666"
    assert found.monitoring.remote_write_url.endswith(f"{workspace}/api/v1/remote_write")
    assert found.monitoring.region == "us-west-2"
    assert found.monitoring.exporters == ("node", "gpu", "efa", "slurm")
    assert found.bucket_mounts[0].node_types == ("Compute",)
    assert found.downloads.sources[0] == "s3://example-node-software-111122223333/bundle"
    assert not found.downloads.internet
    assert {"prometheus-amd64", "node-exporter-amd64", "mount-s3-amd64"} <= set(found.downloads.artifacts)


def test_settings_of_slurm_conf() -> None:
    assert accounting_settings(None) == {}
    assert accounting_settings(Accounting()) == {}
    said = accounting_settings(
        Accounting(
            enforce=(AccountingEnforce.SAFE,),
            qos=(Qos(name="a", preempt=("normal",)),),
            priority=Priority(decay_half_life_days=0, weight_tres={"cpu": 5}),
        )
    )
    assert said["AccountingStorageEnforce"] == "safe"
    assert (said["PreemptType"], said["PreemptMode"]) == ("preempt/qos", "REQUEUE")
    assert said["PriorityDecayHalfLife"] == "0"
    assert said["PriorityWeightTRES"] == "cpu=5"


def test_what_is_not_purged_is_not_said() -> None:
    purge = Purge(
        events=None, steps=3, suspends=None, reservations=None, jobs=None, transactions=None, usage=None
    )
    written = accounting_config(Lifecycle(accounting=Accounting(purge=purge)), None)
    assert written["purge"] == {"PurgeStepAfter": "3month"}


def test_own_steps_stand_where_they_were_put(team: config.NodeConfig) -> None:
    spec = load("clusters/slurm-minimal.yaml")
    steps = (
        OwnStep(name="first", script="a.sh", when=StepPosition.BEFORE, node_types=(NodeType.COMPUTE,)),
        OwnStep(name="second", script="b.py", when=StepPosition.BEFORE, required=False),
        OwnStep(name="last", script="c.sh", time_limit_seconds=60, attempts=3),
    )
    lifecycle = Lifecycle(
        steps=steps,
        directory=Directory(domain="a.b", uris=("ldaps://a.b",), search_base="dc=a", required=True),
    )
    made = steps_of(arrived(HyperPodSpec(cluster=spec.cluster, lifecycle=lifecycle)))
    assert catalogue_faults(made) == []
    names = [step.name for step in made]
    assert names.index("own-first") < names.index("own-second") < names.index("before")
    assert names.index("own-last") < names.index("after") < names.index("check")
    by_name = {step.name: step for step in made}
    assert "own-first" in by_name["before"].needs
    assert "own-second" not in by_name["before"].needs
    assert "own-second" in by_name["before"].after
    assert {"own-last", "after"} <= set(by_name["check"].after)
    assert (by_name["own-last"].attempts, by_name["own-last"].time_limit_seconds) == (3, 60)
    assert by_name["directory"].required
    assert {step.name for step in STEPS} == {name for name in names if not name.startswith("own-")}
