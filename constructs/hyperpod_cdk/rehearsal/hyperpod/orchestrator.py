"""Amazon EKS under a cluster: what the service asks of it, and the nodes that join it.

docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html. The words of refusals are
ours: the service's were not found.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hyperpod_cdk.rehearsal.hyperpod.errors import AccessDeniedError, ValidationError
from hyperpod_cdk.rehearsal.hyperpod.governance import QUOTA, UPDATABLE
from hyperpod_cdk.rehearsal.hyperpod.permissions import allows
from hyperpod_cdk.rehearsal.hyperpod.references import groups_of
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Node, NodeStatus, Spec
from hyperpod_cdk.service.eks import KUBERNETES_VERSIONS
from hyperpod_cdk.service.hyperpod_chart import NAMESPACE, RELEASE

if TYPE_CHECKING:
    from hyperpod_cdk.rehearsal.eks.service import Guest
    from hyperpod_cdk.rehearsal.eks.state import Cluster as ControlPlane

# What the caller of CreateCluster needs: …/dg/sagemaker-hyperpod-prerequisites-iam.html
CALLER_ACTIONS = (
    "eks:DescribeCluster",
    "eks:CreateAccessEntry",
    "eks:DescribeAccessEntry",
    "eks:DeleteAccessEntry",
    "eks:AssociateAccessPolicy",
)
_PREFIX = "sagemaker.amazonaws.com"
_HEALTH = f"{_PREFIX}/node-health-status"
_CHECKED = f"{_PREFIX}/deep-health-check-status"
GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"
_NODE_ENTRY = "HYPERPOD_LINUX"
_SERVICE_POLICY = "AmazonSagemakerHyperpodClusterPolicy"


def control_plane_arn(request: Spec) -> str:
    """Give the ARN of the EKS cluster that a request or a cluster's settings name; empty without one."""
    return str(request.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn", ""))


def check(sim: Simulation, request: Spec) -> None:
    """Refuse an EKS cluster that can not carry a HyperPod cluster.

    Args:
        sim: the simulation.
        request: the whole cluster as a CreateCluster request.

    Raises:
        ValidationError: what is wrong with it.
        AccessDeniedError: the caller may not do to it what the service does in their name.
    """
    arn, eks = control_plane_arn(request), sim.account.eks
    if not arn or not eks.served:
        return
    _check_caller(sim, arn)
    eks.advance()
    plane = eks.by_arn(arn)
    if plane is None:
        raise ValidationError(f"The EKS cluster {arn} does not exist.")
    for refusal in _refusals(sim, plane, request):
        raise ValidationError(f"The EKS cluster {plane.name} {refusal}")


def _check_caller(sim: Simulation, arn: str) -> None:
    if not sim.caller_role:
        return
    for action in CALLER_ACTIONS:
        if not allows(sim.account, sim.caller_role, action, arn):
            raise AccessDeniedError(
                f"User: {sim.caller_role} is not authorized to perform: {action} on resource: {arn}"
            )


def _refusals(sim: Simulation, plane: ControlPlane, request: Spec) -> Iterator[str]:
    status = plane.about["status"]
    if status not in ("ACTIVE", "UPDATING"):
        yield f"is {status}; it must be ACTIVE."
    if plane.authentication_mode == "CONFIG_MAP":
        yield "has authentication mode CONFIG_MAP; it must be API or API_AND_CONFIG_MAP."
    if plane.about["version"] not in KUBERNETES_VERSIONS:
        yield f"runs Kubernetes {plane.about['version']}; supported are {', '.join(KUBERNETES_VERSIONS)}."
    for other in sim.clusters.values():
        if other.name != request["ClusterName"] and control_plane_arn(other.settings) == plane.arn:
            yield f"is used by HyperPod cluster {other.name} already."
    subnets = request.get("VpcConfig", {}).get("Subnets", [])
    vpcs = {sim.account.ec2.get_subnet(subnet_id).vpc_id for subnet_id in subnets}
    if vpcs - {plane.vpc["vpcId"]}:
        yield f"lies in {plane.vpc['vpcId']}, and VpcConfig in {', '.join(sorted(vpcs))}."
    if not _has_chart(plane):
        yield (
            f"lacks what HyperPod needs in it: install the Helm chart HyperPodHelmChart as {RELEASE} in "
            f"{NAMESPACE} first."
        )


def _has_chart(plane: ControlPlane) -> bool:
    """Whether helm has installed the chart: it keeps its releases as secrets."""
    secrets = plane.api.objects("secrets", namespace=NAMESPACE)
    labels = [secret["metadata"].get("labels", {}) for secret in secrets]
    return any(
        one.get("owner") == "helm" and one.get("name") == RELEASE and one.get("status") == "deployed"
        for one in labels
    )


def attach(sim: Simulation, cluster: Cluster) -> None:
    """Let the service and a new cluster's nodes into Kubernetes; nothing without an EKS cluster.

    Args:
        sim: the simulation.
        cluster: the new cluster.
    """
    plane = _plane(sim, cluster)
    if plane is None:
        return
    eks, account = sim.account.eks, sim.account
    linked = f"role/aws-service-role/hyperpod.{_PREFIX}/AWSServiceRoleForSageMakerHyperPod"
    eks.admit(plane, f"arn:{account.partition}:iam::{account.account_id}:{linked}", policy=_SERVICE_POLICY)
    admit_groups(sim, cluster)


def admit_groups(sim: Simulation, cluster: Cluster) -> None:
    """Give each execution role of a cluster's groups an access entry, as its nodes need one."""
    plane = _plane(sim, cluster)
    if plane is None:
        return
    for group in groups_of(cluster.request()):
        sim.account.eks.admit(plane, group["ExecutionRole"], type_=_NODE_ENTRY)


def detach(sim: Simulation, cluster: Cluster) -> None:
    """Take the access of a cluster that is gone away again, also of groups that it once had (assumed)."""
    plane = _plane(sim, cluster)
    if plane is None:
        return
    for principal, entry in list(plane.entries.items()):
        if entry.about["type"] == _NODE_ENTRY or "AWSServiceRoleForSageMakerHyperPod" in principal:
            del plane.entries[principal]
    for node in cluster.nodes:
        sim.account.eks.leave(plane, node_name(node))


def unready_for_governance(sim: Simulation, cluster: Cluster) -> str:
    """Say why the service can not write policies and quotas to Kubernetes; empty when it can.

    It writes to what the add-on runs (failure mode 90), where Amazon EKS is emulated.
    """
    plane = _plane(sim, cluster)
    if plane is None:
        return ""
    sim.account.eks.advance()
    status = plane.add_ons.get(GOVERNANCE, {}).get("status")
    return "" if status == "ACTIVE" else f"add-on {GOVERNANCE} is {status or 'not installed'}"


def sync(sim: Simulation) -> None:
    """Let Kubernetes have the nodes of the clusters that are up, and a namespace for each team with a quota.

    That the service makes the namespaces, with a queue in each:
    …/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-cli.html. That they stay is assumed.
    """
    for cluster in sim.clusters.values():
        plane = _plane(sim, cluster)
        if plane is None:
            continue
        wanted = {node_name(node): node for node in cluster.nodes if node.is_up}
        ours = {name: cluster for name in _joined(plane, cluster)}
        for name in set(ours) - set(wanted):
            sim.account.eks.leave(plane, name)
        for name, node in wanted.items():
            labels, taints = _labels(cluster, node), _taints(cluster, node)
            sim.account.eks.join(plane, name, labels=labels, taints=taints)
        for team in _teams(sim, cluster):
            sim.account.eks.make_room(plane, f"hyperpod-ns-{team}")


def guests(sim: Simulation, arn: str) -> list[Guest]:
    """Give the clusters that an EKS cluster orchestrates.

    Args:
        sim: the simulation.
        arn: of the EKS cluster.
    """
    # the two services know each other
    from hyperpod_cdk.rehearsal.eks.service import Guest  # noqa: PLC0415

    return [
        Guest(name=one.name, arn=one.arn, tags={tag["Key"]: tag["Value"] for tag in one.tags})
        for one in list(sim.clusters.values())
        if control_plane_arn(one.settings) == arn
    ]


def _teams(sim: Simulation, cluster: Cluster) -> list[str]:
    """Teams whose quota is made."""
    return [
        str(one.content["ComputeQuotaTarget"]["TeamName"])
        for one in list(sim.governed.values())
        if one.kind is QUOTA and one.cluster_arn == cluster.arn and one.status in UPDATABLE
    ]


def node_name(node: Node) -> str:
    """Name of a node in Kubernetes."""
    return f"hyperpod-{node.instance_id}"


def _joined(plane: ControlPlane, cluster: Cluster) -> list[str]:
    key = f"{_PREFIX}/cluster-name"
    return [
        str(node["metadata"]["name"])
        for node in plane.api.objects("nodes")
        if node["metadata"].get("labels", {}).get(key) == cluster.name
    ]


def _labels(cluster: Cluster, node: Node) -> dict[str, str]:
    """Labels of a node: …/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html, and the group's own."""
    group = cluster.groups[node.group_name].spec
    checking = node.status is NodeStatus.DEEP_HEALTH_CHECK
    checks = {_CHECKED: "InProgress" if checking else "Passed"} if "OnStartDeepHealthChecks" in group else {}
    return {
        f"{_PREFIX}/compute-type": "hyperpod",
        f"{_PREFIX}/cluster-name": cluster.name,
        f"{_PREFIX}/instance-group-name": node.group_name,
        _HEALTH: "Unschedulable" if checking else "Schedulable",
        **checks,
        "node.kubernetes.io/instance-type": node.instance_type,
        "topology.kubernetes.io/zone": node.placement.zone,
        **group.get("KubernetesConfig", {}).get("Labels", {}),
    }


def _taints(cluster: Cluster, node: Node) -> list[dict[str, Any]]:
    config = cluster.groups[node.group_name].spec.get("KubernetesConfig", {})
    own = [{key.lower(): value for key, value in taint.items()} for taint in config.get("Taints", [])]
    if node.status is NodeStatus.DEEP_HEALTH_CHECK:
        own.append({"key": _HEALTH, "value": "Unschedulable", "effect": "NoSchedule"})
    return own


def _plane(sim: Simulation, cluster: Cluster) -> ControlPlane | None:
    arn = control_plane_arn(cluster.settings)
    return sim.account.eks.by_arn(arn) if arn else None
