"""Single checks of check-node, where no host has to be broken for them; and that each one is on some host."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hyperpod_node.checks import CHECKS, boot, machine, people, slurm_files
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.step import Step
from hyperpod_node.steps import adopt, epilog
from hyperpod_node.steps.slurm_files import own_text
from tests.lifecycle.helpers import ALICE, LUSTRE
from tests.lifecycle.sandbox.damages import BY_HOST, DOUBTFUL, NODE_TYPES, NOT_PLAYED, UNFIT, Damage
from tests.lifecycle.scripted import Scripted, scripted

DOC = Path(__file__).parents[2] / "docs" / "nodes.md"
SOURCE = f"10.0.0.1@tcp:/{LUSTRE['mount_name']}"


def gaps(
    checks: Sequence[Step], rows: Mapping[str, Sequence[Damage]], not_played: Mapping[str, str]
) -> Iterator[str]:
    """Checks that nothing is broken for on a node type, and rows that do not fit theirs."""
    known = {check.name: check for check in checks}
    for host, damages in rows.items():
        kind, played = NODE_TYPES[host], {damage.check for damage in damages}
        for check in checks:
            if kind in check.node_types and check.name not in {*played, *not_played}:
                yield f"{check.name}: nothing is broken on a {kind.lower()} node"
        for damage in damages:
            found = known.get(damage.check)
            if found is None:
                yield f"{damage.check}: there is no such check"
            elif damage.exit_code != (UNFIT if found.required else DOUBTFUL):
                yield f"{damage.check}: exit code {damage.exit_code} does not fit the check"
    for name in not_played:
        if name not in known or not not_played[name]:
            yield f"{name}: no such check, or no reason"


def test_each_check_has_something_broken_for_it_on_each_node_type() -> None:
    assert list(gaps(CHECKS, BY_HOST, NOT_PLAYED)) == []


def test_a_gap_is_told() -> None:
    def check(**members: Any) -> Step:
        return Step(name="new", run=lambda _context: "", **members)

    row = Damage("new", UNFIT, "harm", "mend", "says")
    login = {"login-1": (row,)}
    everywhere = "new: nothing is broken on a login node"
    assert list(gaps([check()], {"login-1": ()}, {})) == [everywhere]
    assert list(gaps([check(node_types=("Compute",))], {"login-1": ()}, {})) == []
    assert list(gaps([check()], {"login-1": ()}, {"new": "needs a GPU"})) == []
    assert list(gaps([check()], {"login-1": ()}, {"new": ""})) == ["new: no such check, or no reason"]
    assert list(gaps([check()], login, {})) == []
    assert list(gaps([check(required=False)], login, {})) == ["new: exit code 1 does not fit the check"]
    assert list(gaps([], login, {})) == ["new: there is no such check"]


def test_what_cannot_run_here_has_a_command_and_a_good_answer() -> None:
    text = DOC.read_text(encoding="utf-8")
    table = text[text.index("| Not here | On a node | A good answer |") :].split("\n\n")[0].splitlines()[2:]
    assert len(table) > 15
    named = set()
    for row in table:
        what, command, answer = (cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1])
        assert what
        assert re.search(r"`[^`]+`", command), row
        assert answer, row
        lines = re.findall(r"lines? ((?:`[\w-]+`,? ?)+)", answer)
        named |= {name for found in lines for name in re.findall(r"`([\w-]+)`", found)}
    assert {"gpus", "efa", "lustre-efa", "docker", "enroot", "metrics"} <= named
    assert named <= {check.name for check in CHECKS}


class TestMounts:
    """What lies where a file system shall be."""

    def test_a_mount_that_went_read_only(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, present=["stat"])
        mounts(this, f"{SOURCE} /fsx lustre rw,flock 0 0")
        assert machine.mounts(this.context) == "/fsx"
        mounts(this, f"{SOURCE} /fsx lustre ro,flock 0 0")
        with pytest.raises(NodeError, match="read-only: /fsx"):
            machine.mounts(this.context)

    def test_what_lies_below_another_mount_does_not_count(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, present=["stat"])
        mounts(this, f"{SOURCE} /fsx lustre ro,flock 0 0", f"{SOURCE} /fsx lustre rw,flock 0 0")
        assert machine.mounts(this.context) == "/fsx"

    def test_another_file_system(self, tmp_path: Path) -> None:
        this = scripted(tmp_path, present=["stat"])
        mounts(this, "10.0.0.1@tcp:/zyxwvuts /fsx lustre rw 0 0")
        with pytest.raises(
            NodeError, match=r"has 10\.0\.0\.1@tcp:/zyxwvuts mounted, but config.json says fs-"
        ):
            machine.mounts(this.context)

    def test_98_what_is_mounted_when_it_is_touched(self, tmp_path: Path) -> None:
        def touched(_arguments: tuple[str, ...]) -> tuple[int, str]:
            mounts(this, "systemd-1 /fsx autofs rw 0 0", f"{SOURCE} /fsx lustre rw 0 0")
            return 0, ""

        this = scripted(tmp_path, answers={"stat": touched}, present=["stat"])
        mounts(this, "systemd-1 /fsx autofs rw 0 0")
        assert machine.mounts(this.context) == "/fsx"


def mounts(this: Scripted, *lines: str) -> None:
    this.context.root.write("/proc/mounts", "".join(f"{line}\n" for line in lines))


def test_room_is_counted_as_df_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    this = scripted(tmp_path)

    class Usage:
        f_blocks, f_bfree, f_bavail = 1000, 200, 100

    monkeypatch.setattr("os.statvfs", lambda _path: Usage)
    assert machine.root_disk(this.context) == "89 % full"
    Usage.f_bfree, Usage.f_bavail = 180, 80
    with pytest.raises(NodeError, match="91 % full"):
        machine.root_disk(this.context)


def test_groups_count_without_users_too(tmp_path: Path) -> None:
    this = scripted(tmp_path, more={"user_groups": [{"name": "vision", "gid": 3000}]})
    with pytest.raises(NodeError, match="group vision has no number instead of 3000"):
        people.users(this.context)
    this.context.root.write("/etc/group", this.read("/etc/group") + "vision:x:3999:\n")
    with pytest.raises(NodeError, match="group vision has 3999 instead of 3000"):
        people.users(this.context)
    this.context.root.write("/etc/group", this.read("/etc/group").replace("3999", "3000"))
    assert people.users(this.context) == "0 users, 1 groups"


def test_a_home_on_the_nodes_own_disk(tmp_path: Path) -> None:
    this = scripted(tmp_path)
    mounts(this)
    with pytest.raises(StepSkippedError):
        people.home(this.context)
    mounts(this, f"{SOURCE} /fsx lustre rw 0 0")
    with pytest.raises(NodeError, match="ubuntu has /home/ubuntu, on this node's own disk"):
        people.home(this.context)


def test_a_home_on_a_file_system_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    this = scripted(tmp_path, users=[{**ALICE, "sudo": False, "groups": []}])
    this.context.root.write(
        "/etc/passwd", this.read("/etc/passwd") + "alice:x:2001:2001::/fsx/alice:/bin/bash\n"
    )
    with pytest.raises(NodeError, match="alice has no home /fsx/alice"):
        people.users(this.context)
    this.context.root.write("/fsx/alice", "no folder")
    with pytest.raises(NodeError, match="/fsx/alice of alice is no folder"):
        people.users(this.context)

    stat = Path.stat

    def gone(path: Path, **options: bool) -> os.stat_result:
        if path.name == "alice":
            raise OSError(errno.ENODEV, os.strerror(errno.ENODEV))
        return stat(path, **options)

    monkeypatch.setattr(Path, "stat", gone)
    with pytest.raises(NodeError, match="/fsx/alice can not be looked at: No such device"):
        people.users(this.context)


def test_users_who_get_from_node_to_node(tmp_path: Path) -> None:
    this = scripted(tmp_path, users=[ALICE])
    root = this.context.root
    mounts(this, f"{SOURCE} /fsx lustre rw 0 0")
    root.write("/etc/passwd", this.read("/etc/passwd") + "alice:x:2001:2001::/fsx/alice:/bin/bash\n")
    with pytest.raises(NodeError, match=r"alice has no key of their own; no /etc/ssh/ssh_config\.d"):
        people.ssh(this.context)
    root.write("/etc/ssh/ssh_config.d/50-hyperpod-cdk.conf", "x")
    root.write("/fsx/alice/.ssh/id_rsa", "private")
    # one with a passphrase is left alone
    assert people.ssh(this.context) == "1 users"
    root.write("/fsx/alice/.ssh/id_rsa.pub", "ssh-rsa AAAAB3 alice@ml-cluster\n")
    with pytest.raises(NodeError, match="the key of alice lets them in nowhere"):
        people.ssh(this.context)
    root.write("/fsx/alice/.ssh/authorized_keys", "ssh-rsa AAAAB3 another comment\n")
    assert people.ssh(this.context) == "1 users"


def test_what_does_not_come_back_by_itself(tmp_path: Path) -> None:
    this = scripted(tmp_path)
    root = this.context.root
    root.write("/etc/fstab", "#x /fsx lustre defaults 0 0\n")
    with pytest.raises(NodeError, match=r"next start: /fsx, munge, slurmd$"):
        boot.at_boot(this.context)
    root.write("/etc/fstab", "x /fsx lustre defaults 0 0\n")
    for name in ("munge", "slurmd"):
        link = root.path(f"/etc/systemd/system/multi-user.target.wants/{name}.service")
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to("/x")
    assert boot.at_boot(this.context) == "/fsx, munge, slurmd"
    service = scripted(tmp_path / "service", mode="extension")
    with pytest.raises(StepSkippedError, match="the service starts and mounts"):
        boot.at_boot(service.context)


def test_an_epilog_that_is_not_run(tmp_path: Path) -> None:
    this = scripted(tmp_path)
    root = this.context.root
    with pytest.raises(NodeError, match="missing, changed or not executable"):
        slurm_files.epilog_script(this.context)
    root.write(epilog.SCRIPT, epilog.TEXT, mode=0o755)
    assert slurm_files.epilog_script(this.context) == epilog.SCRIPT
    root.write("/var/spool/slurmd/conf-cache/slurm.conf", "Epilog=/else\n")
    with pytest.raises(NodeError, match="Slurm has Epilog=/else"):
        slurm_files.epilog_script(this.context)


def test_logins_without_a_job(tmp_path: Path) -> None:
    this = scripted(tmp_path)
    root = this.context.root
    root.write(adopt.SSHD, f"# {adopt.MODULE}\naccount required pam_unix.so\n")
    root.write(adopt.ACCESS, "x")
    with pytest.raises(NodeError, match="logins need no job here"):
        slurm_files.adopted(this.context)
    root.write(adopt.SSHD, f"account required {adopt.MODULE}\n")
    assert slurm_files.adopted(this.context) == "logins need a job here"


def test_a_purge_that_is_not_there(tmp_path: Path) -> None:
    this = scripted(
        tmp_path, more={"accounting": {"purge": {"PurgeJobAfter": "12month"}}}, group="controller"
    )
    root = this.context.root
    with pytest.raises(StepSkippedError):
        slurm_files.purge(this.context)
    root.write("/opt/slurm/etc/slurmdbd.conf", "DbdHost=localhost\nPurgeJobAfter=1month\n")
    with pytest.raises(NodeError, match=r"slurmdbd\.conf lacks PurgeJobAfter=12month"):
        slurm_files.purge(this.context)
    root.write("/opt/slurm/etc/slurmdbd.conf", "PurgeJobAfter=12month\n")
    assert slurm_files.purge(this.context) == "PurgeJobAfter=12month"


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"slurm.conf": "ClusterName=x\n"}, "slurm.conf does not include hyperpod-cdk.conf"),
        ({"plugstack.conf": "include /opt/x/*.conf\n"}, "plugstack.conf includes /opt/x/\\*.conf"),
        ({"hyperpod-cdk.conf": "# changed\n"}, "hyperpod-cdk.conf is not what the deployment says"),
        ({"topology.conf": "# nothing\n"}, "topology.conf is empty"),
        (
            {"slurm.conf": "TopologyPlugin=topology/tree\nInclude hyperpod-cdk.conf\n"},
            "topology/tree without a topology refuses jobs",
        ),
        ({"accounting.conf": "AccountingStorageType=x\n"}, r"slurm\.conf does not include accounting\.conf"),
    ],
)
def test_slurms_files(tmp_path: Path, files: dict[str, str], says: str) -> None:
    this = scripted(tmp_path, group="controller")
    write = this.context.root.write
    write("/opt/slurm/etc/slurm.conf", "ClusterName=x\nInclude hyperpod-cdk.conf\n")
    write("/opt/slurm/etc/hyperpod-cdk.conf", own_text(this.context))
    assert slurm_files.files(this.context) == "as they should be"
    for name, text in files.items():
        write(f"/opt/slurm/etc/{name}", text)
    with pytest.raises(NodeError, match=f"^{says}$|/{says}$"):
        slurm_files.files(this.context)


def test_a_watch_that_is_off(tmp_path: Path) -> None:
    answers: dict[str, Any] = {"systemctl is-active": (3, "inactive")}
    this = scripted(tmp_path, answers=answers, group="controller")
    with pytest.raises(NodeError, match=r"slurm-files\.path does not run: nobody"):
        slurm_files.watch(this.context)
    answers["systemctl is-active"] = (0, "active")
    with pytest.raises(NodeError, match=r"login\.timer does not run after the next start: srun"):
        slurm_files.login_watch(this.context)
