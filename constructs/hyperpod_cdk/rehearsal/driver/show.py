"""Tables of what was deployed, and of what is left."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from hyperpod_cdk.rehearsal.aws.stacks.records import Stack
from hyperpod_cdk.rehearsal.driver.checks import ClusterView
from hyperpod_cdk.rehearsal.driver.leftovers import Leftover

_NODES_SHOWN = 8
"""Nodes of a group that are listed one by one."""


def show_cluster(
    console: Console, cluster: ClusterView, *, file_systems: Sequence[Any], stack: Stack
) -> None:
    """Print a cluster, its groups, nodes and file systems, and the command that opens a shell on it.

    Args:
        console: where to.
        cluster: the cluster.
        file_systems: descriptions of FSx file systems.
        stack: its stack, whose outputs hold the command.
    """
    described = cluster.description
    table = Table(title=f"cluster {described['ClusterName']}: {described['ClusterStatus']}")
    for heading in ("group", "type", "nodes", "status", "role", "mounts"):
        table.add_column(heading, overflow="fold")
    for group in cluster.groups:
        slurm = group.get("SlurmConfig", {})
        table.add_row(
            group["InstanceGroupName"],
            group.get("InstanceType") or ", ".join(group["InstanceRequirements"]["DesiredInstanceTypes"]),
            f"{group['CurrentCount']}/{group['TargetCount']}",
            str(group.get("Status", "")),
            " ".join(
                filter(None, [_kind(described, group), *slurm.get("PartitionNames", []), *_labels(group)])
            ),
            ", ".join(_mounts(group)),
        )
    console.print(table)
    console.print(_node_table(cluster))
    if file_systems:
        console.print(_file_system_table(file_systems))
    for output in stack.outputs:
        if output["OutputKey"] == "Connect":
            console.print("connect to the controller:", style="bold")
            console.print(f"  {output['OutputValue']}", soft_wrap=True, markup=False, highlight=False)


def show_leftovers(console: Console, left: Sequence[Leftover]) -> None:
    """Print what outlives the stack, and why.

    Args:
        console: where to.
        left: what is left.
    """
    table = Table(title="what is left, on purpose" if left else "nothing is left")
    for heading in ("kind", "id", "why"):
        table.add_column(heading, overflow="fold")
    for item in left:
        table.add_row(
            item.kind, item.name, item.reason or "NOT ON PURPOSE", style="" if item.reason else "red"
        )
    console.print(table)


def _node_table(cluster: ClusterView) -> Table:
    table = Table(title=f"{len(cluster.nodes)} nodes")
    for heading in ("group", "instance", "type", "status"):
        table.add_column(heading, overflow="fold")
    shown: Counter[str] = Counter()
    for node in sorted(cluster.nodes, key=lambda node: str(node["InstanceGroupName"])):
        group = node["InstanceGroupName"]
        shown[group] += 1
        if shown[group] <= _NODES_SHOWN:
            table.add_row(group, node["InstanceId"], node["InstanceType"], node["InstanceStatus"]["Status"])
    for group, count in shown.items():
        if count > _NODES_SHOWN:
            table.add_row(group, f"and {count - _NODES_SHOWN} more", "", "")
    return table


def _file_system_table(file_systems: Sequence[Any]) -> Table:
    table = Table(title="file systems")
    for heading in ("id", "type", "deployment", "GiB", "DNS name", "state"):
        table.add_column(heading, overflow="fold")
    for found in file_systems:
        settings = found.get("LustreConfiguration") or found.get("OpenZFSConfiguration") or {}
        table.add_row(
            found["FileSystemId"],
            found["FileSystemType"],
            settings.get("DeploymentType", ""),
            str(found.get("StorageCapacity", "elastic")),
            found["DNSName"],
            found["Lifecycle"],
        )
    return table


def _kind(described: dict[str, Any], group: dict[str, Any]) -> str:
    if group in described.get("RestrictedInstanceGroups", ()):
        return "restricted"
    return str(group.get("SlurmConfig", {}).get("NodeType", ""))


def _labels(group: dict[str, Any]) -> list[str]:
    labels = group.get("KubernetesConfig", {}).get("DesiredLabels", {})
    return [f"{name}={value}" for name, value in labels.items()]


def _mounts(group: dict[str, Any]) -> list[str]:
    found = []
    for config in group.get("InstanceStorageConfigs", []):
        for kind in ("FsxLustreConfig", "FsxOpenZfsConfig"):
            if kind in config:
                found.append(config[kind].get("MountPath", ""))
    return found
