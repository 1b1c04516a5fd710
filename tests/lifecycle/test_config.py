"""config.json and provisioning_parameters.json: what is accepted, and what is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node import config, provisioning
from hyperpod_node.errors import NodeError
from hyperpod_node.reading import Reader
from tests.lifecycle.helpers import ALICE, BOB, LUSTRE, OPENZFS, node_config, provisioning_parameters


def parse(document: Any) -> config.NodeConfig:
    return config.parse(Reader(document, "config.json"))


def test_everything_is_read() -> None:
    found = parse(node_config(mounts=[LUSTRE, OPENZFS], users=[ALICE, BOB]))
    assert found.mode_by_group == {"controller": "custom", "login": "custom", "compute": "custom"}
    assert found.groups["login"].node_type == "Login"
    assert [mount.mount_path for mount in found.groups["compute"].mounts] == ["/fsx", "/home"]
    assert found.groups["compute"].mounts[1].export_path == "/fsx"
    alice = config.User(
        name="alice",
        uid=2001,
        gid=2001,
        groups=("docker",),
        ssh_public_keys=("ssh-ed25519 AAAAC3Nza alice@laptop",),
        sudo=True,
    )
    assert found.users[0] == alice


def test_users_and_mounts_may_be_left_out() -> None:
    found = parse({"format": 1, "mode_by_group": {"a": "extension"}, "groups": {"a": {"node_type": "Login"}}})
    assert found.users == ()
    assert found.groups["a"].mounts == ()


def changed(member: str, **changes: Any) -> dict[str, Any]:
    sources: dict[str, dict[str, Any]] = {"users": ALICE, "lustre": {**LUSTRE}, "openzfs": {**OPENZFS}}
    source = sources[member]
    entry = {**source, **changes}
    return node_config(users=[entry]) if member == "users" else node_config(mounts=[entry])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([], "config.json: expected an object"),
        ({**node_config(), "format": 2}, "config.json: format: expected a whole number from 1 to 1, found 2"),
        (
            {**node_config(), "mode_by_group": {"a": "managed"}},
            "mode_by_group.a: expected one of extension, custom",
        ),
        (
            {**node_config(), "groups": {"a": {"node_type": "Worker"}}},
            "groups.a.node_type: expected one of Controller",
        ),
        ({**node_config(), "users": {}}, "config.json: users: expected a list, found {}"),
        (changed("lustre", file_system_type="EFS"), "file_system_type: expected one of LUSTRE, OPENZFS"),
        (changed("lustre", mount_name=None), "groups.controller.mounts[0].mount_name: expected a text"),
        (changed("lustre", mount_path="fsx"), "mount_path: expected an absolute path"),
        (changed("lustre", mount_path="/fsx/"), "mount_path: expected an absolute path"),
        (changed("lustre", mount_path="/my disk"), "mount_path: expected an absolute path"),
        (changed("openzfs", dns_name=""), "dns_name: expected a text"),
        (node_config(mounts=[LUSTRE, {**OPENZFS, "mount_path": "/fsx"}]), "/fsx is the mount path of two"),
        (changed("users", name="Alice"), "users[0].name: expected 1 to 32 lower-case letters"),
        (changed("users", name="a.b"), "users[0].name: expected 1 to 32 lower-case letters"),
        (changed("users", uid=None), "users[0].uid: expected a whole number from 1000 to 60000, found null"),
        (changed("users", uid=0), "users[0].uid: expected a whole number"),
        (changed("users", uid="2001"), "users[0].uid: expected a whole number"),
        (changed("users", uid=True), "users[0].uid: expected a whole number"),
        (changed("users", gid=65534), "users[0].gid: expected a whole number"),
        (changed("users", sudo="yes"), "users[0].sudo: expected true or false"),
        (changed("users", ssh_public_keys=["AAAA"]), "ssh_public_keys[0]: expected one line of an OpenSSH"),
        (
            changed("users", ssh_public_keys=["ssh-rsa AA\nssh-rsa BB"]),
            "ssh_public_keys[0]: expected one line",
        ),
        (node_config(users=[ALICE, {**BOB, "uid": 2001}]), "bob and alice share uid 2001"),
        (node_config(users=[ALICE, {**ALICE, "uid": 2009}]), "alice is listed twice"),
    ],
)
def test_95_what_is_wrong_is_refused_with_its_place(document: Any, message: str) -> None:
    with pytest.raises(NodeError) as error:
        parse(document)
    assert message in error.value.message


def test_no_config_json_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match=r"no config\.json in") as error:
        config.load(tmp_path)
    assert "deploy again" in error.value.advice


def test_broken_json_says_where(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"format": 1,}')
    with pytest.raises(NodeError, match=r"config\.json: not JSON: .* in line 1, column 1[34]"):
        config.load(tmp_path)


def test_the_services_form_is_read() -> None:
    found = provisioning.parse(json.dumps(provisioning_parameters()))
    assert found.controller_group == "controller"
    assert found.compute_groups == ("compute",)
    assert not found.multi_head


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"workload_manager": "pbs"}, "workload_manager: expected one of slurm"),
        ({"controller_group": None}, "controller_group: expected a text"),
        ({"fsx_mountname": None}, "fsx_mountname: expected a text"),
        (
            {"worker_groups": [{"partition_name": "p"}]},
            "worker_groups[0].instance_group_name: expected a text",
        ),
    ],
)
def test_a_wrong_form_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(NodeError) as error:
        provisioning.parse(json.dumps(provisioning_parameters(**change)))
    assert message in error.value.message


def test_a_form_without_login_group_and_file_system() -> None:
    form = provisioning_parameters(login_group="", fsx_dns_name=None, fsx_mountname=None)
    found = provisioning.parse(json.dumps(form))
    assert found.mounts == ()
    with pytest.raises(NodeError, match=r"it names controller, compute$"):
        found.node_type("other")
