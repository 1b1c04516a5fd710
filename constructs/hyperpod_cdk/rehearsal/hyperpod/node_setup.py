"""What is run when a node's lifecycle script would run, and what it is told."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.rehearsal.hyperpod import permissions, scripts
from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Group, Node, NodeStatus, Spec


@dataclass(frozen=True, kw_only=True)
class NodeSetup:
    """A node whose lifecycle script is due.

    Args:
        account_id: 12 digits.
        region: for example ``us-west-2``.
        cluster_name: name of the cluster.
        cluster_id: last part of its ARN, 12 characters.
        cluster_arn: ARN of the cluster.
        group_name: instance group of the node.
        node_type: ``Controller``, ``Login`` or ``Compute``; None when the API does not configure Slurm.
        number: of the node in its group, from 1; a replacement takes its predecessor's.
        attempt: 1 at launch, one more each time that the script runs again on the same node.
        instance_id: ``i-`` and 17 hexadecimal digits.
        instance_type: with ``ml.``.
        execution_role: ARN of the group's role, with which the node reads the scripts.
        private_ip: address in the user's VPC.
        agent_ip: address in the service's VPC.
        script: file name under ``source_s3_uri``.
        trigger: ``OnCreate`` or ``OnInitComplete``.
        source_s3_uri: where the scripts are.
        request: the cluster as a CreateCluster request, with every update that was accepted.
        resource_config: content of /opt/ml/config/resource_config.json on the node.
    """

    account_id: str
    region: str
    cluster_name: str
    cluster_id: str
    cluster_arn: str
    group_name: str
    node_type: str | None
    number: int
    attempt: int
    instance_id: str
    instance_type: str
    execution_role: str
    private_ip: str
    agent_ip: str
    script: str
    trigger: str
    source_s3_uri: str
    request: Spec
    resource_config: Spec


@dataclass(frozen=True, kw_only=True)
class NodeSetupResult:
    """How a node's set-up went.

    Args:
        exit_code: of the script; 0 is success.
        log_lines: what it wrote, in order; goes to the node's log stream.
        seconds: simulated seconds that it took; None for the usual.
    """

    exit_code: int = 0
    log_lines: tuple[str, ...] = ()
    seconds: float | None = None


NodeSetupFunction = Callable[[NodeSetup], NodeSetupResult]


def find_script(node: NodeSetup) -> NodeSetupResult:
    """Succeed when the script is in S3, fail when it is missing; run nothing.

    Args:
        node: the node to set up.
    """
    account = Account(node.account_id, node.region)
    address = f"{node.source_s3_uri.rstrip('/')}/{node.script}"
    if not scripts.exists(account, node.source_s3_uri, node.script):
        return NodeSetupResult(exit_code=1, log_lines=(f"[ERROR] can not download {address}: not found",))
    return NodeSetupResult(log_lines=(f"[INFO] downloaded {address}",))


def find_readable_script(node: NodeSetup) -> NodeSetupResult:
    """Succeed when the script is in S3 and the node's execution role may read it; run nothing.

    Args:
        node: the node to set up.
    """
    account = Account(node.account_id, node.region)
    bucket, key = scripts.join(node.source_s3_uri, node.script)
    resource = f"arn:{account.partition}:s3:::{bucket}/{key}"
    if not permissions.allows(account, node.execution_role, "s3:GetObject", resource):
        denial = f"{node.execution_role} is not authorized to perform: s3:GetObject on {resource}"
        return NodeSetupResult(exit_code=1, log_lines=(f"[ERROR] AccessDenied: {denial}",))
    return find_script(node)


def trigger_of(life_cycle_config: Spec | None) -> str | None:
    """Give ``OnCreate`` or ``OnInitComplete``, or None without a script."""
    return next((key for key in ("OnCreate", "OnInitComplete") if key in (life_cycle_config or {})), None)


def describe_setup(account: Account, cluster: Cluster, node: Node) -> NodeSetup | None:
    """Gather what a node's set-up is told; None when the node has no lifecycle script.

    Args:
        account: where the cluster is.
        cluster: the node's cluster.
        node: the node to set up.
    """
    config = node.life_cycle_config or {}
    trigger = trigger_of(config)
    if trigger is None:
        return None
    return NodeSetup(
        account_id=account.account_id,
        region=account.region,
        cluster_name=cluster.name,
        cluster_id=cluster.cluster_id,
        cluster_arn=cluster.arn,
        group_name=node.group_name,
        node_type=cluster.groups[node.group_name].node_type,
        number=node.number,
        attempt=node.attempt,
        instance_id=node.instance_id,
        instance_type=node.instance_type,
        execution_role=cluster.groups[node.group_name].spec["ExecutionRole"],
        private_ip=node.placement.private_ip,
        agent_ip=node.placement.agent_ip,
        script=config[trigger],
        trigger=trigger,
        source_s3_uri=config["SourceS3Uri"],
        request=cluster.request(),
        resource_config=resource_config(cluster),
    )


def resource_config(cluster: Cluster) -> Spec:
    """Give the content of resource_config.json, which HyperPod writes to every node.

    It says nothing of Slurm roles, partitions or file systems; members as in
    docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-lifecycle-best-practices-slurm-slurm-base-config.html.

    Args:
        cluster: the cluster, with the nodes that it has now.
    """
    return {
        "ClusterConfig": {"ClusterArn": cluster.arn, "ClusterName": cluster.name},
        "InstanceGroups": [_group_entry(cluster, group) for group in cluster.groups.values()],
    }


def _group_entry(cluster: Cluster, group: Group) -> dict[str, Any]:
    nodes = [
        node
        for node in cluster.nodes_of(group.name)
        if node.status not in (NodeStatus.SHUTTING_DOWN, NodeStatus.FAILURE)
    ]
    return {
        "Name": group.name,
        "InstanceType": group.instance_types[0],
        "Instances": [_instance_entry(node) for node in sorted(nodes, key=lambda node: node.number)],
    }


def _instance_entry(node: Node) -> dict[str, str]:
    return {
        "InstanceName": node.name,
        "AgentIpAddress": node.placement.agent_ip,
        "CustomerIpAddress": node.placement.private_ip,
        "InstanceId": node.instance_id,
    }
