"""Managed node groups."""

from __future__ import annotations

from collections.abc import Callable

from hyperpod_cdk.rehearsal.eks import workloads
from hyperpod_cdk.rehearsal.eks.errors import (
    InUseError,
    InvalidParameterError,
    InvalidRequestError,
    NotFoundError,
)
from hyperpod_cdk.rehearsal.eks.service import AmazonEks, page
from hyperpod_cdk.rehearsal.eks.state import ACTIVE, Cluster, NodeGroup, Spec

_NODE_TYPE = "EC2_LINUX"


def create_nodegroup(eks: AmazonEks, request: Spec) -> Spec:
    """CreateNodegroup."""
    cluster, name = eks.cluster(request["clusterName"]), request["nodegroupName"]
    if name in cluster.node_groups:
        raise InUseError(f"NodeGroup already exists with name {name} and cluster name {cluster.name}")
    if cluster.about["status"] != ACTIVE:
        raise InvalidRequestError(f"Cluster '{cluster.name}' is not in ACTIVE status")
    if "launchTemplate" in request and "diskSize" in request:
        raise InvalidParameterError("Disk size must be specified within the launch template.")
    if not eks.trusts(request["nodeRole"], "ec2.amazonaws.com"):
        raise InvalidParameterError(f"The role {request['nodeRole']} can not be assumed by ec2.amazonaws.com")
    scaling = {"minSize": 1, "maxSize": 2, "desiredSize": 2, **request.get("scalingConfig", {})}
    about: Spec = {
        "nodegroupName": name,
        "nodegroupArn": eks.arn("nodegroup", cluster.name, name, eks.new_id(36)),
        "clusterName": cluster.name,
        "version": request.get("version", cluster.about["version"]),
        "createdAt": eks.now(),
        "modifiedAt": eks.now(),
        "status": "CREATING",
        "capacityType": request.get("capacityType", "ON_DEMAND"),
        "scalingConfig": scaling,
        "instanceTypes": request.get("instanceTypes", ["t3.medium"]),
        "subnets": request["subnets"],
        "amiType": request.get("amiType", "AL2023_x86_64_STANDARD"),
        "nodeRole": request["nodeRole"],
        "labels": request.get("labels", {}),
        "taints": request.get("taints", []),
        "health": {"issues": []},
        "tags": request.get("tags", {}),
        **{member: request[member] for member in ("launchTemplate", "updateConfig") if member in request},
    }
    group = NodeGroup(about=about)
    cluster.node_groups[name] = group
    if cluster.authentication_mode != "CONFIG_MAP":
        eks.admit(cluster, request["nodeRole"], type_=_NODE_TYPE)
    eks.timeline.after(eks.durations.create_nodes, lambda: _come_up(eks, cluster, group))
    return {"nodegroup": about}


def _come_up(eks: AmazonEks, cluster: Cluster, group: NodeGroup) -> None:
    _scale(eks, cluster, group)
    if workloads.has_network(cluster):
        group.about["status"] = ACTIVE
        return

    def give_up() -> None:
        issue = {"code": "NodeCreationFailure", "message": "Unhealthy nodes in the kubernetes cluster"}
        group.about.update(status="CREATE_FAILED", health={"issues": [{**issue, "resourceIds": []}]})

    eks.timeline.after(eks.durations.unhealthy_nodes, give_up)


def _scale(eks: AmazonEks, cluster: Cluster, group: NodeGroup) -> None:
    """Let nodes come or go until there are as many as desired."""
    ec2, wanted = eks.account.ec2, group.about["scalingConfig"]["desiredSize"]
    subnets = group.about["subnets"]
    while len(group.nodes) < wanted:
        subnet = ec2.get_subnet(subnets[len(group.nodes) % len(subnets)])
        interface = ec2.create_network_interface(
            subnet,
            [],
            group_ids=[cluster.vpc["clusterSecurityGroupId"]],
            description=f"aws-K8S-{eks.new_id(17)}",
        )
        interface.status = "in-use"
        address = str(interface.private_ip_address).replace(".", "-")
        name = f"ip-{address}.{eks.account.region}.compute.internal"
        labels = {
            "eks.amazonaws.com/nodegroup": group.about["nodegroupName"],
            "node.kubernetes.io/instance-type": group.about["instanceTypes"][0],
            "topology.kubernetes.io/zone": str(subnet.availability_zone),
            **group.about["labels"],
        }
        eks.join(cluster, name, labels=labels)
        group.nodes[name] = interface.id
    while len(group.nodes) > wanted:
        name, interface_id = group.nodes.popitem()
        eks.leave(cluster, name)
        ec2.enis.pop(interface_id, None)


def describe_nodegroup(eks: AmazonEks, request: Spec) -> Spec:
    """DescribeNodegroup."""
    return {"nodegroup": _group(eks, request).about}


def list_nodegroups(eks: AmazonEks, request: Spec) -> Spec:
    """ListNodegroups."""
    return page(sorted(eks.cluster(request["clusterName"]).node_groups), request, "nodegroups")


def update_nodegroup_config(eks: AmazonEks, request: Spec) -> Spec:
    """UpdateNodegroupConfig: how many nodes, and their labels."""
    cluster, group = eks.cluster(request["clusterName"]), _group(eks, request)

    def change() -> None:
        group.about["scalingConfig"] = {**group.about["scalingConfig"], **request.get("scalingConfig", {})}
        labels = request.get("labels", {})
        kept = {k: v for k, v in group.about["labels"].items() if k not in labels.get("removeLabels", [])}
        group.about["labels"] = {**kept, **labels.get("addOrUpdateLabels", {})}
        _scale(eks, cluster, group)

    return _update(eks, cluster, group, "ConfigUpdate", change)


def update_nodegroup_version(eks: AmazonEks, request: Spec) -> Spec:
    """UpdateNodegroupVersion: another version of Kubernetes or of the launch template."""
    cluster, group = eks.cluster(request["clusterName"]), _group(eks, request)

    def change() -> None:
        members = ("version", "releaseVersion", "launchTemplate")
        group.about.update({member: request[member] for member in members if member in request})

    return _update(eks, cluster, group, "VersionUpdate", change)


def _update(
    eks: AmazonEks, cluster: Cluster, group: NodeGroup, type_: str, change: Callable[[], None]
) -> Spec:
    if group.about["status"] != ACTIVE:
        raise InUseError(f"Nodegroup {group.about['nodegroupName']} is {group.about['status']}")
    update = {"id": eks.new_id(32), "status": "InProgress", "type": type_, "createdAt": eks.now()}
    cluster.updates[str(update["id"])] = update
    group.about["status"] = "UPDATING"

    def finish() -> None:
        change()
        group.about["status"] = ACTIVE
        update["status"] = "Successful"

    eks.timeline.after(eks.durations.create_nodes, finish)
    return {"update": {**update, "params": [], "errors": []}}


def delete_nodegroup(eks: AmazonEks, request: Spec) -> Spec:
    """DeleteNodegroup."""
    cluster, group = eks.cluster(request["clusterName"]), _group(eks, request)
    group.about["status"] = "DELETING"

    def finish() -> None:
        group.about["scalingConfig"] = {**group.about["scalingConfig"], "desiredSize": 0}
        _scale(eks, cluster, group)
        del cluster.node_groups[group.about["nodegroupName"]]
        role = group.about["nodeRole"]
        if all(other.about["nodeRole"] != role for other in cluster.node_groups.values()):
            cluster.entries.pop(role, None)

    eks.timeline.after(eks.durations.delete_nodes, finish)
    return {"nodegroup": group.about}


def _group(eks: AmazonEks, request: Spec) -> NodeGroup:
    found = eks.cluster(request["clusterName"]).node_groups.get(request["nodegroupName"])
    if found is None:
        raise NotFoundError(f"No node group found for name: {request['nodegroupName']}.")
    return found
