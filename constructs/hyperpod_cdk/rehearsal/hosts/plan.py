"""What a sandbox's cluster is: groups, nodes and file systems, as service and deployment tell of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hyperpod_cdk.lifecycle import staging

SCRIPTS = {"extension": "on_init_complete.sh", "custom": "on_create.sh", "legacy": "on_create.sh"}
SHAPE = "CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=4 ThreadsPerCore=1 RealMemory=1000"
LUSTRE = {
    "file_system_type": "LUSTRE",
    "dns_name": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com",
    "mount_name": "abcdefgh",
    "mount_path": "/fsx",
}
OPENZFS = {
    "file_system_type": "OPENZFS",
    "dns_name": "fs-0fedcba9876543210.fsx.us-west-2.amazonaws.com",
    "export_path": "/fsx",
    "mount_path": "/home",
}
FILE_SYSTEM_NETWORK = "10.1.255"
NODE_NETWORK, AGENT_NETWORK = "10.1", "172.16"
FIRST_NODE = 10
ROLE = "execution-role"
CREDENTIALS = {
    "Code": "Success",
    "Type": "AWS-HMAC",
    "AccessKeyId": "ASIASANDBOX",
    "SecretAccessKey": "no secret",
    "Token": "token of the sandbox",
    "LastUpdated": "2026-01-01T00:00:00Z",
    "Expiration": "2099-01-01T00:00:00Z",
}


@dataclass(kw_only=True)
class Group:
    """An instance group.

    Args:
        name: its name.
        node_type: Controller, Login or Compute.
        count: how many nodes.
        partition: of compute nodes.
        mounts: its file systems, as config.json has them.
        mode: its lifecycle mode; empty: the plan's.
    """

    name: str
    node_type: str
    count: int
    partition: str = "training"
    mounts: Sequence[Mapping[str, str]] = (LUSTRE,)
    mode: str = ""


def usual_groups(
    compute: int = 4, *, login: int = 1, mounts: Sequence[Mapping[str, str]] = (LUSTRE,)
) -> list[Group]:
    """A controller, login nodes and compute nodes."""
    groups = [
        Group(name="controller", node_type="Controller", count=1, mounts=mounts),
        Group(name="login", node_type="Login", count=login, mounts=mounts),
        Group(name="compute", node_type="Compute", count=compute, mounts=mounts),
    ]
    return [group for group in groups if group.count or group.node_type == "Compute"]


@dataclass(kw_only=True)
class Plan:
    """The whole cluster.

    Args:
        groups: instance groups.
        mode: lifecycle mode of all of them: extension, custom or legacy.
        users: as config.json has them.
        config: members of config.json on top of the usual ones.
        files: more files of the deployment, by path; they replace those of the same name.
        extra_files: folder of the user's own steps.
        slurm_conf_delay_seconds: after boot, until the service has written slurm.conf.
        cluster_name: also Slurm's.
    """

    groups: list[Group] = field(default_factory=usual_groups)
    mode: str = "custom"
    users: Sequence[Mapping[str, Any]] = ()
    config: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, bytes] = field(default_factory=dict)
    extra_files: Path | None = None
    slurm_conf_delay_seconds: float = 0.0
    cluster_name: str = "ml-cluster"
    names: dict[str, str] = field(default_factory=dict)
    """DNS names beside those of nodes and of AWS."""

    def __post_init__(self) -> None:
        self._nodes: dict[str, dict[str, str]] = {}
        self._made = 0
        for number, mount in enumerate(self.file_systems, start=1):
            self.names.setdefault(mount["dns_name"], f"{FILE_SYSTEM_NETWORK}.{number}")
        for group in self.groups:
            for number in range(1, group.count + 1):
                self._make(group, number)

    # -- nodes -----------------------------------------------------------------------------------------

    def nodes(self) -> dict[str, dict[str, str]]:
        """The nodes' entries in resource_config.json, by name."""
        return dict(self._nodes)

    def add(self, group_name: str, count: int) -> None:
        """Plan more nodes of a group."""
        group = next(group for group in self.groups if group.name == group_name)
        for number in range(group.count + 1, group.count + count + 1):
            self._make(group, number)
        group.count += count

    def replace(self, name: str) -> None:
        """Give a node a new instance with a new address, as node recovery does."""
        self._make(self.group_of(name), int(name.rpartition("-")[2]))

    def remove(self, name: str) -> None:
        """Plan without a node; its number is not given again."""
        del self._nodes[name]

    def _make(self, group: Group, number: int) -> None:
        at = FIRST_NODE + self._made
        self._made += 1
        self._nodes[f"{group.name}-{number}"] = {
            "InstanceName": f"{group.name}-{number}",
            "AgentIpAddress": f"{AGENT_NETWORK}.{at // 250}.{at % 250}",
            "CustomerIpAddress": f"{NODE_NETWORK}.{at // 250}.{at % 250}",
            "InstanceId": f"i-{at:017x}",
        }

    def group_of(self, node: str) -> Group:
        """The group of a node's name."""
        return next(group for group in self.groups if group.name == node.rpartition("-")[0])

    def mode_of(self, host_name: str) -> str:
        """The lifecycle mode of a host's group."""
        found = (
            self.group_of(name) for name, entry in self._nodes.items() if self.host_name(entry) == host_name
        )
        return next(found).mode or self.mode

    @staticmethod
    def host_name(entry: Mapping[str, str]) -> str:
        """The host name that EC2 gives an address."""
        return "ip-" + entry["CustomerIpAddress"].replace(".", "-")

    # -- what is told to whom --------------------------------------------------------------------------

    @property
    def script(self) -> str:
        """The entry script."""
        return SCRIPTS[self.mode]

    @property
    def file_systems(self) -> list[Mapping[str, str]]:
        """Every file system once."""
        return list({mount["dns_name"]: mount for group in self.groups for mount in group.mounts}.values())

    def source(self, mount: Mapping[str, str]) -> str:
        """A file system as /proc/mounts shows it: Lustre by its server's address, NFS by its name."""
        if mount["file_system_type"] == "LUSTRE":
            return f"{self.names[mount['dns_name']]}@tcp:/{mount['mount_name']}"
        return f"{mount['dns_name']}:{mount.get('export_path', '/fsx')}"

    def resource_config(self) -> dict[str, Any]:
        """Content of resource_config.json."""
        return {
            "ClusterConfig": {
                "ClusterArn": "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl",
                "ClusterName": self.cluster_name,
            },
            "InstanceGroups": [
                {
                    "Name": group.name,
                    "InstanceType": "ml.c5.xlarge",
                    "Instances": [
                        entry for name, entry in self._nodes.items() if self.group_of(name) is group
                    ],
                }
                for group in self.groups
            ],
        }

    def told(self) -> dict[str, Any]:
        """What the service's agents are told."""
        groups = {
            group.name: {
                "mode": group.mode or self.mode,
                "node_type": group.node_type,
                "partition": group.partition,
                "mounts": list(group.mounts),
                "shape": SHAPE,
            }
            for group in self.groups
        }
        return {
            "groups": groups,
            "resource_config": self.resource_config(),
            "slurm_conf_delay_seconds": self.slurm_conf_delay_seconds,
        }

    def metadata(self) -> dict[str, dict[str, str]]:
        """What the metadata service knows, by the node's address."""
        return {
            entry["CustomerIpAddress"]: {
                "meta-data/instance-id": entry["InstanceId"],
                "meta-data/instance-type": "c5.xlarge",
                "meta-data/local-ipv4": entry["CustomerIpAddress"],
                "meta-data/placement/region": "us-west-2",
                "meta-data/placement/availability-zone": "us-west-2a",
                "meta-data/placement/availability-zone-id": "usw2-az1",
                "meta-data/services/domain": "amazonaws.com",
                "meta-data/iam/security-credentials": ROLE,
                f"meta-data/iam/security-credentials/{ROLE}": json.dumps(CREDENTIALS),
            }
            for entry in self._nodes.values()
        }

    def node_config(self) -> dict[str, Any]:
        """Content of config.json, in the format of lifecycle_scripts/README.md."""
        legacy = self.mode == "legacy"
        return {
            "format": 1,
            "mode_by_group": {group.name: self.mode for group in self.groups},
            "groups": {
                group.name: {
                    "node_type": None if legacy else group.node_type,
                    "mounts": [dict(mount) for mount in group.mounts],
                }
                for group in self.groups
            },
            "users": [dict(user) for user in self.users],
            **self.config,
        }

    def provisioning_parameters(self) -> dict[str, Any]:
        """Content of provisioning_parameters.json, legacy mode only."""
        named = {group.node_type: group.name for group in self.groups}
        workers = [group for group in self.groups if group.node_type == "Compute"]
        return {
            "version": "1.0.0",
            "workload_manager": "slurm",
            "controller_group": named["Controller"],
            "login_group": named.get("Login", ""),
            "worker_groups": [
                {"instance_group_name": group.name, "partition_name": group.partition} for group in workers
            ],
            "fsx_dns_name": LUSTRE["dns_name"],
            "fsx_mountname": LUSTRE["mount_name"],
        }

    def content(self) -> dict[str, bytes]:
        """Every file of the deployment, made by the library's own staging."""
        left_out = staging.LEFT_OUT | staging.LEFT_OUT_OF_SCRIPTS
        files = staging.read_tree(staging.packaged_scripts(), left_out=left_out)
        if self.extra_files:
            own = staging.read_tree(self.extra_files)
            files |= {f"extra/{path}": content for path, content in own.items()}
        files["config.json"] = json.dumps(self.node_config()).encode()
        if self.mode == "legacy":
            files["provisioning_parameters.json"] = json.dumps(self.provisioning_parameters()).encode()
        return {**files, **self.files}
