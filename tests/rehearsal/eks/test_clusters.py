"""Control planes and node groups: how they come, change and go."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.eks import AmazonEks, Cluster, OperationFails
from hyperpod_cdk.rehearsal.eks.errors import DeniedError
from tests.rehearsal.eks.samples import Call, Network, Refused, role


def status(call: Call) -> str:
    return str(call("DescribeCluster", name="plane")["cluster"]["status"])


def test_it_takes_nine_minutes(service: AmazonEks, network: Network, call: Call) -> None:
    call("CreateCluster", **network.cluster())
    service.clock.advance(539)
    assert status(call) == "CREATING"
    service.clock.advance(1)
    assert status(call) == "ACTIVE"
    found = service.cluster("plane")
    group = service.account.ec2.get_security_group_from_id(found.vpc["clusterSecurityGroupId"])
    assert group is not None and group.vpc_id == network.vpc_id
    assert found.self_managed == {"vpc-cni", "kube-proxy", "coredns"}
    assert [one["metadata"]["name"] for one in found.api.objects("daemonsets", group="apps")] == [
        "aws-node",
        "kube-proxy",
    ]


REFUSED: dict[str, tuple[Callable[[Network], dict[str, Any]], str]] = {
    "one zone": (
        lambda n: n.cluster(resourcesVpcConfig={"subnetIds": list(n.subnet_ids[:1])}),
        "at least two different AZs",
    ),
    "no endpoint": (
        lambda n: n.cluster(
            resourcesVpcConfig={"subnetIds": list(n.subnet_ids), "endpointPublicAccess": False}
        ),
        "Private and public endpoint access cannot be false",
    ),
    "a role that EKS can not take": (lambda n: n.cluster(roleArn=role("nodes")), "could not be assumed"),
    "an old version": (lambda n: n.cluster(version="1.21"), "unsupported Kubernetes version"),
    "a ConfigMap without its creator": (
        lambda n: n.cluster(
            accessConfig={
                "authenticationMode": "CONFIG_MAP",
                "bootstrapClusterCreatorAdminPermissions": False,
            }
        ),
        "must be true",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(network: Network, refused: Refused, service: AmazonEks, name: str) -> None:
    request, message = REFUSED[name]
    code, told = refused("CreateCluster", **request(network))
    assert (code, message in told, service.clusters) == ("InvalidParameterException", True, {})


def test_a_name_is_taken_once(plane: Cluster, network: Network, refused: Refused) -> None:
    assert refused("CreateCluster", **network.cluster())[0] == "ResourceInUseException"


def test_whoever_makes_it_may_use_it_unless_said_otherwise(
    service: AmazonEks, network: Network, call: Call
) -> None:
    service.caller = role("scientist")
    call("CreateCluster", **network.cluster(accessConfig={"authenticationMode": "API"}))
    assert list(service.cluster("plane").entries) == [role("scientist")]


def test_node_groups_go_first(
    with_nodes: Cluster, service: AmazonEks, network: Network, call: Call, refused: Refused
) -> None:
    code, message = refused("DeleteCluster", name="plane")
    assert (code, message) == ("ResourceInUseException", "Cluster has nodegroups attached")
    call("DeleteNodegroup", clusterName="plane", nodegroupName="system")
    service.clock.advance(180)
    service.catch_up()
    assert (with_nodes.api.objects("nodes"), role("nodes") in with_nodes.entries) == ([], False)
    call("DeleteCluster", name="plane")
    assert status(call) == "DELETING"
    service.clock.advance(120)
    assert refused("DescribeCluster", name="plane")[0] == "ResourceNotFoundException"
    # nothing of it holds the network
    for subnet_id in network.subnet_ids:
        service.account.ec2.delete_subnet(subnet_id)
    service.account.ec2.delete_vpc(network.vpc_id)


def test_deletion_protection(plane: Cluster, call: Call, service: AmazonEks, refused: Refused) -> None:
    call("UpdateClusterConfig", name="plane", deletionProtection=True)
    service.clock.advance(60)
    assert refused("DeleteCluster", name="plane")[0] == "InvalidRequestException"


def test_one_change_at_a_time(plane: Cluster, call: Call, service: AmazonEks, refused: Refused) -> None:
    update = call("UpdateClusterConfig", name="plane", resourcesVpcConfig={"endpointPrivateAccess": True})[
        "update"
    ]
    assert refused("UpdateClusterVersion", name="plane", version="1.34")[0] == "ResourceInUseException"
    service.clock.advance(60)
    assert call("DescribeUpdate", name="plane", updateId=update["id"])["update"]["status"] == "Successful"
    assert plane.vpc["endpointPrivateAccess"] is True


def test_a_version_a_step(plane: Cluster, call: Call, service: AmazonEks, refused: Refused) -> None:
    assert "minor version update" in refused("UpdateClusterVersion", name="plane", version="1.35")[1]
    call("UpdateClusterVersion", name="plane", version="1.34")
    service.clock.advance(600)
    assert call("DescribeCluster", name="plane")["cluster"]["version"] == plane.api.version == "1.34"


def test_access_by_entries_is_not_given_up_again(plane: Cluster, refused: Refused) -> None:
    config = {"authenticationMode": "API_AND_CONFIG_MAP"}
    assert "from API to" in refused("UpdateClusterConfig", name="plane", accessConfig=config)[1]


def test_nodes_join(with_nodes: Cluster, service: AmazonEks, call: Call) -> None:
    names = [node["metadata"]["name"] for node in with_nodes.api.objects("nodes")]
    assert len(names) == 2 and all(name.startswith("ip-10-0-") for name in names)
    assert with_nodes.entries[role("nodes")].about["type"] == "EC2_LINUX"
    place = {"clusterName": "plane", "nodegroupName": "system"}
    call("UpdateNodegroupConfig", **place, scalingConfig={"desiredSize": 3})
    service.clock.advance(120)
    service.catch_up()
    assert len(with_nodes.api.objects("nodes")) == 3


def test_nodes_without_a_network_plugin_are_given_up(
    plane: Cluster, service: AmazonEks, network: Network, call: Call
) -> None:
    call("CreateNodegroup", **network.node_group())
    service.clock.advance(120 + 1500)
    found = call("DescribeNodegroup", clusterName="plane", nodegroupName="system")["nodegroup"]
    assert (found["status"], found["health"]["issues"][0]["code"]) == ("CREATE_FAILED", "NodeCreationFailure")


def test_a_fault_strikes_as_often_as_it_says(service: AmazonEks, call: Call, refused: Refused) -> None:
    service.faults.add(OperationFails(operation="ListClusters", error=DeniedError("no"), times=2))
    assert [refused("ListClusters")[0] for _ in range(2)] == ["AccessDeniedException"] * 2
    assert call("ListClusters") == {"clusters": []}


def test_lists_come_in_pages(plane: Cluster, call: Call) -> None:
    first = call("ListAccessPolicies", maxResults=10)
    rest = call("ListAccessPolicies", maxResults=10, nextToken=first["nextToken"])
    assert (len(first["accessPolicies"]), "nextToken" in rest, len(rest["accessPolicies"]) > 0) == (
        10,
        False,
        True,
    )
