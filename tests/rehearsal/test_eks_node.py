"""The real scripts of an EKS node on the rehearsal's machine."""

import shutil
from pathlib import Path

import pytest

from hyperpod_cdk.rehearsal.eks_node import SETTINGS, run_eks_node
from hyperpod_cdk.rehearsal.node import CommandFault
from tests.lifecycle.helpers import SCRIPTS


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    folder = tmp_path / "scripts"
    shutil.copytree(SCRIPTS / "eks", folder)
    (folder / SETTINGS).write_text("disk=/opt/sagemaker\ndisk_required=yes\n")
    return folder


def test_files_move_to_the_second_disk(scripts: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    exit_code, lines = run_eks_node(scripts, root)
    assert exit_code == 0, lines
    mounts = (root / "proc/self/mounts").read_text()
    assert "/var/lib/containerd " in mounts and "/var/lib/kubelet " in mounts
    moved = root / "opt/sagemaker/hyperpod-cdk/kubelet/kubeconfig"
    assert moved.read_text() == "of the node\n"
    assert {path.name for path in (root / ".node" / "units").iterdir()} == {"containerd", "kubelet"}, (
        "they run again"
    )


def test_a_second_run_changes_nothing(scripts: Path, tmp_path: Path) -> None:
    run_eks_node(scripts, tmp_path / "root")
    mounts = (tmp_path / "root/proc/self/mounts").read_text()
    assert run_eks_node(scripts, tmp_path / "root")[0] == 0
    assert (tmp_path / "root/proc/self/mounts").read_text() == mounts


def test_a_command_that_fails_ends_the_node(scripts: Path, tmp_path: Path) -> None:
    fault = CommandFault(command="systemctl", contains="start containerd", output="Job failed.")
    exit_code, lines = run_eks_node(scripts, tmp_path / "root", faults=[fault])
    assert exit_code == 1
    assert "Job failed." in lines and any("containerd does not start" in line for line in lines)
