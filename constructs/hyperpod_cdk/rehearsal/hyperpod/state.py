"""What the emulated service knows of its clusters, groups, nodes and events."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

Spec = dict[str, Any]
"""Part of a request or an answer, in the API's own PascalCase."""


class ClusterStatus(StrEnum):
    """ClusterStatus of the API."""

    CREATING = "Creating"
    DELETING = "Deleting"
    FAILED = "Failed"
    IN_SERVICE = "InService"
    ROLLING_BACK = "RollingBack"
    SYSTEM_UPDATING = "SystemUpdating"
    UPDATING = "Updating"


class GroupStatus(StrEnum):
    """InstanceGroupStatus of the API."""

    IN_SERVICE = "InService"
    CREATING = "Creating"
    UPDATING = "Updating"
    FAILED = "Failed"
    DEGRADED = "Degraded"
    SYSTEM_UPDATING = "SystemUpdating"
    DELETING = "Deleting"


class NodeStatus(StrEnum):
    """ClusterInstanceStatus of the API."""

    RUNNING = "Running"
    FAILURE = "Failure"
    PENDING = "Pending"
    SHUTTING_DOWN = "ShuttingDown"
    SYSTEM_UPDATING = "SystemUpdating"
    DEEP_HEALTH_CHECK = "DeepHealthCheckInProgress"


UP = frozenset({NodeStatus.RUNNING, NodeStatus.DEEP_HEALTH_CHECK})
"""A node in one of these counts as up: it has finished its set-up."""


@dataclass(kw_only=True)
class Placement:
    """Where a node stands in the network.

    Args:
        private_ip: address in the user's VPC; without a VPC, in the service's.
        agent_ip: address in the service's VPC.
        subnet_id: empty without a VPC.
        zone: name of the Availability Zone.
        zone_id: id of the Availability Zone.
        interface_ids: network interfaces in the user's VPC, the primary one first.
    """

    private_ip: str
    agent_ip: str
    subnet_id: str
    zone: str
    zone_id: str
    interface_ids: tuple[str, ...] = ()


@dataclass(kw_only=True, eq=False)
class Node:
    """One instance of a group, from its launch until it is gone."""

    instance_id: str
    logical_id: str
    group_name: str
    number: int
    instance_type: str
    launched_at: datetime
    placement: Placement
    life_cycle_config: Spec | None
    image_id: str
    image_release: str
    attempt: int = 1
    status: NodeStatus = NodeStatus.PENDING
    message: str = ""
    software_updated_at: datetime | None = None

    @property
    def name(self) -> str:
        """InstanceName of resource_config.json."""
        return f"{self.group_name}-{self.number}"

    @property
    def is_up(self) -> bool:
        """True once the node's set-up has succeeded."""
        return self.status in UP


@dataclass(kw_only=True, eq=False)
class Group:
    """An instance group: the user's specification and how far it has come.

    Args:
        spec: the group in the request.
        restricted: from RestrictedInstanceGroups.
        status: as DescribeCluster gives it.
        target: nodes wanted.
        minimum: nodes without which the group is not in service.
        served: target and minimum that a failed wait goes back to.
        wait: counts the waits for the minimum, so that an old time limit can be told from the current.
        launching: numbers of nodes on their way, from launch to the end of set-up or of the pause after it.
        has_failed: the last attempt to launch a node failed.
        software_update: SoftwareUpdateStatus.
        image_id: AMI of new nodes, or ``default``.
        image_release: release of new nodes.
    """

    spec: Spec
    restricted: bool = False
    status: GroupStatus = GroupStatus.CREATING
    target: int = 0
    minimum: int = 0
    served: tuple[int, int] = (0, 0)
    wait: int = 0
    launching: set[int] = field(default_factory=set)
    has_failed: bool = False
    software_update: str | None = None
    image_id: str = "default"
    image_release: str = ""

    @property
    def name(self) -> str:
        """Name, unique in the cluster."""
        return str(self.spec["InstanceGroupName"])

    @property
    def node_type(self) -> str | None:
        """Slurm node type, None when the API does not configure Slurm."""
        node_type = self.spec.get("SlurmConfig", {}).get("NodeType")
        return None if node_type is None else str(node_type)

    @property
    def instance_types(self) -> list[str]:
        """Acceptable instance types, best first."""
        if "InstanceType" in self.spec:
            return [self.spec["InstanceType"]]
        return list(self.spec["InstanceRequirements"]["InstanceTypes"])


@dataclass(frozen=True, kw_only=True)
class Event:
    """An entry of ListClusterEvents."""

    event_id: str
    time: datetime
    resource_type: str
    level: str
    description: str
    metadata: Spec
    group_name: str | None = None
    instance_id: str | None = None


@dataclass(kw_only=True, eq=False)
class Cluster:
    """A cluster.

    Args:
        settings: members of the request other than its groups and tags.
        scaler: status of autoscaling, as DescribeCluster shows it; empty where it is off.
        scaler_failure: why autoscaling has failed.
        added: answers of BatchAddClusterNodes by ClientToken, with the simulated second of each.
    """

    name: str
    cluster_id: str
    arn: str
    created_at: datetime
    settings: Spec
    groups: dict[str, Group]
    tags: list[Spec]
    status: ClusterStatus = ClusterStatus.CREATING
    failure_message: str = ""
    scaler: str = ""
    scaler_failure: str = ""
    nodes: list[Node] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    added: dict[str | None, tuple[float, Spec]] = field(default_factory=dict)

    @property
    def log_group(self) -> str:
        """CloudWatch log group of the nodes."""
        return f"/aws/sagemaker/Clusters/{self.name}/{self.cluster_id}"

    @property
    def is_continuous(self) -> bool:
        """True with NodeProvisioningMode Continuous."""
        return self.settings.get("NodeProvisioningMode") == "Continuous"

    @property
    def is_eks(self) -> bool:
        """True when Amazon EKS orchestrates the cluster."""
        return "Eks" in self.settings.get("Orchestrator", {})

    @property
    def configures_slurm(self) -> bool:
        """True when HyperPod sets up Slurm from the API's SlurmConfig."""
        return any(group.node_type for group in self.groups.values())

    def nodes_of(self, group_name: str) -> list[Node]:
        """Give a group's nodes, those that shut down included, in order of launch."""
        return [node for node in self.nodes if node.group_name == group_name]

    def staying(self, group_name: str) -> list[Node]:
        """Give a group's nodes that do not shut down."""
        return [node for node in self.nodes_of(group_name) if node.status is not NodeStatus.SHUTTING_DOWN]

    def up(self, group_name: str) -> list[Node]:
        """Give a group's nodes whose set-up has succeeded."""
        return [node for node in self.nodes_of(group_name) if node.is_up]

    def groups_of_type(self, node_type: str) -> Iterator[Group]:
        """Give the groups with a Slurm node type."""
        return (group for group in self.groups.values() if group.node_type == node_type)

    def instances(self) -> Counter[str]:
        """Count the instances that are there, by type."""
        return Counter(node.instance_type for node in self.nodes)

    def request(self) -> Spec:
        """Give the cluster as the CreateCluster request that would make it as it is asked for now."""
        groups = [group.spec for group in self.groups.values() if not group.restricted]
        restricted = [group.spec for group in self.groups.values() if group.restricted]
        request: Spec = {"ClusterName": self.name, **self.settings}
        if groups:
            request["InstanceGroups"] = groups
        if restricted:
            request["RestrictedInstanceGroups"] = restricted
        return request
