"""CreateCluster."""

from copy import deepcopy

from hyperpod_cdk.rehearsal.hyperpod import autoscaling, continuous, events, logs, orchestrator
from hyperpod_cdk.rehearsal.hyperpod.errors import InUseError
from hyperpod_cdk.rehearsal.hyperpod.operations.admission import admit
from hyperpod_cdk.rehearsal.hyperpod.references import groups_of
from hyperpod_cdk.rehearsal.hyperpod.rollout import Rollout
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import (
    Cluster,
    ClusterStatus,
    Group,
    GroupStatus,
    Spec,
)

_NOT_SETTINGS = frozenset({"ClusterName", "InstanceGroups", "RestrictedInstanceGroups", "Tags"})


def create_cluster(sim: Simulation, request: Spec) -> Spec:
    """Accept a new cluster and begin to provision it.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        InUseError: the name is taken, whatever the status of the cluster that has it.
        ValidationError: a rule of the service, a role, a subnet or a security group.
        LimitExceededError: a quota.
    """
    name = request["ClusterName"]
    if name in sim.clusters:
        raise InUseError(
            f"Resource Already Exists: Cluster with name {name} already exists. Choose a different name."
        )
    admit(sim, request, changed=request)
    cluster = _new_cluster(sim, deepcopy(request))
    sim.clusters[name] = cluster
    logs.create_group(sim.account, cluster)
    orchestrator.attach(sim, cluster)
    autoscaling.follow(sim, cluster)
    events.record(sim, cluster, "Cluster creation started.")
    if cluster.is_continuous:
        continuous.create(sim, cluster)
    else:
        _roll_out(sim, cluster)
    return {"ClusterArn": cluster.arn}


def new_group(sim: Simulation, spec: Spec, *, restricted: bool = False) -> Group:
    """Make a group that has no nodes yet.

    Args:
        sim: the simulation, which knows the newest image.
        spec: the group in the request.
        restricted: from RestrictedInstanceGroups.
    """
    group = Group(
        spec=spec,
        restricted=restricted,
        target=spec["InstanceCount"],
        image_id=spec.get("ImageId", "default"),
        image_release=spec.get("ImageReleaseVersion", sim.image_release),
    )
    group.minimum = spec.get("MinInstanceCount", default_minimum(group))
    return group


def default_minimum(group: Group) -> int:
    """Give the MinInstanceCount of a new group that names none: 1 for Controller and Login, else 0."""
    return min(group.target, 1) if group.node_type in ("Controller", "Login") else 0


def _new_cluster(sim: Simulation, request: Spec) -> Cluster:
    account = sim.account
    cluster_id = sim.new_cluster_id()
    restricted = {group["InstanceGroupName"] for group in request.get("RestrictedInstanceGroups", [])}
    return Cluster(
        name=request["ClusterName"],
        cluster_id=cluster_id,
        arn=f"arn:{account.partition}:sagemaker:{account.region}:{account.account_id}:cluster/{cluster_id}",
        created_at=sim.timeline.now(),
        settings={member: value for member, value in request.items() if member not in _NOT_SETTINGS},
        groups={
            spec["InstanceGroupName"]: new_group(
                sim, spec, restricted=spec["InstanceGroupName"] in restricted
            )
            for spec in groups_of(request)
        },
        tags=request.get("Tags", []),
    )


def _roll_out(sim: Simulation, cluster: Cluster) -> None:
    def succeed() -> None:
        _set_status(cluster, ClusterStatus.IN_SERVICE, GroupStatus.IN_SERVICE)

    def fail(reason: str) -> None:
        _set_status(cluster, ClusterStatus.FAILED, GroupStatus.FAILED)
        cluster.failure_message = reason

    launches = [(group, group.target) for group in cluster.groups.values() if group.target]
    Rollout(sim, cluster, launches=launches, succeed=succeed, fail=fail).begin()


def _set_status(cluster: Cluster, status: ClusterStatus, group_status: GroupStatus) -> None:
    cluster.status = status
    for group in cluster.groups.values():
        group.status = group_status
        group.served = (group.target, group.minimum)
