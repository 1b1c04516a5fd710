"""UpdateClusterSoftware."""

from hyperpod_cdk.rehearsal.hyperpod import continuous, software
from hyperpod_cdk.rehearsal.hyperpod.errors import ConflictError, ValidationError
from hyperpod_cdk.rehearsal.hyperpod.operations import lookup
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.software import Image
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, ClusterStatus, Group, Spec


def update_cluster_software(sim: Simulation, request: Spec) -> Spec:
    """Begin to give nodes a new image; nodes that have it already are left alone.

    Args:
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        NotFoundError: there is no such cluster.
        ConflictError: it is not InService, or a group waits for its MinInstanceCount.
        ValidationError: there is no such group, or HyperPod's image would be swapped for an AMI.
    """
    cluster = lookup.cluster(sim, request["ClusterName"])
    lookup.require_status(cluster, (ClusterStatus.IN_SERVICE,))
    require_no_wait(cluster)
    images = [
        (group, _wanted_image(sim, cluster, group, entry, request.get("ImageId")))
        for group, entry in _selected(cluster, request)
    ]
    outdated = [(group, image) for group, image in images if _differs(cluster, group, image)]
    for group, image in images:
        if (group, image) not in outdated:  # new nodes get it from now on
            software.take(group, image)
    if outdated:
        software.begin(sim, cluster, outdated, request.get("DeploymentConfig", {}))
    return {"ClusterArn": cluster.arn}


def require_no_wait(cluster: Cluster) -> None:
    """Refuse a request while a group waits for its MinInstanceCount.

    Args:
        cluster: the cluster.

    Raises:
        ConflictError: naming the groups that wait.
    """
    waiting = [group.name for group in cluster.groups.values() if continuous.is_waiting(cluster, group)]
    if cluster.is_continuous and waiting:
        raise ConflictError(
            f"Cluster '{cluster.name}' has instance groups that wait for their MinInstanceCount: "
            f"{', '.join(waiting)}."
        )


def _selected(cluster: Cluster, request: Spec) -> list[tuple[Group, Spec]]:
    if "InstanceGroups" not in request:
        return [(group, {}) for group in cluster.groups.values() if not group.restricted]
    selected = []
    for entry in request["InstanceGroups"]:
        name = entry["InstanceGroupName"]
        if name not in cluster.groups:
            raise ValidationError(f"Instance group '{name}' does not exist in cluster '{cluster.name}'.")
        selected.append((cluster.groups[name], entry))
    return selected


def _wanted_image(
    sim: Simulation, cluster: Cluster, group: Group, entry: Spec, image_id: str | None
) -> Image:
    wanted = image_id or group.image_id
    if wanted != "default" and group.image_id == "default" and not cluster.is_eks:
        raise ValidationError(
            f"Instance group '{group.name}' can not be updated from the default image to a custom AMI. "
            "Create a new instance group instead."
        )
    return Image(image_id=wanted, release=entry.get("ImageReleaseVersion", sim.image_release))


def _differs(cluster: Cluster, group: Group, image: Image) -> bool:
    return any(
        (node.image_id, node.image_release) != (image.image_id, image.release)
        for node in cluster.staying(group.name)
    )
