"""Adding, deleting, rebooting and replacing single nodes.

docs.aws.amazon.com/sagemaker/latest/APIReference/API_BatchAddClusterNodes.html and its siblings.
"""

from collections.abc import Callable

from hyperpod_cdk.rehearsal.hyperpod import continuous, nodes
from hyperpod_cdk.rehearsal.hyperpod.errors import NotFoundError, ValidationError
from hyperpod_cdk.rehearsal.hyperpod.operations import lookup
from hyperpod_cdk.rehearsal.hyperpod.operations.admission import admit
from hyperpod_cdk.rehearsal.hyperpod.operations.software import require_no_wait
from hyperpod_cdk.rehearsal.hyperpod.rules.update import merge
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, ClusterStatus, Group, Node, NodeStatus, Spec

TOKEN_SECONDS = 8 * 3600
"""How long a ClientToken gives the same answer again."""

Check = Callable[[Cluster, Node], tuple[str, str] | None]
"""From a node to the code and text of a refusal, or None."""


def add_nodes(sim: Simulation, request: Spec) -> Spec:
    """Answer BatchAddClusterNodes: raise the target of some groups.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        NotFoundError: there is no such cluster.
        ConflictError: it is not InService, or a group waits for its MinInstanceCount.
        ValidationError: the cluster does not provision continuously.
        LimitExceededError: a quota.
    """
    cluster = _changeable_cluster(sim, request)
    if not cluster.is_continuous:
        raise ValidationError("BatchAddClusterNodes is only supported with NodeProvisioningMode Continuous.")
    token = request.get("ClientToken")
    known = cluster.added.get(token)
    if known and known[0] > sim.timeline.elapsed() - TOKEN_SECONDS:
        return known[1]
    successful: list[Spec] = []
    failed: list[Spec] = []
    for entry in request["NodesToAdd"]:
        code = _refusal_to_add(sim, cluster, entry)
        if code is None:
            successful += _add(sim, cluster, cluster.groups[entry["InstanceGroupName"]], entry)
        else:
            failed.append(_failed_entry(entry, code))
    answer = {"Successful": successful, "Failed": failed}
    if token is not None:
        cluster.added[token] = sim.timeline.elapsed(), answer
    return answer


def delete_nodes(sim: Simulation, request: Spec) -> Spec:
    """Answer BatchDeleteClusterNodes: take nodes away and lower their groups' targets.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        NotFoundError: there is no such cluster.
        ConflictError: it is not InService, or a group waits for its MinInstanceCount.
        ValidationError: no node is named, or none of those that are can be deleted.
    """
    cluster = _changeable_cluster(sim, request)

    def delete(node: Node) -> None:
        group = cluster.groups[node.group_name]
        _set_target(group, group.target - 1)
        nodes.remove(sim, cluster, node)

    return _each(cluster, request, check=_deletable, act=delete, code_member="Code", missing="NodeIdNotFound")


def reboot_nodes(sim: Simulation, request: Spec) -> Spec:
    """Answer BatchRebootClusterNodes.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        NotFoundError: there is no such cluster.
        ValidationError: no node is named, or none of those that are can be rebooted.
    """
    cluster = lookup.cluster(sim, request["ClusterName"])

    def reboot(node: Node) -> None:
        node.status = NodeStatus.PENDING

        def boot() -> None:
            if not nodes.is_leaving(cluster, node):
                node.status = NodeStatus.RUNNING

        sim.timeline.after(sim.durations.reboot, boot)

    return _each(
        cluster, request, check=_running, act=reboot, code_member="ErrorCode", missing="InstanceIdNotFound"
    )


def replace_nodes(sim: Simulation, request: Spec) -> Spec:
    """Answer BatchReplaceClusterNodes: new instances under the old numbers.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        NotFoundError: there is no such cluster.
        ConflictError: it is not InService.
        ValidationError: no node is named, or none of those that are can be replaced.
    """
    cluster = lookup.cluster(sim, request["ClusterName"])
    lookup.require_status(cluster, (ClusterStatus.IN_SERVICE,))

    def replace(node: Node) -> None:
        group = cluster.groups[node.group_name]
        nodes.terminate(sim, cluster, node)
        _relaunch(sim, cluster, group, node.number)

    return _each(
        cluster, request, check=_running, act=replace, code_member="ErrorCode", missing="InstanceIdNotFound"
    )


def _relaunch(sim: Simulation, cluster: Cluster, group: Group, number: int) -> None:
    if cluster.is_continuous:
        continuous.reconcile(sim, cluster)
        return

    def ready(_node: Node) -> None:
        group.launching.discard(number)

    def failed(node: Node | None, _reason: str) -> None:
        if node is not None:
            nodes.terminate(sim, cluster, node)
        sim.timeline.after(sim.durations.retry, launch)

    def launch() -> None:
        others = nodes.taken_numbers(cluster, group) - {number}
        if cluster.groups.get(group.name) is group and len(others) < group.target:
            nodes.launch(sim, cluster, group, number, ready=ready, failed=failed)
        else:
            group.launching.discard(number)

    group.launching.add(number)
    launch()


def _changeable_cluster(sim: Simulation, request: Spec) -> Cluster:
    cluster = lookup.cluster(sim, request["ClusterName"])
    lookup.require_status(cluster, (ClusterStatus.IN_SERVICE,))
    require_no_wait(cluster)
    return cluster


def _refusal_to_add(sim: Simulation, cluster: Cluster, entry: Spec) -> str | None:
    group = cluster.groups.get(entry["InstanceGroupName"])
    if group is None:
        return "InstanceGroupNotFound"
    if not set(entry.get("InstanceTypes", [])) <= set(group.instance_types):
        return "IncompatibleInstanceTypes"
    zones = entry.get("AvailabilityZones")
    if zones and not set(zones) <= sim.network.zones(cluster, group):
        return "IncompatibleAvailabilityZones"
    return None


def _failed_entry(entry: Spec, code: str) -> Spec:
    return {
        "InstanceGroupName": entry["InstanceGroupName"],
        "ErrorCode": code,
        "FailedCount": entry["IncrementTargetCountBy"],
        "Message": f"Nodes can not be added to instance group '{entry['InstanceGroupName']}': {code}.",
    }


def _add(sim: Simulation, cluster: Cluster, group: Group, entry: Spec) -> list[Spec]:
    count = group.target + entry["IncrementTargetCountBy"]
    changed = {"InstanceGroups": [{**group.spec, "InstanceCount": count}]}
    admit(sim, merge(cluster.request(), changed), changed=changed)
    before = set(cluster.nodes)
    _set_target(group, count)
    continuous.reconcile(sim, cluster)
    return [
        {
            "NodeLogicalId": node.logical_id,
            "InstanceGroupName": group.name,
            "Status": NodeStatus.PENDING.value,
        }
        for node in cluster.nodes
        if node not in before and node.group_name == group.name
    ]


def _set_target(group: Group, target: int) -> None:
    group.target = target
    group.minimum = min(group.minimum, target)
    group.spec = {**group.spec, "InstanceCount": target}
    if "MinInstanceCount" in group.spec:
        group.spec["MinInstanceCount"] = group.minimum


def _deletable(cluster: Cluster, node: Node) -> tuple[str, str] | None:
    if cluster.groups[node.group_name].node_type == "Controller":
        return "NodeIdInUse", f"Node '{node.instance_id}' is a Slurm controller."
    if nodes.is_leaving(cluster, node):
        return "InvalidNodeStatus", f"Node '{node.instance_id}' is in status {node.status}."
    return None


def _running(_cluster: Cluster, node: Node) -> tuple[str, str] | None:
    if node.status is NodeStatus.RUNNING:
        return None
    return "InvalidInstanceStatus", f"Node '{node.instance_id}' is in status {node.status}."


def _each(
    cluster: Cluster,
    request: Spec,
    *,
    check: Check,
    act: Callable[[Node], None],
    code_member: str,
    missing: str,
) -> Spec:
    answer: dict[str, list[object]] = {}
    for request_member, id_member, suffix in (
        ("NodeIds", "NodeId", ""),
        ("NodeLogicalIds", "NodeLogicalId", "NodeLogicalIds"),
    ):
        for node_id in request.get(request_member, []):
            node, refusal = _checked(cluster, id_member, node_id, check, missing)
            if node is not None and refusal is None:
                act(node)
                answer.setdefault(f"Successful{suffix}", []).append(node_id)
            elif refusal is not None:
                entry = {id_member: node_id, code_member: refusal[0], "Message": refusal[1]}
                answer.setdefault(f"Failed{suffix}", []).append(entry)
    if not any(member.startswith("Successful") for member in answer):
        failed = [entry for entries in answer.values() for entry in entries]
        raise ValidationError(f"None of the nodes can be changed: {failed or 'no node is named'}.")
    return dict(answer)


def _checked(
    cluster: Cluster, id_member: str, node_id: str, check: Check, missing: str
) -> tuple[Node | None, tuple[str, str] | None]:
    try:
        if id_member == "NodeId":
            node = lookup.node(cluster, instance_id=node_id)
        else:
            node = lookup.node(cluster, logical_id=node_id)
    except NotFoundError as error:
        return None, (missing, error.message)
    return node, check(cluster, node)
