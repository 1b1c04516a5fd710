"""A sandbox's plan that follows the emulated service: what a CreateCluster request and its nodes come to."""

from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_cdk.rehearsal.hosts.plan import FILE_SYSTEM_NETWORK, Group, Plan

Spec = Mapping[str, Any]
STORAGE = {
    # member of InstanceStorageConfigs: type in config.json, and the mount path unless one is given (API
    # reference, ClusterFsxLustreConfig and ClusterFsxOpenZfsConfig)
    "FsxLustreConfig": ("LUSTRE", "/fsx"),
    "FsxOpenZfsConfig": ("OPENZFS", "/home"),
}


class ServicePlan(Plan):
    """What the service's agents know of a cluster; nothing until :meth:`learn`."""

    def __init__(self) -> None:
        self._resource_config: dict[str, Any] = {"ClusterConfig": {}, "InstanceGroups": []}
        self._file_systems: list[Mapping[str, str]] = []
        super().__init__(groups=[])

    def learn(
        self, request: Spec, resource_config: Spec, *, file_systems: Sequence[Spec], legacy: Spec | None
    ) -> None:
        """Take over how the cluster is now.

        Args:
            request: it, as a CreateCluster request.
            resource_config: content of resource_config.json.
            file_systems: descriptions of all FSx file systems.
            legacy: content of provisioning_parameters.json; None without one.
        """
        self._resource_config = dict(resource_config)
        self._file_systems = [_file_system(found) for found in file_systems]
        for mount in self._file_systems:
            self.names.setdefault(mount["dns_name"], f"{FILE_SYSTEM_NETWORK}.{len(self.names) + 1}")
        self.groups = [_group(group, legacy) for group in request["InstanceGroups"]]
        listed = resource_config["InstanceGroups"]
        self._nodes = {entry["InstanceName"]: dict(entry) for group in listed for entry in group["Instances"]}

    @property
    def file_systems(self) -> list[Mapping[str, str]]:
        """Every file system of the account."""
        return self._file_systems

    def resource_config(self) -> dict[str, Any]:
        """As the service has it."""
        return self._resource_config


def _file_system(found: Spec) -> dict[str, str]:
    if found["FileSystemType"] == "LUSTRE":
        name = found["LustreConfiguration"]["MountName"]
        return {"file_system_type": "LUSTRE", "dns_name": found["DNSName"], "mount_name": name}
    return {"file_system_type": "OPENZFS", "dns_name": found["DNSName"], "export_path": "/fsx"}


def _group(group: Spec, legacy: Spec | None) -> Group:
    name = group["InstanceGroupName"]
    slurm = group.get("SlurmConfig") or {}
    node_type = slurm.get("NodeType") or _legacy_type(name, legacy or {})
    partitions = slurm.get("PartitionNames") or _legacy_partitions(name, legacy or {})
    mode = {"OnCreate": "legacy" if legacy else "custom", "OnInitComplete": "extension"}
    scripts = group.get("LifeCycleConfig") or {}
    return Group(
        name=name,
        node_type=node_type,
        count=group["InstanceCount"],
        partition=partitions[0] if partitions else "dev",
        mounts=[mount for config in group.get("InstanceStorageConfigs", []) for mount in _mounts(config)],
        mode=next((mode[hook] for hook in mode if hook in scripts), "ami"),
    )


def _mounts(config: Spec) -> list[dict[str, str]]:
    return [
        {
            "file_system_type": kind,
            "dns_name": config[member]["DnsName"],
            "mount_name": config[member].get("MountName", ""),
            "mount_path": config[member].get("MountPath", usual),
        }
        for member, (kind, usual) in STORAGE.items()
        if member in config
    ]


def _legacy_type(name: str, legacy: Spec) -> str:
    named = {legacy.get("controller_group"): "Controller", legacy.get("login_group"): "Login"}
    return named.get(name, "Compute")


def _legacy_partitions(name: str, legacy: Spec) -> list[str]:
    groups = legacy.get("worker_groups", [])
    return [group["partition_name"] for group in groups if group["instance_group_name"] == name]
