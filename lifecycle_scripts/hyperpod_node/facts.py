"""Who this node is: found in the service's resource_config.json by its own addresses, never guessed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hyperpod_node.commands import Commands
from hyperpod_node.config import Mount, NodeConfig
from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.reading import Reader
from hyperpod_node.root import Root

if TYPE_CHECKING:
    from hyperpod_node.provisioning import MultiHead

VARIABLE = "SAGEMAKER_RESOURCE_CONFIG_PATH"
DEFAULT_PATH = "/opt/ml/config/resource_config.json"
HOOK_OF_MODE = {"extension": "on_init_complete", "custom": "on_create", "legacy": "on_create"}


class Instance(NamedTuple):
    """One node as the service lists it.

    Args:
        group: name of its instance group.
        instance_type: with the `ml.` prefix.
        name: `<group>-<number>`.
        instance_id: EC2's name for it.
        address: its address in the cluster's VPC.
        agent_address: its address in the service's own network.
    """

    group: str
    instance_type: str
    name: str
    instance_id: str
    address: str
    agent_address: str


class Cluster(NamedTuple):
    """resource_config.json as typed data."""

    name: str
    arn: str
    instances: tuple[Instance, ...]

    @property
    def region(self) -> str:
        """The Region, from the fourth field of the ARN."""
        return self.arn.split(":")[3]

    @property
    def dns_suffix(self) -> str:
        """The suffix of AWS host names in the cluster's partition."""
        return "amazonaws.com.cn" if self.arn.split(":")[1] == "aws-cn" else "amazonaws.com"


class Node(NamedTuple):
    """Everything that the steps need to know about this node.

    Args:
        cluster: the cluster as the service lists it.
        instance: this node's entry.
        mode: extension, custom or legacy.
        node_type: Controller, Login or Compute.
        mounts: the file systems that it shall have, parents before what lies in them.
        controller_groups: names of the groups whose nodes are controllers.
        multi_head: what several controllers share; None with one.
    """

    cluster: Cluster
    instance: Instance
    mode: str
    node_type: str
    mounts: tuple[Mount, ...]
    controller_groups: tuple[str, ...]
    multi_head: MultiHead | None = None

    @property
    def mounts_by_service(self) -> list[Mount]:
        """What the service mounts: in extension mode all that its API takes."""
        return [mount for mount in self.mounts if self.mode == "extension" and mount.by_service]

    @property
    def mounts_by_scripts(self) -> list[Mount]:
        """What these scripts mount."""
        return [mount for mount in self.mounts if mount not in self.mounts_by_service]


def cluster_of(document: Reader) -> Cluster:
    """What resource_config.json says; an entry may be incomplete while the service makes its node."""
    head = document.get("ClusterConfig")
    arn = head.get("ClusterArn")
    if len(arn.text().split(":")) < 6:
        raise arn.wrong("the ARN of a cluster")
    instances = [
        _instance(group, entry)
        for group in document.get("InstanceGroups").items()
        for entry in group.get("Instances").items()
    ]
    return Cluster(name=head.get("ClusterName").text(), arn=arn.text(), instances=tuple(instances))


def _instance(group: Reader, entry: Reader) -> Instance:
    return Instance(
        group=group.get("Name").text(),
        instance_type=group.get("InstanceType").text("unknown"),
        name=str(entry.get("InstanceName").value or ""),
        instance_id=str(entry.get("InstanceId").value or ""),
        address=str(entry.get("CustomerIpAddress").value or ""),
        agent_address=str(entry.get("AgentIpAddress").value or ""),
    )


def local_addresses(commands: Commands) -> frozenset[str]:
    """Every address of every network interface of this machine, IPv4 and IPv6."""
    listing = Reader.parse(commands.run("ip", "-json", "address", "show").text, "ip address")
    return frozenset(
        address.get("local").text()
        for interface in listing.items()
        for address in interface.get("addr_info").items()
        if address.get("local").value
    )


def find_instance(cluster: Cluster, addresses: frozenset[str]) -> Instance:
    """The entry that has one of the machine's addresses.

    The address in the VPC counts first: the service's own network may use the same range.

    Raises:
        NotYetError: no entry has, or it says nothing more yet: that may change while the network comes up.
        NodeError: several entries have.
    """
    for kind in ("address", "agent_address"):
        matches = [entry for entry in cluster.instances if getattr(entry, kind) in addresses - {""}]
        if len(matches) > 1:
            names = ", ".join(entry.name for entry in matches)
            raise NodeError(f"this node's addresses {_text(addresses)} belong to several instances: {names}")
        if matches and not (matches[0].name and matches[0].instance_id):
            raise NotYetError(
                "this node's entry in resource_config.json has no InstanceName or no InstanceId"
            )
        if matches:
            return matches[0]
    raise NotYetError(
        f"no instance in resource_config.json has one of this node's addresses {_text(addresses)} "
        f"(it lists {len(cluster.instances)} instances)"
    )


def _text(addresses: frozenset[str]) -> str:
    return ", ".join(sorted(addresses)) or "(none)"


def read_cluster(root: Root, environment: Mapping[str, str]) -> Cluster:
    """The cluster as the service lists it now.

    Raises:
        NotYetError: the file is not there yet, or not whole: the service writes it anew while nodes join.
    """
    path = environment.get(VARIABLE) or DEFAULT_PATH
    text = root.read(path)
    if not text:
        raise NotYetError(f"{path} is missing or empty")
    try:
        document = Reader.parse(text, path)
    except NodeError as error:
        raise NotYetError(error.message) from error
    return cluster_of(document)


def read_instance(root: Root, commands: Commands, environment: Mapping[str, str]) -> tuple[Cluster, Instance]:
    """Look this node up once.

    Raises:
        NotYetError: the file, the node's entry or its address is not there yet.
    """
    cluster = read_cluster(root, environment)
    return cluster, find_instance(cluster, local_addresses(commands))


def describe(
    cluster: Cluster, instance: Instance, config: NodeConfig, *, hook: str, root: Root, directory: Path
) -> Node:
    """Add to the service's facts what the deployment says.

    Raises:
        NodeError: the deployment does not know the group, or the script was started by the wrong hook.
    """
    group = instance.group
    mode = config.mode_by_group.get(group)
    if mode is None:
        raise _unknown_group(group, "mode_by_group", list(config.mode_by_group))
    if hook in HOOK_OF_MODE.values() and HOOK_OF_MODE.get(mode) != hook:
        starts = f"{HOOK_OF_MODE[mode]}.sh" if mode in HOOK_OF_MODE else "no script"
        raise NodeError(
            f"the instance group {group} is in {mode} mode, which starts {starts}, but {hook}.sh was started",
            advice="LifeCycleConfig and config.json come from different deployments: deploy again",
        )
    if mode == "legacy":
        return _describe_legacy(cluster, instance, config, root=root, directory=directory)
    typed = [name for name, entry in config.groups.items() if entry.node_type]
    if group not in typed:
        raise _unknown_group(group, "groups with a node type", typed)
    heads = [name for name, entry in config.groups.items() if entry.node_type == "Controller"]
    return Node(
        cluster=cluster,
        instance=instance,
        mode=mode,
        node_type=config.groups[group].node_type,
        mounts=_parents_first(config.groups[group].mounts),
        controller_groups=tuple(heads),
    )


def _describe_legacy(
    cluster: Cluster, instance: Instance, config: NodeConfig, *, root: Root, directory: Path
) -> Node:
    from hyperpod_node import provisioning  # noqa: PLC0415 (of no use in other modes)

    beside = directory / provisioning.NAME
    text = beside.read_text(encoding="utf-8", errors="replace") if beside.is_file() else ""
    text = text or root.read(f"{provisioning.DIRECTORY}/{provisioning.NAME}")
    if not text:
        raise NodeError(
            f"legacy mode needs {provisioning.NAME}, which is neither beside the scripts "
            f"nor in {provisioning.DIRECTORY}",
            advice="put it in the lifecycle prefix, or describe the groups with SlurmConfig in the API",
        )
    parameters = provisioning.parse(text)
    # config.json knows groups and paths, the form only one file system: it counts where config.json has none
    listed = {name: group.mounts for name, group in config.groups.items() if group.mounts}
    mounts = listed.get(instance.group, ()) if listed else parameters.mounts
    return Node(
        cluster=cluster,
        instance=instance,
        mode="legacy",
        node_type=parameters.node_type(instance.group),
        mounts=_parents_first(mounts),
        controller_groups=(parameters.controller_group,),
        multi_head=parameters.multi_head,
    )


def _parents_first(mounts: Sequence[Mount]) -> tuple[Mount, ...]:
    # stable: the deployment's order decides between siblings
    return tuple(sorted(mounts, key=lambda mount: mount.mount_path.count("/")))


def _unknown_group(group: str, member: str, known: Sequence[str]) -> NodeError:
    return NodeError(
        f"config.json does not know the instance group {group}: {member} has {json.dumps(sorted(known))}",
        advice="the group was added by other means than the deployment that made config.json: deploy again",
    )
