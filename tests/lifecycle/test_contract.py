"""What the deployment writes into config.json is what the node scripts accept."""

from __future__ import annotations

import json

from hyperpod_cdk.cluster.nodes import node_config
from hyperpod_cdk.service import fsx
from hyperpod_cdk.spec import (
    Cluster,
    InstanceGroup,
    Lifecycle,
    LifecycleMode,
    Mount,
    NodeType,
    SlurmConfig,
    User,
)
from hyperpod_node import config, lustre_efa
from hyperpod_node.reading import Reader
from tests.lifecycle.helpers import LUSTRE, OPENZFS


def group(name: str, slurm: SlurmConfig | None, *mounts: Mount) -> InstanceGroup:
    return InstanceGroup(
        instance_group_name=name,
        instance_type="ml.c5.xlarge",
        instance_count=1,
        slurm_config=slurm,
        mounts=mounts,
    )


def accepted(modes: dict[str, LifecycleMode], *groups: InstanceGroup) -> config.NodeConfig:
    users = [User(name="alice", uid=2001, groups=["docker"], sudo=True)]
    written = node_config(Cluster(instance_groups=groups), Lifecycle(users=users), modes)
    return config.parse(Reader.parse(json.dumps(written), "config.json"))


def test_a_mixed_cluster_by_the_api() -> None:
    lustre = Mount(
        file_system_type="LUSTRE",
        dns_name=LUSTRE["dns_name"],
        mount_name=LUSTRE["mount_name"],
        mount_path="/data",
    )
    openzfs = Mount(file_system_type="OPENZFS", dns_name=OPENZFS["dns_name"])
    found = accepted(
        {"head": LifecycleMode.CUSTOM, "cpu": LifecycleMode.EXTENSION, "gpu": LifecycleMode.AMI},
        group("head", SlurmConfig(node_type=NodeType.CONTROLLER), lustre, openzfs),
        group("cpu", SlurmConfig(node_type=NodeType.COMPUTE, partition_names=["cpu"]), lustre),
        group("gpu", SlurmConfig(node_type=NodeType.COMPUTE, partition_names=["gpu"])),
    )
    assert found.mode_by_group == {"head": "custom", "cpu": "extension", "gpu": "ami"}
    assert found.groups["head"].node_type == "Controller"
    assert [mount.mount_path for mount in found.groups["head"].mounts] == ["/data", "/home"]
    assert found.groups["head"].mounts[1].export_path == "/fsx"
    assert found.users[0] == config.User(name="alice", uid=2001, gid=2001, groups=("docker",), sudo=True)


def test_every_mode_of_the_spec_is_known() -> None:
    for mode in LifecycleMode:
        found = accepted({"nodes": mode}, group("nodes", None))
        assert found.mode_by_group == {"nodes": mode.value}
        assert found.groups["nodes"].node_type == ""


def test_rules_count_as_many_efa_devices_as_nodes_use_for_lustre() -> None:
    assert fsx.LUSTRE_EFA_INTERFACES == lustre_efa.INTERFACES
    assert fsx.LUSTRE_EFA_INTERFACES_OF_OTHERS == lustre_efa.OTHERS_INTERFACES
