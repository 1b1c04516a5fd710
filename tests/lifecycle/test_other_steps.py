"""Network, packages and the user's own steps: field reports 38, 77, 100, 102, 103 and 125."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.node import CommandFault
from hyperpod_cdk.rehearsal.node_commands.machine import STATE
from hyperpod_cdk.rehearsal.node_commands.services import units_of
from hyperpod_node import apt, idle
from hyperpod_node.errors import NodeError, StepSkippedError
from hyperpod_node.steps import extra, network, packages
from tests.lifecycle.helpers import Bench, bench
from tests.lifecycle.scripted import scripted

KERNEL_AND_LUSTRE = ["linux-aws", "linux-image-6.8.0-1040-aws", "lustre-client-modules-aws"]


def test_waits_for_names_and_100_for_the_metadata_service(tmp_path: Path) -> None:
    faults = [CommandFault(command=name, times=2, exit_code=2) for name in ("getent", "curl")]
    node = bench(tmp_path, faults=faults)
    assert "instance metadata answers" in network.wait_for_network(node.context)
    assert [call[-1] for call in node.calls("getent")] == ["s3.us-west-2.amazonaws.com"] * 3
    assert len(node.calls("curl")) == 3


def test_38_a_network_that_never_comes_ends_within_the_bound(tmp_path: Path) -> None:
    node = bench(tmp_path, faults=[CommandFault(command="getent", exit_code=2, output="")])
    with pytest.raises(NodeError, match="DNS: still not so after 120 s") as error:
        network.wait_for_network(node.context)
    assert "EnableDnsSupport" in error.value.advice
    assert node.clock.time == pytest.approx(120)


def test_102_kernel_and_lustre_are_held_and_upgrades_are_off(tmp_path: Path) -> None:
    node = bench(tmp_path)
    assert packages.hold_packages(node.context).startswith("3 packages held, 3 of them now")
    assert node.machine.texts("held") == KERNEL_AND_LUSTRE
    units = units_of(node.machine)
    for unit in ("apt-daily.timer", "apt-daily-upgrade.timer", "unattended-upgrades"):
        assert units[unit] == {"active": False, "masked": True}
    assert 'APT::Periodic::Unattended-Upgrade "0";' in node.read("/etc/apt/apt.conf.d/99-hyperpod-cdk")


def test_102_before_anything_can_be_installed(tmp_path: Path) -> None:
    node = bench(tmp_path)
    packages.hold_packages(node.context)
    verbs = [call[:2] for call in node.machine.calls()]
    assert verbs.index(["systemctl", "mask"]) < verbs.index(["dpkg", "--set-selections"])


def test_124_a_second_run_holds_nothing_anew(tmp_path: Path) -> None:
    node = bench(tmp_path)
    packages.hold_packages(node.context)
    assert packages.hold_packages(node.context).startswith("3 packages held, 0 of them now")
    assert len(node.calls("dpkg", "--set-selections")) == 1


LOCKED = "dpkg: error: dpkg frontend lock was locked by another process with pid 1234"
HOLD_FAILS = CommandFault(command="dpkg", contains="--set-selections", exit_code=2, output=LOCKED)


def test_103_a_locked_database_is_waited_for(tmp_path: Path) -> None:
    locked = replace(HOLD_FAILS, times=16)
    node = bench(tmp_path, faults=[locked])
    packages.hold_packages(node.context)
    assert node.clock.time > 60
    assert node.machine.texts("held") == KERNEL_AND_LUSTRE


def test_103_a_lock_that_is_never_given_back_ends_within_the_bound(tmp_path: Path) -> None:
    locked = HOLD_FAILS
    node = bench(tmp_path, faults=[locked])
    with pytest.raises(NodeError, match="getting the lock of dpkg: still not so after 300 s") as error:
        packages.hold_packages(node.context)
    assert "fuser" in error.value.advice
    assert apt.LOCK_WAIT_SECONDS >= 120


def test_other_faults_of_dpkg_are_not_waited_for(tmp_path: Path) -> None:
    broken = replace(HOLD_FAILS, output="dpkg: error: unable to access the database")
    node = bench(tmp_path, faults=[broken])
    with pytest.raises(NodeError, match="unable to access the database"):
        packages.hold_packages(node.context)
    assert node.clock.time == 0


def test_a_fault_that_only_speaks_of_locks_is_not_waited_for(tmp_path: Path) -> None:
    this = scripted(tmp_path, answers={"dpkg --install": (1, "Setting up libblockdev2\ndpkg: error: exit 1")})
    with pytest.raises(NodeError, match="dpkg ended with exit code 1: dpkg: error: exit 1"):
        apt.install_files(this.context, [tmp_path / "enroot.deb"])
    assert this.bench.clock.time == 0


def test_nodes_of_a_large_cluster_take_turns_at_the_mirror(tmp_path: Path) -> None:
    moments = []
    for nodes in (2, 500):
        this = scripted(tmp_path / str(nodes))
        node = this.context.node
        many = node.cluster._replace(instances=node.cluster.instances[:1] * nodes)
        assert apt.install(this.context._replace(node=node._replace(cluster=many)), ["sssd"]) == ["sssd"]
        moments.append(this.bench.clock.time)
    assert moments[0] == 0
    assert 0 < moments[1] < 10


def test_an_image_without_apt_is_left_alone(tmp_path: Path) -> None:
    node = bench(tmp_path)
    for name in ("dpkg", "dpkg-query"):
        (node.context.root.prefix / STATE / "bin" / name).unlink()
    with pytest.raises(StepSkippedError, match="no apt"):
        packages.hold_packages(node.context)
    assert node.machine.calls() == [["ip", "-json", "address", "show"]]


def own_step(node: Bench, name: str, text: str, *, newline: str = "\n") -> None:
    path = node.context.directory / "extra" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline=newline)
    path.chmod(0o644)


def running(tmp_path: Path) -> Bench:
    node = bench(tmp_path)
    node.context.environment[extra.RUN_ANYWAY] = "1"  # type: ignore[index]
    return node


def test_77_own_steps_run_in_order_without_an_execute_bit(tmp_path: Path) -> None:
    node = running(tmp_path)
    own_step(node, "before.d/20-second.sh", "echo second on $HYPERPOD_NODE_TYPE $HYPERPOD_INSTANCE_GROUP\n")
    own_step(node, "before.d/10-first.py", "print('first')\n")
    own_step(node, "before.d/README.md", "no script\n")
    assert extra.run_before(node.context) == "10-first.py, 20-second.sh"
    said = [line.split("| ")[1] for line in node.log.splitlines() if "| " in line]
    assert said == ["first", "second on Compute compute"]


def test_own_steps_after_are_others_than_before(tmp_path: Path) -> None:
    node = running(tmp_path)
    own_step(node, "after.d/x.sh", "echo after\n")
    assert idle.nothing_before(node.context) == "nothing in extra/before.d"
    assert idle.nothing_after(node.context) == ""
    assert extra.run_after(node.context) == "x.sh"


def test_125_an_own_step_that_fails_is_named_and_ends_the_step(tmp_path: Path) -> None:
    node = running(tmp_path)
    own_step(node, "after.d/1.sh", "set -e\necho reason >&2\nfalse\necho never\n")
    own_step(node, "after.d/2.sh", "echo never\n")
    with pytest.raises(NodeError, match="bash ended with exit code 1: reason") as error:
        extra.run_after(node.context)
    assert "extra/after.d/1.sh" in error.value.advice
    assert "never" not in node.log


def test_77_windows_line_endings_are_named(tmp_path: Path) -> None:
    node = running(tmp_path)
    own_step(node, "before.d/1.sh", "echo hello\n", newline="\r\n")
    with pytest.raises(NodeError, match=r"extra/before\.d/1\.sh has Windows line endings") as error:
        extra.run_before(node.context)
    assert ".gitattributes" in error.value.advice


def test_outside_a_node_own_steps_are_only_checked(tmp_path: Path) -> None:
    node = bench(tmp_path)
    mark = tmp_path / "mark"
    own_step(node, "before.d/1.sh", f": > {mark}\n")
    own_step(node, "before.d/2.py", f"open({str(mark)!r}, 'w')\n")
    assert "only checked, not run" in extra.run_before(node.context)
    assert not mark.exists()
    own_step(node, "before.d/3.sh", "if true; then\n")
    with pytest.raises(NodeError, match="syntax error"):
        extra.run_before(node.context)
