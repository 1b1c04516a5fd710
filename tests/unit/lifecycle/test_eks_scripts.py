"""EksLifecycleScripts in somebody else's stack, and on a node."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_s3 as s3

from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.lifecycle import EksLifecycleScripts, LifecycleBucket, staging
from hyperpod_cdk.lifecycle.eks_scripts import settings
from hyperpod_cdk.spec.node_disk import NodeDisk, NodeDiskPath
from tests.lifecycle.eks.machine import EKS_SCRIPTS, eks_node
from tests.unit.lifecycle.test_scripts import deployed


def scripts(**arguments: Any) -> EksLifecycleScripts:
    stack = cdk.Stack()
    given = s3.Bucket.from_bucket_name(stack, "Given", "scripts")
    bucket = LifecycleBucket.from_bucket(stack, "Bucket", given)
    return EksLifecycleScripts(stack, "Scripts", bucket=bucket, **arguments)


def test_nodes_get_the_scripts_their_settings_and_the_users_files(tmp_path: Path) -> None:
    (tmp_path / "before.d").mkdir()
    (tmp_path / "before.d" / "1.sh").write_text("echo\n")
    made = scripts(extra_files=tmp_path, disk=NodeDisk(required=True, wait_seconds=90))
    files = deployed(made)
    assert set(files) == {
        *(path.name for path in EKS_SCRIPTS.glob("*.sh")),
        "settings",
        "extra/before.d/1.sh",
    }
    assert files["settings"] == b"disk=/opt/sagemaker\ndisk_required=yes\ndisk_wait_seconds=90\n"
    assert made.on_create in files
    assert made.source_s3_uri == f"s3://scripts/{made.prefix}/"


def test_a_setting_moves_the_prefix() -> None:
    same, other = scripts(), scripts(disk=NodeDisk(mount_path=NodeDiskPath.NONE))
    assert scripts().prefix == same.prefix != other.prefix


@pytest.mark.parametrize("path", NodeDiskPath)
@pytest.mark.parametrize("required", [True, False])
def test_the_node_understands_every_setting(tmp_path: Path, path: NodeDiskPath, required: bool) -> None:
    node = eks_node(tmp_path)
    node.mount(path)
    node.settings(settings(NodeDisk(mount_path=path, required=required, wait_seconds=0)))
    code, output = node.run()
    assert code == 0
    assert "WARNING" not in output
    assert ("/var/lib/kubelet" in node.mounted()) == (path is not NodeDiskPath.NONE)


def test_a_folder_without_the_entry_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConstructError, match=r"source must hold on_create\.sh"):
        scripts(source=tmp_path)


def test_a_cluster_of_slurm_gets_none_of_them() -> None:
    left_out = staging.LEFT_OUT | staging.LEFT_OUT_OF_SCRIPTS
    files = staging.read_tree(staging.packaged_scripts(), left_out=left_out)
    assert not [name for name in files if "eks" in name]
