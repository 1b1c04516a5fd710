"""Homes, users and keys on a shared file system: field reports 3, 95, 117, 124, peers' failures 14, 71."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.node import CommandFault
from hyperpod_cdk.rehearsal.node_commands.machine import Call, Machine
from hyperpod_cdk.rehearsal.node_commands.serving import COMMANDS
from hyperpod_node import homes, idle
from hyperpod_node.accounts import account, accounts, groups
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps import home, mounts, ssh, users
from tests.lifecycle.helpers import ALICE, BOB, LUSTRE, OPENZFS, Bench, bench, snapshot

DATA = {**LUSTRE, "mount_path": "/data"}
USERS = {**OPENZFS, "mount_path": "/users"}


def home_of(node: Bench, name: str) -> str:
    found = account(node.context.root, name)
    assert found is not None
    return found.home


@pytest.mark.parametrize(
    ("configured", "home_path"),
    [
        ([DATA, USERS], "/users/ubuntu"),
        ([DATA], "/data/ubuntu"),
        ([LUSTRE, OPENZFS], "/home/ubuntu"),
    ],
)
def test_3_home_is_chosen_from_live_mounts_at_their_configured_paths(
    tmp_path: Path, configured: list[dict[str, str]], home_path: str
) -> None:
    node = bench(tmp_path, mounts=configured)
    mounts.mount_file_systems(node.context)
    home.move_home(node.context)
    assert home_of(node, "ubuntu") == home_path
    assert (node.context.root.path(home_path) / ".bashrc").is_file()
    assert node.context.root.path(home_path).stat().st_mode & 0o777 == 0o750


def test_3_a_configured_file_system_that_is_not_mounted_is_not_chosen(tmp_path: Path) -> None:
    node = bench(tmp_path, mounts=[DATA, USERS])
    assert homes.choose_base(node.context) == homes.HomeBase(path="/home", shared=False)
    with pytest.raises(StepSkippedError, match="stay on the node's disk"):
        home.move_home(node.context)
    assert home_of(node, "ubuntu") == "/home/ubuntu"


def test_a_home_the_service_moved_already_stays_where_it_is(tmp_path: Path) -> None:
    node = bench(tmp_path, mode="extension", mounts=[DATA, USERS])
    text = node.read("/etc/passwd").replace("/home/ubuntu", "/data/ubuntu")
    node.machine.write("/etc/passwd", text)
    home.move_home(node.context)
    assert home_of(node, "ubuntu") == "/data/ubuntu"
    assert node.calls("usermod") == []


def test_71_home_is_retried_while_the_user_has_processes(tmp_path: Path) -> None:
    busy = CommandFault(
        command="usermod", times=3, exit_code=8, output="user ubuntu is currently used by process 7"
    )
    node = bench(tmp_path, mounts=[DATA], faults=[busy])
    mounts.mount_file_systems(node.context)
    home.move_home(node.context)
    assert home_of(node, "ubuntu") == "/data/ubuntu"


def test_an_image_without_ubuntu(tmp_path: Path) -> None:
    node = bench(tmp_path)
    node.machine.write("/etc/passwd", "root:x:0:0:root:/root:/bin/bash\n")
    with pytest.raises(StepSkippedError, match="no user ubuntu"):
        home.move_home(node.context)


def test_many_nodes_make_one_home(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    nodes = [bench(tmp_path / str(n), storage=shared, index=n % 2 + 1) for n in range(6)]
    for number, node in enumerate(nodes):
        node.alter("instance", instance_id=f"i-{number:017x}")
        mounts.mount_file_systems(node.context)

    def make(node: Bench) -> bool:
        return homes.ensure_home(node.context, "/fsx/alice", name="alice", uid=2001, gid=2001)

    with ThreadPoolExecutor(len(nodes)) as pool:
        made = list(pool.map(make, nodes))
    assert sum(made) == 1
    names = {path.name for path in nodes[0].context.root.path("/fsx").iterdir()}
    assert names == {"alice"}


def test_a_home_lost_to_another_node_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = bench(tmp_path)
    target = node.context.root.path("/home/alice")
    rename = Path.rename

    def other_first(draft: Path, place: Path) -> Path:
        target.mkdir()
        (target / ".profile").write_text("the other node's\n")
        os.chown(target, 2001, 2001) if os.geteuid() == 0 else None
        return rename(draft, place)

    monkeypatch.setattr(Path, "rename", other_first)
    assert not homes.ensure_home(node.context, "/home/alice", name="alice", uid=2001, gid=2001)
    assert (target / ".profile").read_text() == "the other node's\n"
    assert [path.name for path in target.parent.iterdir() if "hyperpod-cdk" in path.name] == []


def test_what_a_killed_run_left_is_cleaned_up(tmp_path: Path) -> None:
    node = bench(tmp_path)
    left = node.context.root.path(f"/home/.hyperpod-cdk.alice.{node.context.node.instance.instance_id}")
    left.mkdir()
    (left / "half").write_text("")
    assert homes.ensure_home(node.context, "/home/alice", name="alice", uid=2001, gid=2001)
    assert not left.exists()
    assert sorted(path.name for path in node.context.root.path("/home/alice").iterdir()) == [".bashrc"]


def test_a_large_cluster_makes_its_homes_one_node_after_the_other(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    moments = []
    for number in range(3):
        node = with_users(tmp_path / str(number), ALICE, storage=shared)
        cluster = node.context.node.cluster
        node.alter("node", cluster=cluster._replace(instances=cluster.instances[:1] * 500))
        node.alter("instance", instance_id=f"i-{number:017x}")
        mounts.mount_file_systems(node.context)
        began = node.clock.time
        users.ensure_users(node.context)
        moments.append(node.clock.time - began)
    # whoever comes later finds them, and waits for nothing
    assert 0 < moments[0] < 10
    assert moments[1:] == [0, 0]


def with_users(tmp_path: Path, *entries: dict[str, object], **more: object) -> Bench:
    return bench(tmp_path, users=entries, **more)  # type: ignore[arg-type]


def test_users_have_the_listed_numbers_groups_keys_and_rights(tmp_path: Path) -> None:
    node = with_users(tmp_path, ALICE, BOB)
    assert users.ensure_users(node.context) == "2 users, 2 of them made now, homes in /home"
    alice = account(node.context.root, "alice")
    assert alice is not None
    assert (alice.uid, alice.gid, alice.home) == (2001, 2001, "/home/alice")
    assert {group.name for group in groups(node.context.root) if "alice" in group.members} == {"docker"}
    assert node.read("/etc/sudoers.d/hyperpod-cdk-alice") == "alice ALL=(ALL) NOPASSWD:ALL\n"
    assert node.context.root.path("/etc/sudoers.d/hyperpod-cdk-alice").stat().st_mode & 0o777 == 0o440
    assert not node.context.root.path("/etc/sudoers.d/hyperpod-cdk-bob").exists()
    assert "ssh-ed25519 AAAAC3Nza alice@laptop" in node.read("/home/alice/.ssh/authorized_keys").splitlines()
    assert node.context.root.path("/home/alice/.ssh").stat().st_mode & 0o777 == 0o700
    assert node.context.root.path("/home/alice/.ssh/authorized_keys").stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_homes_belong_to_their_users(tmp_path: Path) -> None:
    node = with_users(tmp_path, ALICE)
    users.ensure_users(node.context)
    for path in ("", "/.bashrc", "/.ssh", "/.ssh/authorized_keys"):
        status = node.context.root.path(f"/home/alice{path}").stat()
        assert (status.st_uid, status.st_gid) == (2001, 2001), path


def test_124_a_second_run_changes_nothing(tmp_path: Path) -> None:
    node = with_users(tmp_path, ALICE, BOB)
    mounts.mount_file_systems(node.context)
    for _ in range(2):
        home.move_home(node.context)
        users.ensure_users(node.context)
        ssh.ensure_node_keys(node.context)
    before, calls = snapshot(node.context.root.prefix), len(node.machine.calls())
    home.move_home(node.context)
    assert users.ensure_users(node.context) == "2 users, 0 of them made now, homes in /fsx"
    assert ssh.ensure_node_keys(node.context) == "3 users, 0 keys made by this node"
    assert snapshot(node.context.root.prefix) == before
    assert len(node.machine.calls()) == calls


def test_right_to_sudo_is_taken_back(tmp_path: Path) -> None:
    users.ensure_users(with_users(tmp_path, ALICE).context)
    node = with_users(tmp_path, {**ALICE, "sudo": False})
    users.ensure_users(node.context)
    assert not node.context.root.path("/etc/sudoers.d/hyperpod-cdk-alice").exists()


def test_keys_follow_the_list_and_a_users_own_stay(tmp_path: Path) -> None:
    users.ensure_users(with_users(tmp_path, ALICE).context)
    node = with_users(tmp_path, {**ALICE, "ssh_public_keys": ["ssh-ed25519 NEW alice@desk"]})
    node.machine.append("/home/alice/.ssh/authorized_keys", "ssh-rsa OWN alice@elsewhere")
    users.ensure_users(node.context)
    keys = node.read("/home/alice/.ssh/authorized_keys")
    assert "NEW" in keys
    assert "OWN" in keys
    assert "AAAAC3Nza" not in keys


def test_117_groups_that_a_node_lacks_are_left_out_with_a_warning(tmp_path: Path) -> None:
    node = with_users(tmp_path, {**ALICE, "groups": ["docker", "simulation"]})
    users.ensure_users(node.context)
    assert "WARNING: user alice: this node has no group simulation" in node.log
    assert node.calls("usermod") == [["usermod", "--append", "--groups", "docker", "alice"]]


def test_a_group_of_ones_own_may_have_another_number(tmp_path: Path) -> None:
    node = with_users(tmp_path, {**BOB, "gid": 3002})
    users.ensure_users(node.context)
    assert node.calls("groupadd") == [["groupadd", "--gid", "3002", "bob"]]
    found = account(node.context.root, "bob")
    assert found
    assert (found.uid, found.gid) == (2002, 3002)


def test_a_group_with_another_number_than_asked_for_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = with_users(tmp_path, BOB)

    def odd(machine: Machine, call: Call) -> tuple[int, str]:
        machine.append("/etc/passwd", f"{call.last}:x:2002:999::/home/bob:/bin/bash")
        return 0, ""

    monkeypatch.setitem(COMMANDS, "useradd", odd)
    with pytest.raises(NodeError, match="useradd gave bob gid 999 instead of 2002") as error:
        users.ensure_users(node.context)
    assert "login.defs" in error.value.advice


def test_users_may_share_an_existing_primary_group(tmp_path: Path) -> None:
    node = with_users(tmp_path, ALICE, {**BOB, "gid": 2001})
    users.ensure_users(node.context)
    # alice's own came with her
    assert node.calls("groupadd") == []
    assert [entry.gid for entry in accounts(node.context.root) if entry.name in ("alice", "bob")] == [
        2001,
        2001,
    ]


@pytest.mark.parametrize(
    ("file", "line", "message"),
    [
        ("passwd", "alice:x:3000:2001::/home/alice:/bin/bash", "user alice has uid 3000 on this node"),
        ("passwd", "carol:x:2001:2001::/home/carol:/bin/bash", "uid 2001 of alice belongs to carol"),
        ("passwd", "alice:x:2001:100::/home/alice:/bin/bash", "user alice has gid 100 on this node"),
        ("group", "alice:x:4000:", "group alice has gid 4000 on this node"),
    ],
)
def test_95_numbers_in_use_are_refused_before_anything_changes(
    tmp_path: Path, file: str, line: str, message: str
) -> None:
    node = with_users(tmp_path, BOB, ALICE)
    node.machine.append(f"/etc/{file}", line)
    before = snapshot(node.context.root.prefix)
    with pytest.raises(NodeError, match=message) as error:
        users.ensure_users(node.context)
    assert "free number" in error.value.advice
    assert snapshot(node.context.root.prefix) == before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_95_a_home_of_another_number_is_refused_with_both_numbers(tmp_path: Path) -> None:
    node = with_users(tmp_path, ALICE)
    old = node.context.root.path("/home/alice")
    old.mkdir()
    os.chown(old, 3001, 3001)
    with pytest.raises(NodeError, match="belongs to uid 3001, but alice has uid 2001") as error:
        users.ensure_users(node.context)
    assert "chown -R 2001 /home/alice" in error.value.advice


@pytest.mark.parametrize("place", ["/home/alice", "/home/alice/.ssh"])
def test_a_link_that_a_user_planted_is_not_followed(tmp_path: Path, place: str) -> None:
    node = with_users(tmp_path, ALICE, BOB)
    prey = node.context.root.path("/root/.ssh")
    prey.mkdir(parents=True)
    link = node.context.root.path(place)
    link.parent.mkdir(parents=True, exist_ok=True)
    if place.endswith(".ssh") and os.geteuid() == 0:
        os.chown(link.parent, 2001, 2001)
    link.symlink_to(prey)
    if place.endswith(".ssh"):
        # a home is as its user wants it: for that no node of the cluster is lost
        users.ensure_users(node.context)
        assert "WARNING: the keys of alice stay as they are: /home/alice/.ssh is no plain dir" in node.log
        assert account(node.context.root, "bob") is not None
    else:
        with pytest.raises(NodeError, match="no directory"):
            users.ensure_users(node.context)
    assert list(prey.iterdir()) == []


def test_a_folder_of_the_users_where_a_file_belongs_costs_no_node(tmp_path: Path) -> None:
    node = with_users(tmp_path, ALICE, BOB)
    users.ensure_users(node.context)
    keys = node.context.root.path("/home/alice/.ssh/authorized_keys")
    keys.unlink()
    keys.mkdir()
    (keys / "x").touch()
    users.ensure_users(node.context)
    assert "the keys of alice stay as they are: [Errno" in node.log


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_folder_that_an_ended_run_did_not_give_away_is_given_now(tmp_path: Path) -> None:
    node = with_users(tmp_path, ALICE)
    users.ensure_users(node.context)
    folder = node.context.root.path("/home/alice/.ssh")
    shutil.rmtree(folder)
    folder.mkdir(0o700)
    users.ensure_users(node.context)
    assert (folder.stat().st_uid, folder.stat().st_gid) == (2001, 2001)
    # what root has put there on purpose stays root's
    os.chown(folder, 0, 0)
    users.ensure_users(node.context)
    assert folder.stat().st_uid == 0


def test_locked_databases_are_tried_again(tmp_path: Path) -> None:
    locked = CommandFault(
        command="useradd", times=2, output="useradd: cannot lock /etc/passwd; try again later."
    )
    node = with_users(tmp_path, ALICE, faults=[locked])
    users.ensure_users(node.context)
    assert account(node.context.root, "alice") is not None


def test_without_users_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert idle.no_users(bench(tmp_path / "a").context) == "no users listed"
    assert idle.no_users(bench(tmp_path / "b", users=[ALICE]).context) == ""


def ready(tmp_path: Path, name: str, shared: Path, **more: object) -> Bench:
    node = with_users(tmp_path / name, ALICE, storage=shared, **more)
    mounts.mount_file_systems(node.context)
    home.move_home(node.context)
    users.ensure_users(node.context)
    return node


def test_one_key_for_all_nodes(tmp_path: Path) -> None:
    first, second = (ready(tmp_path, name, tmp_path / "shared", index=n) for n, name in ((1, "a"), (2, "b")))
    assert ssh.ensure_node_keys(first.context) == "2 users, 2 keys made by this node"
    assert ssh.ensure_node_keys(second.context) == "2 users, 0 keys made by this node"
    public = second.read("/fsx/alice/.ssh/id_ed25519.pub").strip()
    keys = second.read("/fsx/alice/.ssh/authorized_keys").splitlines()
    assert keys.count(public) == 1
    assert public.endswith("alice@ml-training-cluster")
    assert "StrictHostKeyChecking no" in second.read("/etc/ssh/ssh_config.d/50-hyperpod-cdk.conf")
    assert second.context.root.path("/fsx/alice/.ssh/id_ed25519").stat().st_mode & 0o777 == 0o600


def test_the_key_of_the_service_is_used(tmp_path: Path) -> None:
    node = ready(tmp_path, "a", tmp_path / "shared")
    node.machine.write("/fsx/ubuntu/.ssh/id_rsa", "PRIVATE\n")
    node.machine.write("/fsx/ubuntu/.ssh/id_rsa.pub", "ssh-rsa SERVICE ubuntu\n")
    ssh.ensure_node_keys(node.context)
    assert "ssh-rsa SERVICE ubuntu" in node.read("/fsx/ubuntu/.ssh/authorized_keys")
    assert not node.context.root.path("/fsx/ubuntu/.ssh/id_ed25519").exists()


def test_a_key_with_a_passphrase_is_left_alone(tmp_path: Path) -> None:
    node = ready(tmp_path, "a", tmp_path / "shared")
    node.machine.write("/fsx/alice/.ssh/id_ed25519", "ENCRYPTED\n")
    ssh.ensure_node_keys(node.context)
    assert node.read("/fsx/alice/.ssh/id_ed25519") == "ENCRYPTED\n"
    assert "cannot be read without its passphrase" in node.log


def test_one_broken_home_keeps_nobody_else_from_a_key(tmp_path: Path) -> None:
    node = with_users(tmp_path, ALICE, BOB)
    mounts.mount_file_systems(node.context)
    users.ensure_users(node.context)
    folder = node.context.root.path("/fsx/alice/.ssh")
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to("elsewhere")
    with pytest.raises(NodeError, match="no key for alice; the other 1 have theirs"):
        ssh.ensure_node_keys(node.context)
    assert node.context.root.path("/fsx/bob/.ssh/id_ed25519").is_file()


def test_no_keys_in_local_homes(tmp_path: Path) -> None:
    node = with_users(tmp_path, ALICE)
    users.ensure_users(node.context)
    with pytest.raises(StepSkippedError, match="no home is on a shared file system"):
        ssh.ensure_node_keys(node.context)
    assert not node.context.root.path("/home/alice/.ssh/id_ed25519").exists()
