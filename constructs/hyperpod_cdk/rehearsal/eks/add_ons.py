"""Add-ons: how they come up, and why they do not.

docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html
"""

from __future__ import annotations

from typing import Any

from hyperpod_cdk.rehearsal.eks import workloads
from hyperpod_cdk.rehearsal.eks.catalogue import ADD_ONS, AddOn
from hyperpod_cdk.rehearsal.eks.errors import InUseError, InvalidParameterError, NotFoundError
from hyperpod_cdk.rehearsal.eks.operators import lacks
from hyperpod_cdk.rehearsal.eks.service import AmazonEks, page
from hyperpod_cdk.rehearsal.eks.state import ACTIVE, Cluster, Spec
from hyperpod_cdk.service.eks import KUBERNETES_VERSIONS

_LOOK_SECONDS = 15.0
_OVERWRITE = "OVERWRITE"


def create_addon(eks: AmazonEks, request: Spec) -> Spec:
    """CreateAddon."""
    cluster, name = _ready_cluster(eks, request), request["addonName"]
    if name in cluster.add_ons:
        raise InUseError("Addon already exists.")
    add_on = _known(name)
    if request.get("resolveConflicts") == "PRESERVE":
        raise InvalidParameterError(
            "Resolve conflicts option preserve is not supported for operation CreateAddon"
        )
    if request.get("podIdentityAssociations") and not add_on.takes_identity:
        raise InvalidParameterError(f"Addon {name} does not support pod identity associations")
    about: Spec = {
        "addonName": name,
        "clusterName": cluster.name,
        "status": "CREATING",
        "addonVersion": request.get("addonVersion") or add_on.version,
        "health": {"issues": []},
        "addonArn": eks.arn("addon", cluster.name, name, eks.new_id(36)),
        "createdAt": eks.now(),
        "modifiedAt": eks.now(),
        "tags": request.get("tags", {}),
        **{m: request[m] for m in ("serviceAccountRoleArn", "configurationValues") if m in request},
    }
    cluster.add_ons[name] = about
    overwrites = request.get("resolveConflicts") == _OVERWRITE
    eks.timeline.after(
        eks.durations.add_on, lambda: _install(eks, cluster, about, add_on, overwrites=overwrites)
    )
    return {"addon": about}


def _install(eks: AmazonEks, cluster: Cluster, about: Spec, add_on: AddOn, *, overwrites: bool) -> None:
    if about["status"] != "CREATING":
        return
    fault = eks.faults.strike_add_on(about["addonName"])
    if fault is not None:
        _end(about, fault.status, fault.code, fault.message)
    elif about["addonName"] in cluster.self_managed and not overwrites:
        _end(
            about,
            "CREATE_FAILED",
            "ConfigurationConflict",
            "Conflicts found when trying to apply. Will not continue due to resolve conflicts mode. "
            f"Conflicts: {'DaemonSet' if add_on.on_each_node else 'Deployment'}.apps {add_on.workload} - "
            f'.spec.template.spec.containers[name="{add_on.workload}"].image',
        )
    elif missing := [group for group in add_on.needs_kinds if not workloads.serves(cluster.api, group)]:
        message = f'no matches for kind "Certificate" in version "{missing[0]}/v1"'
        _end(about, "CREATE_FAILED", "K8sResourceNotFound", message)
    elif wanting := workloads.lacking(cluster, add_on.needs_add_ons):
        message = f"{about['addonName']} needs add-ons that are not there: {', '.join(wanting)}"
        _end(about, "CREATE_FAILED", "K8sResourceNotFound", message)
    elif clashes := [group for group in add_on.clashes_with if workloads.serves(cluster.api, group)]:
        message = f"Conflicts found when trying to apply: kinds of {clashes[0]} are installed already"
        _end(about, "CREATE_FAILED", "ConfigurationConflict", message)
    else:
        workloads.install(cluster.api, add_on)
        _await_pods(eks, cluster, about, add_on, until=eks.timeline.elapsed() + eks.durations.replicas)


def _await_pods(eks: AmazonEks, cluster: Cluster, about: Spec, add_on: AddOn, *, until: float) -> None:
    """Wait for a node, then see whether what runs on it can work."""
    if cluster.add_ons.get(about["addonName"]) is not about or about["status"] == "DELETING":
        return
    nodes = workloads.ready_nodes(cluster.api, hyperpod_only=add_on.on_hyperpod, room=add_on.room)
    if not add_on.on_each_node and not nodes:
        if eks.timeline.elapsed() >= until:
            _end(
                about,
                "DEGRADED",
                "InsufficientNumberOfReplicas",
                "The add-on is unhealthy because it doesn't have the desired number of replicas.",
            )
        eks.timeline.after(_LOOK_SECONDS, lambda: _await_pods(eks, cluster, about, add_on, until=until))
        return
    reason = lacks(eks, cluster, about)
    if reason:
        _end(about, "DEGRADED", "AddonPermissionFailure", reason)
        return
    about.update(status=ACTIVE, health={"issues": []}, modifiedAt=eks.now())


def _end(about: Spec, status: str, code: str, message: str) -> None:
    about["status"] = status
    about["health"] = {"issues": [{"code": code, "message": message, "resourceIds": []}]}


def describe_addon(eks: AmazonEks, request: Spec) -> Spec:
    """DescribeAddon."""
    return {"addon": _add_on(eks, request)}


def list_addons(eks: AmazonEks, request: Spec) -> Spec:
    """ListAddons."""
    return page(sorted(eks.cluster(request["clusterName"]).add_ons), request, "addons")


def update_addon(eks: AmazonEks, request: Spec) -> Spec:
    """UpdateAddon."""
    cluster, about = _ready_cluster(eks, request), _add_on(eks, request)
    if about["status"] not in (ACTIVE, "DEGRADED", "UPDATE_FAILED"):
        raise InUseError(
            f"Addon {about['addonName']} cannot be updated as it is currently in {about['status']}"
        )
    if request.get("podIdentityAssociations") and not _known(about["addonName"]).takes_identity:
        raise InvalidParameterError(f"Addon {about['addonName']} does not support pod identity associations")
    update = {"id": eks.new_id(32), "status": "InProgress", "type": "AddonUpdate", "createdAt": eks.now()}
    cluster.updates[str(update["id"])] = update
    about["status"] = "UPDATING"

    def change() -> None:
        members = ("addonVersion", "configurationValues", "serviceAccountRoleArn")
        about.update({member: request[member] for member in members if member in request})
        update["status"] = "Successful"
        until = eks.timeline.elapsed() + eks.durations.replicas
        _await_pods(eks, cluster, about, _known(about["addonName"]), until=until)

    eks.timeline.after(eks.durations.add_on, change)
    return {"update": {**update, "params": [], "errors": []}}


def delete_addon(eks: AmazonEks, request: Spec) -> Spec:
    """DeleteAddon; with ``preserve`` what it put into Kubernetes stays."""
    cluster, about = eks.cluster(request["clusterName"]), _add_on(eks, request)
    about["status"] = "DELETING"

    def finish() -> None:
        if cluster.add_ons.get(about["addonName"]) is about:
            del cluster.add_ons[about["addonName"]]
            if str(request.get("preserve")).lower() != "true":
                workloads.remove(cluster.api, _known(about["addonName"]))
                cluster.self_managed.discard(about["addonName"])

    eks.timeline.after(eks.durations.add_on, finish)
    return {"addon": about}


def describe_addon_versions(_: AmazonEks, request: Spec) -> Spec:
    """DescribeAddonVersions: one version of each add-on, for every Kubernetes or the one asked about."""
    wanted, asked = request.get("addonName"), request.get("kubernetesVersion")
    versions = KUBERNETES_VERSIONS if asked is None else (asked,)
    found: list[dict[str, Any]] = [
        {
            "addonName": name,
            "addonVersions": [
                {
                    "addonVersion": add_on.version,
                    "compatibilities": [
                        {"clusterVersion": version, "defaultVersion": True} for version in versions
                    ],
                }
            ],
        }
        for name, add_on in ADD_ONS.items()
        if wanted in (None, name)
    ]
    return page(found, request, "addons")


def _known(name: str) -> AddOn:
    found = ADD_ONS.get(name)
    if found is None:
        raise InvalidParameterError(f"Addon {name} specified is not supported")
    return found


def _ready_cluster(eks: AmazonEks, request: Spec) -> Cluster:
    cluster = eks.cluster(request["clusterName"])
    if cluster.about["status"] not in (ACTIVE, "UPDATING"):
        raise InvalidParameterError(
            f"Cluster {cluster.name} is not in the required state: {cluster.about['status']}"
        )
    return cluster


def _add_on(eks: AmazonEks, request: Spec) -> Spec:
    found = eks.cluster(request["clusterName"]).add_ons.get(request["addonName"])
    if found is None:
        raise NotFoundError(f"No addon: {request['addonName']} found in cluster: {request['clusterName']}")
    return found
