"""What an account holds, and what of it a destroyed stack has left behind."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.rehearsal.aws.stacks.records import Stack

Client = Callable[[str], Any]
Inventory = Mapping[str, frozenset[str]]
"""Ids of resources by kind."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of resource and how it is listed.

    Args:
        service: the service's name in boto3.
        operation: the listing operation's name in boto3.
        entries: member of the answer that holds the list.
        key: member of an entry that names it; empty for a list of names.
        excludes: entries that come with others, or with the account, and go with them.
        goes: asks the service, by a client of it, whether an entry is on its way out.
        arguments: of the operation.
        of_clusters: the operation is asked of each EKS cluster, whose name comes before the entry's.
    """

    service: str
    operation: str
    entries: str
    key: str
    excludes: Callable[[Mapping[str, Any]], bool] = lambda _: False
    goes: Callable[[Any, Mapping[str, Any]], bool] = lambda _client, _entry: False
    arguments: Mapping[str, Any] = field(default_factory=dict)
    of_clusters: bool = False


def _gone(entry: Mapping[str, Any]) -> bool:
    return str(entry.get("State")) in ("deleted", "deleting")


def _deleted(one: Mapping[str, Any]) -> bool:
    # still shown for a while
    return bool(one.get("Status") == "Deleted")


def _pending(kms: Any, key: Mapping[str, Any]) -> bool:
    # KMS waits 7 to 30 days before it deletes a key
    return bool(kms.describe_key(KeyId=key["KeyId"])["KeyMetadata"]["KeyState"] == "PendingDeletion")


def _main(table: Mapping[str, Any]) -> bool:
    return any(association.get("Main") for association in table.get("Associations", []))


KINDS: Mapping[str, Kind] = {
    "HyperPod cluster": Kind(
        service="sagemaker", operation="list_clusters", entries="ClusterSummaries", key="ClusterName"
    ),
    "compute quota": Kind(
        service="sagemaker",
        operation="list_compute_quotas",
        entries="ComputeQuotaSummaries",
        key="ComputeQuotaArn",
        excludes=_deleted,
    ),
    "cluster policy": Kind(
        service="sagemaker",
        operation="list_cluster_scheduler_configs",
        entries="ClusterSchedulerConfigSummaries",
        key="ClusterSchedulerConfigArn",
        excludes=_deleted,
    ),
    "EKS cluster": Kind(service="eks", operation="list_clusters", entries="clusters", key=""),
    **{
        name: Kind(service="eks", operation=f"list_{plural}", entries=entries, key=key, of_clusters=True)
        for name, plural, entries, key in (
            ("add-on", "addons", "addons", ""),
            ("access entry", "access_entries", "accessEntries", ""),
            ("pod identity", "pod_identity_associations", "associations", "associationId"),
        )
    },
    "launch template": Kind(
        service="ec2",
        operation="describe_launch_templates",
        entries="LaunchTemplates",
        key="LaunchTemplateId",
    ),
    "VPC": Kind(service="ec2", operation="describe_vpcs", entries="Vpcs", key="VpcId"),
    "subnet": Kind(service="ec2", operation="describe_subnets", entries="Subnets", key="SubnetId"),
    "security group": Kind(
        service="ec2",
        operation="describe_security_groups",
        entries="SecurityGroups",
        key="GroupId",
        excludes=lambda group: group["GroupName"] == "default",
    ),
    "route table": Kind(
        service="ec2",
        operation="describe_route_tables",
        entries="RouteTables",
        key="RouteTableId",
        excludes=_main,
    ),
    "network interface": Kind(
        service="ec2",
        operation="describe_network_interfaces",
        entries="NetworkInterfaces",
        key="NetworkInterfaceId",
        # those of a file system go with it
        excludes=lambda interface: interface.get("Description", "").startswith(
            "Primary network interface for fs-"
        ),
    ),
    "NAT gateway": Kind(
        service="ec2",
        operation="describe_nat_gateways",
        entries="NatGateways",
        key="NatGatewayId",
        excludes=_gone,
    ),
    "elastic IP": Kind(
        service="ec2", operation="describe_addresses", entries="Addresses", key="AllocationId"
    ),
    "internet gateway": Kind(
        service="ec2",
        operation="describe_internet_gateways",
        entries="InternetGateways",
        key="InternetGatewayId",
    ),
    "VPC endpoint": Kind(
        service="ec2",
        operation="describe_vpc_endpoints",
        entries="VpcEndpoints",
        key="VpcEndpointId",
        excludes=_gone,
    ),
    "flow log": Kind(service="ec2", operation="describe_flow_logs", entries="FlowLogs", key="FlowLogId"),
    "file system": Kind(
        service="fsx", operation="describe_file_systems", entries="FileSystems", key="FileSystemId"
    ),
    "data repository association": Kind(
        service="fsx",
        operation="describe_data_repository_associations",
        entries="Associations",
        key="AssociationId",
    ),
    "bucket": Kind(service="s3", operation="list_buckets", entries="Buckets", key="Name"),
    "IAM role": Kind(service="iam", operation="list_roles", entries="Roles", key="RoleName"),
    "IAM policy": Kind(
        service="iam",
        operation="list_policies",
        entries="Policies",
        key="Arn",
        arguments={"Scope": "Local"},
    ),
    "function": Kind(service="lambda", operation="list_functions", entries="Functions", key="FunctionName"),
    "layer": Kind(service="lambda", operation="list_layers", entries="Layers", key="LayerArn"),
    "state machine": Kind(
        service="stepfunctions",
        operation="list_state_machines",
        entries="stateMachines",
        key="stateMachineArn",
    ),
    "log group": Kind(
        service="logs", operation="describe_log_groups", entries="logGroups", key="logGroupName"
    ),
    "identity provider": Kind(
        service="iam",
        operation="list_open_id_connect_providers",
        entries="OpenIDConnectProviderList",
        key="Arn",
    ),
    "workspace of metrics": Kind(service="amp", operation="list_workspaces", entries="workspaces", key="arn"),
    "KMS key": Kind(service="kms", operation="list_keys", entries="Keys", key="KeyId", goes=_pending),
}


def inventory(client: Client) -> Inventory:
    """List what the account holds.

    Args:
        client: gives a client of a service.
    """
    return {name: frozenset(_listed(client, kind)) for name, kind in KINDS.items()}


@dataclass(frozen=True, kw_only=True)
class Leftover:
    """A resource that outlives its stack.

    Args:
        kind: one of :data:`KINDS`.
        name: its id.
        reason: why it is kept on purpose; empty when nobody knows.
    """

    kind: str
    name: str
    reason: str


def leftovers(before: Inventory, after: Inventory, stack: Stack) -> list[Leftover]:
    """Tell what is there beyond what was there before the stack, and why.

    Args:
        before: what the account held before the stack.
        after: what it holds now.
        stack: the stack, destroyed or rolled back.
    """
    kept = {
        event.PhysicalResourceId: f"DeletionPolicy of {event.LogicalResourceId}"
        for event in stack.events
        if event.ResourceStatus == "DELETE_SKIPPED"
    }
    found = [
        Leftover(kind=kind, name=name, reason=kept.get(name) or _known(kind, name))
        for kind, names in after.items()
        for name in sorted(names - before[kind])
    ]
    listed = {name for names in after.values() for name in names}
    return [*found, *_unlisted(stack, listed)]


def _unlisted(stack: Stack, listed: Set[str]) -> Iterator[Leftover]:
    """What a stack has kept of kinds that the account does not list here, such as Grafana's workspaces.

    What a custom resource has kept lies in something else, and may have gone with it.
    """
    for event in stack.events:
        kept = event.ResourceStatus == "DELETE_SKIPPED" and event.PhysicalResourceId
        if kept and event.PhysicalResourceId not in listed and event.ResourceType.startswith("AWS::"):
            reason = f"DeletionPolicy of {event.LogicalResourceId}"
            yield Leftover(kind=event.ResourceType, name=event.PhysicalResourceId, reason=reason)


def _known(kind: str, name: str) -> str:
    if kind == "log group" and name.startswith("/aws/sagemaker/Clusters/"):
        return "HyperPod keeps the logs of a cluster's nodes"
    return ""


def _listed(client: Client, kind: Kind) -> Iterable[str]:
    service = client(kind.service)
    if not kind.of_clusters:
        return _names(service, kind, kind.arguments)
    clusters = service.list_clusters()["clusters"]
    return [f"{one}/{name}" for one in clusters for name in _names(service, kind, {"clusterName": one})]


def _names(service: Any, kind: Kind, arguments: Mapping[str, Any]) -> list[str]:
    answer = getattr(service, kind.operation)(**arguments)
    entries = answer[kind.entries] if kind.key else [{"": name} for name in answer[kind.entries]]
    return [
        str(entry[kind.key])
        for entry in entries
        if not kind.excludes(entry) and not kind.goes(service, entry)
    ]
