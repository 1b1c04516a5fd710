"""UpdateCluster."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace

from hyperpod_cdk.rehearsal.hyperpod import autoscaling, continuous, events, nodes, orchestrator
from hyperpod_cdk.rehearsal.hyperpod.errors import ConflictError, ValidationError
from hyperpod_cdk.rehearsal.hyperpod.faults import UpdateRollsBack
from hyperpod_cdk.rehearsal.hyperpod.operations import lookup
from hyperpod_cdk.rehearsal.hyperpod.operations.admission import admit
from hyperpod_cdk.rehearsal.hyperpod.operations.create import new_group
from hyperpod_cdk.rehearsal.hyperpod.references import groups_of
from hyperpod_cdk.rehearsal.hyperpod.rollout import Rollout
from hyperpod_cdk.rehearsal.hyperpod.rules.update import SETTINGS, merge
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import (
    Cluster,
    ClusterStatus,
    Group,
    GroupStatus,
    Node,
    NodeStatus,
    Spec,
)


def update_cluster(sim: Simulation, request: Spec) -> Spec:
    """Accept changes and begin to make them.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        NotFoundError: there is no such cluster.
        ConflictError: it is not InService, or on Amazon EKS deep health checks run.
        ValidationError: the update changes what is fixed, or would make a cluster that a rule refuses.
        LimitExceededError: a quota.
    """
    cluster = lookup.cluster(sim, request["ClusterName"])
    lookup.require_status(cluster, (ClusterStatus.IN_SERVICE,))
    _require_no_checks(cluster)
    merged = deepcopy(merge(cluster.request(), request))
    _require_types_in_use(cluster, merged)
    admit(sim, merged, changed=request)
    restore = _snapshot(cluster)
    cluster.status = ClusterStatus.UPDATING
    cluster.failure_message = ""
    deleted = set(request.get("InstanceGroupsToDelete", []))
    _apply(sim, cluster, merged, deleted)
    orchestrator.admit_groups(sim, cluster)
    autoscaling.follow(sim, cluster)
    fault = sim.faults.strike(UpdateRollsBack)
    apply = _continue if cluster.is_continuous else _roll_out
    apply(sim, cluster, restore, fault.reason if fault else "")
    return {"ClusterArn": cluster.arn}


def _apply(sim: Simulation, cluster: Cluster, merged: Spec, deleted: set[str]) -> None:
    for member in SETTINGS:
        if member in merged:
            cluster.settings[member] = merged[member]
    restricted = {group["InstanceGroupName"] for group in merged.get("RestrictedInstanceGroups", [])}
    for spec in groups_of(merged):
        name = spec["InstanceGroupName"]
        fresh = new_group(sim, spec, restricted=name in restricted)
        group = cluster.groups.setdefault(name, fresh)
        if group is not fresh:
            _change(group, spec)
    for name in deleted:
        cluster.groups[name].status = GroupStatus.DELETING
        cluster.groups[name].target = cluster.groups[name].minimum = 0


def _change(group: Group, spec: Spec) -> None:
    scales = spec["InstanceCount"] != group.target
    minimum = spec.get("MinInstanceCount", min(group.minimum, spec["InstanceCount"]))
    group.spec, group.target, group.minimum = spec, spec["InstanceCount"], minimum
    group.image_release = spec.get("ImageReleaseVersion", group.image_release)
    group.status = GroupStatus.UPDATING if scales else group.status


def _snapshot(cluster: Cluster) -> Callable[[], None]:
    groups = [(group, replace(group)) for group in cluster.groups.values()]
    settings = dict(cluster.settings)

    def restore() -> None:
        for group, before in groups:  # in place: launches on their way hold on to the group
            vars(group).update(vars(before))
        cluster.groups = {group.name: group for group, _ in groups}
        cluster.settings = settings

    return restore


def _roll_out(sim: Simulation, cluster: Cluster, restore: Callable[[], None], refusal: str) -> None:
    launches: list[tuple[Group, int]] = []
    removals: list[Node] = []
    for group in cluster.groups.values():
        staying = cluster.staying(group.name)
        missing = group.target - len(nodes.taken_numbers(cluster, group))
        if missing > 0:
            launches.append((group, missing))
        removals += sim.random.sample(staying, min(max(-missing, 0), len(staying)))

    def succeed() -> None:
        cluster.status = ClusterStatus.IN_SERVICE
        for group in list(cluster.groups.values()):
            if group.status is GroupStatus.DELETING:
                del cluster.groups[group.name]
            group.status = GroupStatus.IN_SERVICE
            group.served = (group.target, group.minimum)

    def fail(reason: str) -> None:
        restore()
        cluster.status = ClusterStatus.IN_SERVICE
        cluster.failure_message = reason

    rollout = Rollout(
        sim, cluster, launches=launches, removals=removals, succeed=succeed, fail=fail, refusal=refusal
    )
    rollout.begin()


def _continue(sim: Simulation, cluster: Cluster, restore: Callable[[], None], refusal: str) -> None:
    for group in cluster.groups.values():
        if continuous.is_waiting(cluster, group):
            continuous.watch_minimum(sim, cluster, group)

    def accept() -> None:
        if refusal:
            cluster.status = ClusterStatus.ROLLING_BACK
            sim.timeline.after(sim.durations.roll_back, roll_back)
            return
        cluster.status = ClusterStatus.IN_SERVICE
        continuous.reconcile(sim, cluster)

    def roll_back() -> None:
        restore()
        cluster.status = ClusterStatus.IN_SERVICE
        cluster.failure_message = refusal
        events.record(sim, cluster, "Cluster update failed.", level="Error", failure=refusal)
        continuous.reconcile(sim, cluster)

    sim.timeline.after(sim.durations.settings, accept)


def _require_no_checks(cluster: Cluster) -> None:
    checked = [node.instance_id for node in cluster.nodes if node.status is NodeStatus.DEEP_HEALTH_CHECK]
    if cluster.is_eks and checked:
        raise ConflictError(
            f"Cluster '{cluster.name}' can not be updated while deep health checks run on "
            f"{', '.join(checked)}."
        )


def _require_types_in_use(cluster: Cluster, merged: Spec) -> None:
    for spec in merged.get("InstanceGroups", []):
        types = spec.get("InstanceRequirements", {}).get("InstanceTypes")
        running = {node.instance_type for node in cluster.staying(spec["InstanceGroupName"])}
        if types is not None and running - set(types):
            raise ValidationError(
                f"Instance types {', '.join(sorted(running - set(types)))} of instance group "
                f"'{spec['InstanceGroupName']}' can not be removed while nodes of them exist."
            )
