"""Mounting and checking file systems: field reports 3, 38, 96, 98, 99, 117 and peers' fixed paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.node import CommandFault
from hyperpod_cdk.rehearsal.node_commands.host import attach
from hyperpod_node import idle, live_mounts, lustre_efa
from hyperpod_node.config import Mount
from hyperpod_node.errors import NodeError
from hyperpod_node.steps import mounts
from tests.lifecycle.helpers import LUSTRE, OPENZFS, Bench, bench

BOUND = 20.0


@pytest.fixture(autouse=True)
def short_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fewer polls until a bound is reached: each starts a process."""
    for name in ("DNS", "MOUNT", "WRITE", "SERVICE_MOUNT"):
        assert 120 <= getattr(mounts, f"{name}_LIMIT_SECONDS") <= 300
        monkeypatch.setattr(mounts, f"{name}_LIMIT_SECONDS", BOUND)


SCRATCH = {**LUSTRE, "mount_path": "/data/scratch"}
PROJECTS = {**OPENZFS, "mount_path": "/data", "export_path": "/fsx/projects"}


def fstab(node: Bench) -> list[str]:
    return [line for line in node.read("/etc/fstab").splitlines() if "fs-0" in line]


def test_several_file_systems_at_any_path_parents_first(tmp_path: Path) -> None:
    node = bench(tmp_path, mounts=[SCRATCH, PROJECTS])
    mounts.mount_file_systems(node.context)
    assert [call[1] for call in node.calls("mount")] == ["/data", "/data/scratch"]
    assert fstab(node)[0].startswith(f"{OPENZFS['dns_name']}:/fsx/projects /data nfs ")
    assert fstab(node)[1].startswith(f"{LUSTRE['dns_name']}@tcp:/abcdefgh /data/scratch lustre ")


def test_98_fstab_line_once_with_the_options_for_boot(tmp_path: Path) -> None:
    node = bench(tmp_path)
    mounts.mount_file_systems(node.context)
    mounts.mount_file_systems(node.context)
    assert len(fstab(node)) == 1
    options = fstab(node)[0].split()[3].split(",")
    wanted = {"_netdev", "noatime", "flock", "x-systemd.automount"}
    assert wanted | {"x-systemd.requires=network-online.target"} <= set(options)
    assert len(node.calls("mount")) == 1
    assert node.read("/etc/fstab").startswith("LABEL=cloudimg-rootfs")


def test_a_line_for_the_path_by_somebody_else_is_replaced(tmp_path: Path) -> None:
    node = bench(tmp_path)
    node.machine.append(
        "/etc/fstab", "fs-0ffffffff.fsx.us-west-2.amazonaws.com@tcp:/old /fsx lustre defaults 0 0"
    )
    mounts.mount_file_systems(node.context)
    assert len(fstab(node)) == 1
    assert "/abcdefgh" in fstab(node)[0]


@pytest.mark.parametrize("efa", [True, False])
def test_99_order_after_the_efa_client_only_where_it_is_installed(tmp_path: Path, efa: bool) -> None:
    node = bench(tmp_path, mounts=[LUSTRE, OPENZFS])
    if efa:
        node.machine.write(f"/etc/systemd/system/{lustre_efa.AWS_UNIT}", "[Unit]\n")
    mounts.mount_file_systems(node.context)
    assert [f"x-systemd.after={lustre_efa.AWS_UNIT}" in line for line in fstab(node)] == [efa, False]


def test_38_waits_for_the_name_and_logs_what_the_resolver_said(tmp_path: Path) -> None:
    late = CommandFault(command="getent", contains="fs-0123", times=3, exit_code=2)
    node = bench(tmp_path, faults=[late])
    mounts.mount_file_systems(node.context)
    assert len(node.calls("getent")) == 4
    assert "waiting for the file system's DNS name: fs-0123" in node.log
    assert node.calls("mount") == [["mount", "/fsx"]]


def test_38_a_name_that_never_resolves_ends_within_the_bound(tmp_path: Path) -> None:
    never = CommandFault(command="getent", exit_code=2, output="no such host")
    node = bench(tmp_path, faults=[never])
    with pytest.raises(
        NodeError, match=r"does not resolve \(getent ended with exit code 2: no such host\)"
    ) as e:
        mounts.mount_file_systems(node.context)
    assert node.clock.time == pytest.approx(BOUND)
    assert "EnableDnsSupport" in e.value.advice
    assert node.calls("mount") == []


def test_a_mount_that_fails_is_tried_again_and_then_explained(tmp_path: Path) -> None:
    twice = CommandFault(command="mount", times=2, exit_code=32, output="mount.lustre: Connection timed out")
    node = bench(tmp_path / "a", faults=[twice])
    mounts.mount_file_systems(node.context)
    assert len(node.calls("mount")) == 3
    ever = CommandFault(command="mount", exit_code=32, output="mount.lustre: Connection timed out")
    with pytest.raises(NodeError, match="Connection timed out") as error:
        mounts.mount_file_systems(bench(tmp_path / "b", faults=[ever]).context)
    assert "988 and 1018-1023" in error.value.advice


def block_writes(node: Bench, path: str) -> Path:
    """Make the node's own probe file impossible, as on a file system that does not take writes yet."""
    probe = (
        node.context.root.path(path) / f".hyperpod-cdk-write-check.{node.context.node.instance.instance_id}"
    )
    probe.mkdir()
    return probe


def test_96_mounted_but_not_writable_for_a_while(tmp_path: Path) -> None:
    node = bench(tmp_path, mode="extension")
    probe = block_writes(node, "/fsx")
    node.clock.meanwhile = lambda: probe.rmdir() if len(node.clock.sleeps) == 3 else None
    mounts.verify_mounts(node.context)
    assert len(node.clock.sleeps) == 3
    assert list(node.context.root.path("/fsx").iterdir()) == []


def test_96_never_writable_fails(tmp_path: Path) -> None:
    node = bench(tmp_path, mode="extension")
    block_writes(node, "/fsx")
    with pytest.raises(NodeError, match="writing to /fsx: still not so after 20 s") as error:
        mounts.verify_mounts(node.context)
    assert "no_root_squash" in error.value.advice


def test_a_full_file_system_is_told_and_costs_no_node(tmp_path: Path) -> None:
    node = bench(tmp_path, mode="extension")
    probe = block_writes(node, "/fsx")
    probe.rmdir()
    probe.symlink_to("/dev/full")
    assert mounts.verify_mounts(node.context) == "LUSTRE at /fsx"
    assert "WARNING: /fsx is full: bash: line 1: printf: write error: No space left on device" in node.log
    assert list(node.context.root.path("/fsx").iterdir()) == []
    assert node.clock.sleeps == []


def test_the_write_check_is_a_file_of_this_node_alone(tmp_path: Path) -> None:
    node = bench(tmp_path)
    mounts.mount_file_systems(node.context)
    assert f"write-check.{node.context.node.instance.instance_id}" in node.log


def test_extension_mode_waits_for_the_service_and_never_mounts(tmp_path: Path) -> None:
    node = bench(tmp_path, mode="extension", mounts=[])
    mount = Mount(**LUSTRE)
    node.alter("node", mounts=(mount,))
    node.context.root.path("/fsx").mkdir()

    def service() -> None:
        if len(node.clock.sleeps) == 4:
            attach(node.machine, kind="lustre", source=mounts.source(mount), path="/fsx")

    node.clock.meanwhile = service
    mounts.verify_mounts(node.context)
    assert len(node.clock.sleeps) == 4
    assert node.calls("mount") == []
    assert fstab(node) == []


def test_extension_mode_with_nothing_mounted_fails_within_the_bound(tmp_path: Path) -> None:
    node = bench(tmp_path, mode="extension", mounts=[])
    node.alter("node", mounts=(Mount(**LUSTRE),))
    node.context.root.path("/fsx").mkdir()
    with pytest.raises(NodeError, match="still not so after 20 s: nothing is mounted there"):
        mounts.verify_mounts(node.context)


def test_another_file_system_at_the_path_is_refused(tmp_path: Path) -> None:
    node = bench(tmp_path)
    attach(node.machine, kind="lustre", source="fs-0other@tcp:/zzzzzzzz", path="/fsx")
    with pytest.raises(NodeError, match=r"config\.json says") as error:
        mounts.mount_file_systems(node.context)
    assert "replace this node" in error.value.advice


def test_an_untouched_automount_point_is_no_mount(tmp_path: Path) -> None:
    node = bench(tmp_path)
    node.machine.append("/proc/mounts", "systemd-1 /fsx autofs rw,relatime 0 0")
    assert live_mounts.at(node.context.root, "/fsx") is None
    mounts.mount_file_systems(node.context)
    assert node.calls("mount") == [["mount", "/fsx"]]


def test_escaped_paths_in_proc_mounts(tmp_path: Path) -> None:
    node = bench(tmp_path)
    node.machine.append("/proc/mounts", r"tmpfs /my\040disk tmpfs rw 0 0")
    live = live_mounts.at(node.context.root, "/my disk")
    assert live is not None
    assert live.kernel_type == "tmpfs"


def test_without_file_systems_there_is_nothing_to_do(tmp_path: Path) -> None:
    nothing = bench(tmp_path / "a", mounts=[]).context
    assert idle.none_by_scripts(nothing) == "no file systems to mount"
    assert idle.none_by_service(nothing) == "no file systems by the service"
    ours = bench(tmp_path / "b").context
    assert (idle.none_by_scripts(ours), bool(idle.none_by_service(ours))) == ("", True)


def test_a_second_lustre_is_mounted_by_the_scripts_in_extension_mode(tmp_path: Path) -> None:
    second = {**LUSTRE, "mount_path": "/archive", "mount_name": "zyxwvuts", "by_service": False}
    node = bench(tmp_path, mode="extension", mounts=[LUSTRE, second])
    assert mounts.verify_mounts(node.context) == "LUSTRE at /fsx"
    assert mounts.mount_file_systems(node.context) == "LUSTRE at /archive"
    assert [call[1] for call in node.calls("mount")] == ["/archive"]
    assert "/archive lustre" in node.read("/etc/fstab")
    assert "/fsx" not in node.read("/etc/fstab")
