"""Control planes.

The words of refusals: docs.aws.amazon.com/eks/latest/userguide/troubleshooting.html, and moto, which took
them from the service.
"""

from __future__ import annotations

import base64
from typing import Any

from hyperpod_cdk.rehearsal.eks import workloads
from hyperpod_cdk.rehearsal.eks.catalogue import ADD_ONS, BORN_WITH
from hyperpod_cdk.rehearsal.eks.errors import InUseError, InvalidParameterError, InvalidRequestError
from hyperpod_cdk.rehearsal.eks.service import AmazonEks, page
from hyperpod_cdk.rehearsal.eks.state import ACTIVE, Cluster, Spec
from hyperpod_cdk.rehearsal.kubernetes import KubernetesApi, Target, User
from hyperpod_cdk.service.eks import KUBERNETES_VERSIONS

SERVICE_PRINCIPAL = "eks.amazonaws.com"
VERSIONS = KUBERNETES_VERSIONS
"""Those in support in October 2026: docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html."""
_IN_STANDARD_SUPPORT = 3
_CLUSTER_ADMIN = "AmazonEKSClusterAdminPolicy"
_MODES = ("CONFIG_MAP", "API_AND_CONFIG_MAP", "API")


def create_cluster(eks: AmazonEks, request: Spec) -> Spec:
    """CreateCluster."""
    name = request["name"]
    if name in eks.clusters:
        raise InUseError(f"Cluster already exists with name: {name}")
    access = {"bootstrapClusterCreatorAdminPermissions": True, **request.get("accessConfig", {})}
    access.setdefault("authenticationMode", "CONFIG_MAP")
    for refusal in _refusals(eks, request, access):
        raise InvalidParameterError(refusal)
    cluster = _new_cluster(eks, request, access)
    eks.clusters[name] = cluster

    def finish() -> None:
        cluster.about["status"] = ACTIVE

    eks.timeline.after(eks.durations.create_cluster, finish)
    return {"cluster": cluster.about}


def _refusals(eks: AmazonEks, request: Spec, access: Spec) -> list[str]:
    vpc, found = request["resourcesVpcConfig"], []
    subnets = [eks.account.ec2.get_subnet(subnet_id) for subnet_id in vpc.get("subnetIds", [])]
    if len({subnet.availability_zone for subnet in subnets}) < 2:
        found.append("Subnets specified must be in at least two different AZs")
    if not vpc.get("endpointPublicAccess", True) and not vpc.get("endpointPrivateAccess", False):
        found.append("Private and public endpoint access cannot be false")
    if not eks.trusts(request["roleArn"], SERVICE_PRINCIPAL):
        found.append(
            f"Role with arn: {request['roleArn']}, could not be assumed because it does not exist or the "
            "trusted entity is not correct"
        )
    if request.get("version", VERSIONS[-1]) not in VERSIONS:
        found.append("unsupported Kubernetes version")
    if access["authenticationMode"] == "CONFIG_MAP" and not access["bootstrapClusterCreatorAdminPermissions"]:
        found.append(
            "bootstrapClusterCreatorAdminPermissions must be true if cluster authentication mode is set to "
            "CONFIG_MAP"
        )
    return found


def _new_cluster(eks: AmazonEks, request: Spec, access: Spec) -> Cluster:
    name, version = request["name"], request.get("version", VERSIONS[-1])

    def authorize(user: User, target: Target) -> bool:
        return eks.authorize(cluster, user, target)

    cluster = Cluster(about={}, api=KubernetesApi(version, authorize=authorize))
    key = eks.new_id(32).upper()
    endpoint, authority = eks.serve(key)
    vpc, cluster.interface_ids = _network(eks, name, request["resourcesVpcConfig"])
    kept = ("logging", "encryptionConfig", "upgradePolicy", "computeConfig", "storageConfig", "tags")
    cluster.about = {
        "name": name,
        "arn": eks.arn("cluster", name),
        "createdAt": eks.now(),
        "version": version,
        "endpoint": endpoint,
        "roleArn": request["roleArn"],
        "resourcesVpcConfig": vpc,
        "kubernetesNetworkConfig": {
            "serviceIpv4Cidr": "172.20.0.0/16",
            "ipFamily": "ipv4",
            **request.get("kubernetesNetworkConfig", {}),
        },
        "identity": {"oidc": {"issuer": f"https://oidc.eks.{eks.account.region}.amazonaws.com/id/{key}"}},
        "status": "CREATING",
        "certificateAuthority": {"data": base64.b64encode(authority).decode()},
        "platformVersion": "eks.1",
        "accessConfig": access,
        "deletionProtection": request.get("deletionProtection", False),
        "health": {"issues": []},
        "tags": {},
        **{member: request[member] for member in kept if member in request},
    }
    if request.get("bootstrapSelfManagedAddons", True):
        cluster.self_managed = set(BORN_WITH)
        for add_on in BORN_WITH:
            workloads.install(cluster.api, ADD_ONS[add_on])
    if access["bootstrapClusterCreatorAdminPermissions"] and access["authenticationMode"] != "CONFIG_MAP":
        eks.admit(cluster, eks.caller, policy=_CLUSTER_ADMIN)
    return cluster


def _network(eks: AmazonEks, name: str, vpc: Spec) -> tuple[Spec, tuple[str, ...]]:
    ec2, subnet_ids = eks.account.ec2, vpc["subnetIds"]
    vpc_id = ec2.get_subnet(subnet_ids[0]).vpc_id
    group = ec2.create_security_group(
        f"eks-cluster-sg-{name}-{eks.new_id(9)}", "EKS created security group", vpc_id
    )
    itself: dict[str, Any] = {"GroupId": group.id}
    ec2.authorize_security_group_ingress(group.id, "-1", "-1", "-1", [], source_groups=[itself])
    groups = [group.id, *vpc.get("securityGroupIds", [])]
    interfaces = [
        ec2.create_network_interface(
            ec2.get_subnet(subnet_id), [], group_ids=groups, description=f"Amazon EKS {name}"
        )
        for subnet_id in subnet_ids[:2]
    ]
    for interface in interfaces:
        interface.requester_managed = True
        interface.status = "in-use"
    public = vpc.get("endpointPublicAccess", True)
    about = {
        "subnetIds": subnet_ids,
        "securityGroupIds": vpc.get("securityGroupIds", []),
        "clusterSecurityGroupId": group.id,
        "vpcId": vpc_id,
        "endpointPublicAccess": public,
        "endpointPrivateAccess": vpc.get("endpointPrivateAccess", False),
        "publicAccessCidrs": vpc.get("publicAccessCidrs") or (["0.0.0.0/0"] if public else []),
    }
    return about, tuple(interface.id for interface in interfaces)


def describe_cluster(eks: AmazonEks, request: Spec) -> Spec:
    """DescribeCluster."""
    return {"cluster": eks.cluster(request["name"]).about}


def list_clusters(eks: AmazonEks, request: Spec) -> Spec:
    """ListClusters."""
    return page(sorted(eks.clusters), request, "clusters")


def describe_cluster_versions(_: AmazonEks, request: Spec) -> Spec:
    """DescribeClusterVersions: the newest three in standard support, an example of what Regions have."""
    standard = VERSIONS[-_IN_STANDARD_SUPPORT:]
    found: list[Any] = [
        {
            "clusterVersion": version,
            "clusterType": "eks",
            "defaultVersion": version == VERSIONS[-1],
            "versionStatus": "STANDARD_SUPPORT" if version in standard else "EXTENDED_SUPPORT",
        }
        for version in reversed(VERSIONS)
    ]
    return page(found, request, "clusterVersions")


def delete_cluster(eks: AmazonEks, request: Spec) -> Spec:
    """DeleteCluster: add-ons, access entries and identities go with it, node groups must have gone."""
    cluster = eks.cluster(request["name"])
    if cluster.node_groups:
        raise InUseError("Cluster has nodegroups attached")
    if cluster.about["deletionProtection"]:
        raise InvalidRequestError(f"Cluster {cluster.name} has deletion protection enabled")
    _require_active(cluster)
    cluster.about["status"] = "DELETING"

    def finish() -> None:
        ec2 = eks.account.ec2
        for interface_id in cluster.interface_ids:
            ec2.enis.pop(interface_id, None)
        ec2.delete_security_group(group_id=cluster.vpc["clusterSecurityGroupId"])
        del eks.clusters[cluster.name]

    eks.timeline.after(eks.durations.delete_cluster, finish)
    return {"cluster": cluster.about}


def update_cluster_config(eks: AmazonEks, request: Spec) -> Spec:
    """UpdateClusterConfig."""
    cluster = eks.cluster(request["name"])
    _require_active(cluster)
    mode = request.get("accessConfig", {}).get("authenticationMode", cluster.authentication_mode)
    if _MODES.index(mode) < _MODES.index(cluster.authentication_mode):
        raise InvalidParameterError(
            f"Unsupported authentication mode update from {cluster.authentication_mode} to {mode}"
        )
    members = ("resourcesVpcConfig", "logging", "accessConfig", "upgradePolicy", "deletionProtection")

    def change() -> None:
        for member in members:
            if isinstance(request.get(member), dict):
                cluster.about[member] = {**cluster.about.get(member, {}), **request[member]}
            elif member in request:
                cluster.about[member] = request[member]

    return _update(eks, cluster, "ConfigUpdate", eks.durations.update_cluster, change)


def update_cluster_version(eks: AmazonEks, request: Spec) -> Spec:
    """UpdateClusterVersion: one minor version at a time."""
    cluster = eks.cluster(request["name"])
    _require_active(cluster)
    old, new = (int(version.split(".")[1]) for version in (cluster.about["version"], request["version"]))
    if request["version"] not in VERSIONS or new != old + 1:
        raise InvalidParameterError(
            f"Unsupported Kubernetes minor version update from 1.{old} to {request['version']}"
        )

    def change() -> None:
        cluster.about["version"] = cluster.api.version = request["version"]

    return _update(eks, cluster, "VersionUpdate", eks.durations.upgrade_cluster, change)


def describe_update(eks: AmazonEks, request: Spec) -> Spec:
    """DescribeUpdate."""
    cluster = eks.cluster(request["name"])
    found = cluster.updates.get(request["updateId"])
    if found is None:
        raise InvalidParameterError(f"No update found for ID: {request['updateId']}")
    return {"update": found}


def _update(eks: AmazonEks, cluster: Cluster, type_: str, seconds: float, change: Any) -> Spec:
    update: Spec = {
        "id": eks.new_id(32),
        "status": "InProgress",
        "type": type_,
        "createdAt": eks.now(),
        "errors": [],
    }
    cluster.updates[update["id"]] = update
    cluster.about["status"] = "UPDATING"

    def finish() -> None:
        change()
        update["status"] = "Successful"
        cluster.about["status"] = ACTIVE

    eks.timeline.after(seconds, finish)
    return {"update": update}


def _require_active(cluster: Cluster) -> None:
    if cluster.about["status"] != ACTIVE:
        raise InUseError(
            f"Cluster '{cluster.name}' is not in ACTIVE status, but in {cluster.about['status']}"
        )
