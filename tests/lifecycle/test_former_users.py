"""Groups of the deployment's list, and those who left: peers' failure 72, and what add_users.sh never did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hyperpod_node import idle
from hyperpod_node.accounts import account, groups
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import home, mounts, removed_users, ssh, users
from tests.lifecycle.helpers import ALICE, BOB, LUSTRE, Bench, bench


def node_with(path: Path, *listed: dict[str, Any], storage: Path | None = None, **more: Any) -> Bench:
    node = bench(path, users=listed, mounts=[LUSTRE], storage=storage, more=more)
    mounts.mount_file_systems(node.context)
    home.move_home(node.context)
    return node


def set_up(node: Bench) -> None:
    if not idle.no_users(node.context):
        users.ensure_users(node.context)
    ssh.ensure_node_keys(node.context)


def test_groups_are_made_with_their_numbers_and_users_are_in_them(tmp_path: Path) -> None:
    node = node_with(tmp_path, {**ALICE, "groups": ["vision"]}, user_groups=[{"name": "vision", "gid": 3000}])
    for _ in range(2):
        set_up(node)
    assert [(group.gid, group.members) for group in groups(node.context.root) if group.name == "vision"] == [
        (3000, ("alice",))
    ]
    assert len(node.calls("groupadd", "--gid", "3000")) == 1
    assert "WARNING" not in node.log


@pytest.mark.parametrize(
    ("group", "found"),
    [
        ({"name": "docker", "gid": 3000}, "docker has gid 999"),
        ({"name": "vision", "gid": 1000}, "ubuntu has gid 1000"),
    ],
)
def test_a_group_that_is_otherwise_on_the_node_is_refused(
    tmp_path: Path, group: dict[str, Any], found: str
) -> None:
    node = node_with(tmp_path, user_groups=[group])
    with pytest.raises(NodeError, match=f"group {found} on this node"):
        users.ensure_users(node.context)


def test_a_former_user_is_locked_everywhere_and_keeps_the_number(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    before = node_with(tmp_path / "a", ALICE, BOB, storage=shared)
    set_up(before)
    after = node_with(tmp_path / "b", ALICE, BOB, storage=shared)
    set_up(after)
    after.alter("config", users=(after.context.config.users[1],))
    after.alter("config", removed_users=("alice", "nobody-here"))
    assert idle.nobody_removed(after.context) == ""
    assert removed_users.lock_removed(after.context) == (
        "1 former users, 1 of them locked now; 1 are not on this node"
    )
    found = account(after.context.root, "alice")
    assert found is not None
    assert (found.uid, found.shell) == (2001, users.NO_SHELL)
    assert after.machine.texts("locked") == ["alice"]
    assert not after.context.root.path(f"{users.SUDOERS}/hyperpod-cdk-alice").exists()
    assert after.read(f"{found.home}/.ssh/authorized_keys") == ""
    bob = account(after.context.root, "bob")
    assert bob is not None
    assert bob.shell == users.SHELL
    calls = len(after.calls("usermod"))
    assert "0 of them locked now" in removed_users.lock_removed(after.context)
    assert len(after.calls("usermod")) == calls


def test_keys_that_a_former_user_added_stay_out_of_reach_not_deleted(tmp_path: Path) -> None:
    node = node_with(tmp_path, ALICE)
    set_up(node)
    found = account(node.context.root, "alice")
    assert found is not None
    keys = node.context.root.path(f"{found.home}/.ssh/authorized_keys")
    keys.write_text(keys.read_text() + "ssh-ed25519 OWN own\n")
    node.alter("config", removed_users=("alice",))
    removed_users.lock_removed(node.context)
    assert keys.read_text() == "ssh-ed25519 OWN own\n"


def test_a_link_for_the_folder_of_keys_keeps_no_former_user_in(tmp_path: Path) -> None:
    node = node_with(tmp_path, ALICE, BOB)
    set_up(node)
    found = account(node.context.root, "alice")
    assert found is not None
    folder = node.context.root.path(f"{found.home}/.ssh")
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")
    node.alter("config", removed_users=("alice", "bob"))
    assert "2 of them locked now" in removed_users.lock_removed(node.context)
    assert node.machine.texts("locked") == ["alice", "bob"]
    assert "the keys of alice stay as they are" in node.log


def test_who_comes_back_gets_in_again(tmp_path: Path) -> None:
    node = node_with(tmp_path, ALICE)
    set_up(node)
    node.alter("config", removed_users=("alice",))
    removed_users.lock_removed(node.context)
    set_up(node)
    found = account(node.context.root, "alice")
    assert found is not None
    assert found.shell == users.SHELL
    assert node.machine.texts("locked") == []
    assert "ssh-ed25519" in node.read(f"{found.home}/.ssh/authorized_keys")


def test_accounts_of_the_system_are_never_locked(tmp_path: Path) -> None:
    node = node_with(tmp_path)
    node.alter("config", removed_users=("slurm",))
    with pytest.raises(NodeError, match="slurm with uid 401 is an account of the system"):
        removed_users.lock_removed(node.context)
    assert node.calls("usermod", "--lock") == []
    assert "no former users" in idle.nobody_removed(bench(tmp_path / "b").context)
