"""The set-up of a node of Amazon EKS, from its entry script on: field report 137 and failure mode 95."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.lifecycle.eks.machine import DISK, EKS_SCRIPTS, eks_node
from tests.lifecycle.helpers import snapshot

MOVED = {"/var/lib/containerd", "/var/lib/kubelet"}
SCRIPTS = sorted(EKS_SCRIPTS.glob("*.sh"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_125_every_script_is_clean(path: Path) -> None:
    subprocess.run(["bash", "-n", str(path)], check=True)
    beside = Path(sys.executable).with_name("shellcheck")
    checker = str(beside) if beside.exists() else shutil.which("shellcheck")
    if checker:
        found = subprocess.run(
            [checker, "-x", str(path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert found.stdout == ""


def test_137_nothing_is_downloaded() -> None:
    """One failed download took a node down (field report 137)."""
    text = "\n".join(path.read_text() for path in SCRIPTS)
    assert not re.search(r"\b(curl|wget|aws|yum|dnf|pip|rpm)\b", text)


def test_137_images_and_pods_files_go_to_the_disk(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    code, output = node.run()
    assert code == 0
    assert node.mounted() >= MOVED
    assert (node.root / "opt/sagemaker/hyperpod-cdk/kubelet/kubeconfig").read_text() == "kubeconfig"
    unit = (node.root / "etc/systemd/system/var-lib-containerd.mount").read_text()
    assert f"What={DISK}/hyperpod-cdk/containerd\nWhere=/var/lib/containerd\n" in unit
    assert f"ConditionPathIsMountPoint={DISK}" in unit
    order = [call for call in node.calls() if re.search(r" (stop|start|enable) ", call)]
    assert order == [
        "systemctl stop kubelet",
        "systemctl stop containerd",
        "systemctl enable --now var-lib-containerd.mount",
        "systemctl enable --now var-lib-kubelet.mount",
        "systemctl start containerd",
        "systemctl start kubelet",
    ]
    assert node.active() == {"containerd", "kubelet"}
    assert node.log() == output
    assert "set-up succeeded" in output


def test_137_the_disk_is_waited_for(tmp_path: Path) -> None:
    node = eks_node(tmp_path, disk=False)
    node.disk_comes_after(3)
    code, _ = node.run()
    assert code == 0
    assert node.mounted() >= MOVED
    assert node.calls().count("sleep 2") == 3


def test_137_a_node_without_the_disk_is_as_good(tmp_path: Path) -> None:
    """Not every type has the extra volume (field report 137); the wait is bounded."""
    node = eks_node(tmp_path, disk=False)
    before = snapshot(node.root)
    code, output = node.run()
    assert code == 0
    assert "WARNING: nothing is mounted at /opt/sagemaker after 60 s" in output
    assert node.calls() == ["sleep 2"] * 31
    assert {
        path for path in snapshot(node.root) if path not in before and "var/log" not in str(path)
    } == set()


def test_a_name_that_begins_alike_is_another_disk(tmp_path: Path) -> None:
    node = eks_node(tmp_path, disk=False)
    node.mount("/opt/sagemaker_cluster")
    node.settings("disk_wait_seconds=0\n")
    assert node.run()[0] == 0
    assert not node.mounted() & MOVED


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    node.run()
    (node.root / "opt/sagemaker/hyperpod-cdk/containerd/image").write_text("pulled since")
    before = snapshot(node.root)
    code, output = node.run()
    assert code == 0
    assert "have one of their own already" in output
    assert node.calls() == []
    after = snapshot(node.root)
    log = [path for path in before if str(path).endswith("provisioning.log")]
    assert {p: t for p, t in before.items() if p not in log} == {
        p: t for p, t in after.items() if p not in log
    }


def test_95_what_an_older_root_volume_left_on_the_disk_goes(tmp_path: Path) -> None:
    """Another containerd does not understand it (failure mode 95); a software update replaces the root."""
    node = eks_node(tmp_path)
    old = node.root / "opt/sagemaker/hyperpod-cdk/containerd/old.db"
    old.parent.mkdir(parents=True)
    old.write_text("of Amazon Linux 2")
    (node.root / "opt/sagemaker/mine").write_text("the user's")
    assert node.run()[0] == 0
    assert not old.exists()
    assert (old.parent / "io.containerd.metadata.v1.bolt/meta.db").read_text() == "pause"
    assert (node.root / "opt/sagemaker/mine").read_text() == "the user's"


@pytest.mark.parametrize("where", ["/var/lib/kubelet/pods/1/volumes/a", "/run/containerd/x/rootfs"])
def test_running_pods_are_left_alone(tmp_path: Path, where: str) -> None:
    node = eks_node(tmp_path)
    node.mount(where)
    code, output = node.run()
    assert code == 0
    assert "pods run here already" in output
    assert node.calls() == []


def test_what_the_image_has_moved_itself_is_left(tmp_path: Path) -> None:
    """The AMI's own setup-local-disks mounts the same folders from instance store."""
    node = eks_node(tmp_path)
    for where in sorted(MOVED):
        node.mount(where)
    assert node.run()[0] == 0
    assert node.calls() == []


def test_a_full_disk_leaves_everything_where_it_was(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    (node.state / "full").touch()
    code, output = node.run()
    assert code == 0
    assert "WARNING: /var/lib/containerd stays on the root volume" in output
    assert "No space left on device" in output
    assert not node.mounted() & MOVED
    assert node.active() == {"containerd", "kubelet"}
    assert list((node.root / "opt/sagemaker/hyperpod-cdk").iterdir()) == []


@pytest.mark.parametrize("name", ["containerd", "kubelet"])
def test_a_mount_that_fails_is_undone(tmp_path: Path, name: str) -> None:
    node = eks_node(tmp_path, fails=[f"enable --now var-lib-{name}.mount"])
    code, output = node.run()
    assert code == 0
    assert f"WARNING: /var/lib/{name} stays on the root volume" in output
    assert node.mounted() & MOVED == MOVED - {f"/var/lib/{name}"}
    assert not (node.root / f"etc/systemd/system/var-lib-{name}.mount").exists()
    assert not (node.root / f"opt/sagemaker/hyperpod-cdk/{name}").exists()
    assert node.active() == {"containerd", "kubelet"}


def test_a_service_that_does_not_stop_keeps_its_files(tmp_path: Path) -> None:
    node = eks_node(tmp_path, fails=["stop containerd"])
    code, output = node.run()
    assert code == 0
    assert "WARNING: containerd does not stop" in output
    assert not node.mounted() & MOVED
    assert node.active() == {"containerd", "kubelet"}


def test_a_service_that_does_not_start_gets_its_files_back(tmp_path: Path) -> None:
    node = eks_node(tmp_path, fails=["start containerd"])
    code, output = node.run()
    assert code == 0
    assert "WARNING: containerd does not start with its files on /opt/sagemaker" in output
    assert node.mounted() & MOVED == {"/var/lib/kubelet"}
    assert node.active() == {"containerd", "kubelet"}


def test_a_node_whose_service_is_gone_fails(tmp_path: Path) -> None:
    node = eks_node(tmp_path, fails=["start kubelet", "start kubelet"])
    code, output = node.run()
    assert code == 1
    assert "FAILED: kubelet does not start" in output
    assert "what to do: journalctl -u kubelet" in output


def test_services_that_rest_are_not_started(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    for name in ("containerd", "kubelet"):
        (node.state / "active" / name).unlink()
    assert node.run()[0] == 0
    assert node.mounted() >= MOVED
    assert node.active() == set()


def test_instance_store_is_taken_where_it_is_asked_for(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    node.settings("disk=/opt/dlami/nvme\n")
    node.mount("/opt/dlami/nvme")
    assert node.run()[0] == 0
    assert (node.root / "opt/dlami/nvme/hyperpod-cdk/kubelet/kubeconfig").is_file()
    assert list((node.root / "opt/sagemaker").iterdir()) == []


def test_no_disk_is_asked_for(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    node.settings("# a remark\n\ndisk=none")
    assert node.run()[0] == 0
    assert node.calls() == []


def test_a_disk_that_is_required_fails_the_node_where_it_is_missing(tmp_path: Path) -> None:
    node = eks_node(tmp_path, disk=False)
    node.settings("disk_required=yes\ndisk_wait_seconds=4\n")
    code, output = node.run()
    assert code == 1
    assert "FAILED: nothing is mounted at /opt/sagemaker after 4 s" in output
    assert "what to do: give the instance group a secondary volume" in output
    assert node.calls() == ["sleep 2", "sleep 2", "sleep 2", "sync", "sleep 60"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("disk=/mnt\n", "disk is /mnt, allowed are none, /opt/sagemaker and /opt/dlami/nvme"),
        ("disk_required=perhaps\n", "disk_required is perhaps, allowed are yes and no"),
        ("disk_wait_seconds=1m\n", "disk_wait_seconds is 1m, allowed are 0 to 9999"),
    ],
)
def test_settings_that_are_wrong_are_said(tmp_path: Path, text: str, said: str) -> None:
    node = eks_node(tmp_path)
    node.settings(text)
    code, output = node.run()
    assert code == 1
    assert f"FAILED: {said}" in output


def test_settings_are_read_and_not_executed(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    node.settings(f"disk=none\ntouch {tmp_path}/bad\nnew=$(touch {tmp_path}/bad)\n")
    code, output = node.run()
    assert code == 0
    assert "a setting that these scripts do not know: new" in output
    assert not (tmp_path / "bad").exists()


def test_own_steps_run_in_order_before_and_after(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    node.own_step("before.d/2.py", "import os; print('two', os.environ['HOME'])\n")
    node.own_step("before.d/1.sh", "echo one; ls set_up.sh\n")
    node.own_step("before.d/README.md", "no step\n")
    node.own_step("after.d/3.sh", "echo three\n")
    code, output = node.run(HYPERPOD_CDK_RUN_EXTRA="1")
    assert code == 0
    said = [line for line in output.splitlines() if line.split()[0] in ("one", "two", "three", "set_up.sh")]
    assert said == ["one", "set_up.sh", "two /root", "three"]
    assert output.index("two /root") < output.index("/var/lib/containerd lies on") < output.index("three")


@pytest.mark.parametrize("exit_code", [3, 124])
def test_an_own_step_that_fails_ends_the_set_up(tmp_path: Path, exit_code: int) -> None:
    node = eks_node(tmp_path)
    node.own_step("before.d/1.sh", f"echo its own words; exit {exit_code}\n")
    code, output = node.run(HYPERPOD_CDK_RUN_EXTRA="1")
    assert code == 1
    assert "its own words" in output
    said = "ended with exit code 3" if exit_code == 3 else "takes longer than 3600 s"
    assert f"FAILED: extra/before.d/1.sh {said}" in output
    assert node.calls() == ["sync", "sleep 60"]


def test_what_an_own_step_leaves_running_holds_nobody_up(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    node.own_step("before.d/1.sh", "echo before; (echo $BASHPID >$STATE/left; exec /bin/sleep 300) &\n")
    began = time.monotonic()
    code, output = node.run(HYPERPOD_CDK_RUN_EXTRA="1")
    os.kill(int((node.state / "left").read_text()), signal.SIGTERM)
    assert code == 0
    assert time.monotonic() - began < 30
    assert "before\n" in output
    assert output == node.log()


def test_an_own_step_that_does_not_heed_its_end_is_killed(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    script = node.scripts / "own_steps.sh"
    text = script.read_text()
    script.write_text(
        text.replace("SECONDS=3600", "SECONDS=0.2").replace("KILL_SECONDS=30", "KILL_SECONDS=0.2")
    )
    node.own_step("before.d/1.sh", "trap '' TERM; while true; do read -rt 0.1 _ <>$STATE/calls; done\n")
    code, output = node.run(HYPERPOD_CDK_RUN_EXTRA="1")
    assert code == 1
    assert "FAILED: extra/before.d/1.sh was killed" in output


def test_77_an_own_step_with_windows_line_ends_is_said(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    node.own_step("after.d/1.sh", "echo one\r\n")
    code, output = node.run(HYPERPOD_CDK_RUN_EXTRA="1")
    assert code == 1
    assert "FAILED: extra/after.d/1.sh has Windows line endings" in output


def test_own_steps_do_not_touch_the_machine_that_they_are_tried_on(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    node.own_step("before.d/1.sh", f"touch {tmp_path}/bad\n")
    code, output = node.run()
    assert code == 0
    assert "not run, as this is no real node" in output
    assert not (tmp_path / "bad").exists()


def test_an_unforeseen_failure_is_told_with_its_line(tmp_path: Path) -> None:
    node = eks_node(tmp_path)
    with (node.scripts / "own_steps.sh").open("a") as script:
        script.write("grep x /nonexistent\n")
    code, output = node.run()
    assert code == 1
    assert "FAILED: own_steps.sh, line 38: grep x /nonexistent" in output
    assert "grep: /nonexistent" in output
