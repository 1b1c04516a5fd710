"""Numbers, routes and places that an emulated account does not bring about."""

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.spec import (
    Cluster,
    ExistingFileSystem,
    ExistingNetwork,
    ExistingSubnet,
    HyperPodSpec,
    InstanceGroup,
    LustreFileSystem,
    Mount,
    NatGateways,
    Network,
    OpenZfsFileSystem,
)
from tests.preflight.fake import looked, missing, told

A, B = "subnet-a", "subnet-b"
NO_STACK = missing("ValidationError")


def group(name: str, count: int, instance_type: str = "ml.c5.xlarge", **members: Any) -> InstanceGroup:
    return InstanceGroup(
        instance_group_name=name, instance_type=instance_type, instance_count=count, **members
    )


def spec(
    *groups: InstanceGroup, subnets: tuple[str, ...] = (A,), vpc_id: str | None = "vpc-1"
) -> HyperPodSpec:
    existing = ExistingNetwork(
        vpc_id=vpc_id,
        subnets=tuple(ExistingSubnet(subnet_id=one) for one in subnets),
        security_group_ids=("sg-1",),
    )
    return HyperPodSpec(
        stack_name="s", network=Network(existing=existing), cluster=Cluster(instance_groups=groups)
    )


def subnet(subnet_id: str = A, *, free: int = 100, **members: Any) -> dict[str, Any]:
    return {
        "SubnetId": subnet_id,
        "VpcId": "vpc-1",
        "AvailabilityZoneId": "usw2-az4",
        "AvailableIpAddressCount": free,
        "CidrBlock": "10.0.0.0/24",
        **members,
    }


def own_cluster(name: str = "gpu", count: int = 2, instance_type: str = "ml.p5.48xlarge") -> dict[str, Any]:
    """Answers of an account whose one cluster is the stack's."""
    nodes = {"InstanceGroupName": name, "InstanceType": instance_type, "CurrentCount": count}
    return {
        "list_clusters": [{"ClusterName": "ml"}],
        "describe_cluster": {"ClusterName": "ml", "ClusterArn": "arn:c", "InstanceGroups": [nodes]},
        "list_stack_resources": [
            {"ResourceType": "Custom::HyperPodCluster", "PhysicalResourceId": "ml"},
        ],
    }


# -- addresses -----------------------------------------------------------------------------------------

P5 = group("gpu", 3, "ml.p5.48xlarge")


@pytest.mark.parametrize(
    ("free", "faults", "doubts"), [(95, 1, 0), (96, 0, 1), (127, 0, 1), (128, 0, 0)], ids=str
)
def test_addresses_at_their_bounds(free: int, faults: int, doubts: int) -> None:
    answers = {"describe_subnets": [subnet(free=free)], "list_stack_resources": NO_STACK}
    assert len(told("free-addresses", spec(P5), **answers)) == faults
    assert len(told("spare-addresses", spec(P5), **answers)) == doubts


def test_nodes_that_are_there_have_their_addresses() -> None:
    answers = {"describe_subnets": [subnet(free=32)], **own_cluster()}
    assert told("free-addresses", spec(P5), **answers) == []
    (message,) = told("free-addresses", spec(replace(P5, instance_count=4)), **answers)
    assert "takes 64 more addresses, and the largest of its subnets has 32 free" in message


def test_a_group_lies_in_one_subnet_and_several_groups_share_all() -> None:
    two = [subnet(A, free=50), subnet(B, free=50)]
    both = (A, B)
    answers = {"describe_subnets": two, "list_stack_resources": NO_STACK}
    assert len(told("free-addresses", spec(P5, subnets=both), **answers)) == 1
    ones = [replace(P5, instance_group_name=name, instance_count=1) for name in "abc"]
    assert told("free-addresses", spec(*ones, subnets=both), **answers) == []
    four = [replace(P5, instance_group_name=name, instance_count=1) for name in "abcd"]
    (message,) = told("free-addresses", spec(*four, subnets=both), **answers)
    assert "take 128 more addresses, and subnet-a, subnet-b have 100 free" in message


def test_file_systems_take_addresses_until_they_are_there() -> None:
    storage: dict[str, Any] = {"a": LustreFileSystem(), "b": OpenZfsFileSystem()}
    with_storage = replace(spec(P5), storage=storage)
    answers = {"describe_subnets": [subnet(free=98)]}
    there = [{"ResourceType": "AWS::FSx::FileSystem", "PhysicalResourceId": one} for one in ("fs-1", "fs-2")]
    (message,) = told("free-addresses", with_storage, **answers, list_stack_resources=NO_STACK)
    assert "take 101 more addresses" in message
    assert told("free-addresses", with_storage, **answers, list_stack_resources=there) == []


# -- quotas --------------------------------------------------------------------------------------------


def quota(value: float) -> Any:
    def answer(call: Call) -> Any:
        names = {
            "L-F678F1CE": "VPCs per Region",
            "L-A4707A72": "Internet gateways per Region",
            "L-0263D0A3": "EC2-VPC Elastic IPs",
            "L-DF5E4CA3": "Network interfaces per Region",
        }
        return {"Quota": {"QuotaName": names[call.arguments["QuotaCode"]], "Value": value}}

    return answer


def new(zones: int = 1, nat: NatGateways = NatGateways.ONE, *groups: InstanceGroup) -> HyperPodSpec:
    ids = tuple(f"usw2-az{number + 1}" for number in range(zones))
    network = Network(availability_zone_ids=ids, nat_gateways=nat)
    return HyperPodSpec(stack_name="s", network=network, cluster=Cluster(instance_groups=groups))


def resources(kind: str, count: int) -> list[dict[str, str]]:
    return [{"ResourceType": kind, "PhysicalResourceId": str(number)} for number in range(count)]


VPCS = ("quota-vpcs", "describe_vpcs", "AWS::EC2::VPC")
GATEWAYS = ("quota-internet-gateways", "describe_internet_gateways", "AWS::EC2::InternetGateway")
ADDRESSES = ("quota-elastic-ips", "describe_addresses", "AWS::EC2::EIP")


@pytest.mark.parametrize(
    ("what", "of", "made", "most"),
    [
        (VPCS, new(), 0, 4),
        (VPCS, new(), 1, 9),  # the stack has its VPC: no further one is made
        (GATEWAYS, new(), 0, 4),
        (GATEWAYS, new(), 1, 9),
        (ADDRESSES, new(3, NatGateways.PER_ZONE), 0, 2),
        (ADDRESSES, new(3, NatGateways.PER_ZONE), 2, 4),
        (ADDRESSES, new(3), 0, 4),
    ],
)
def test_quotas_of_five_at_their_bounds(
    what: tuple[str, str, str], of: HyperPodSpec, made: int, most: int
) -> None:
    name, operation, kind = what
    for used in range(10):
        answers = {operation: [{}] * used, "list_stack_resources": resources(kind, made)}
        assert bool(told(name, of, **answers, get_service_quota=quota(5))) is (used > most), used


def test_network_interfaces_of_own_nodes_count_once() -> None:
    answers = {"get_service_quota": quota(100), "describe_network_interfaces": [{}] * 64, **own_cluster()}
    assert told("quota-network-interfaces", spec(P5), **answers) == []
    (message,) = told("quota-network-interfaces", spec(replace(P5, instance_count=4)), **answers)
    assert "takes 64, and 64 are there already" in message


# -- routes --------------------------------------------------------------------------------------------


def table(table_id: str = "rtb-1", *, main: bool = True, **route: Any) -> dict[str, Any]:
    association = {"Main": True} if main else {"SubnetId": A}
    routes = [{"DestinationCidrBlock": "0.0.0.0/0", **route}] if route else []
    return {"RouteTableId": table_id, "VpcId": "vpc-1", "Associations": [association], "Routes": routes}


NAT: dict[str, Any] = {"NatGatewayId": "nat-1"}
GATEWAY: dict[str, Any] = {"GatewayId": "igw-1"}
CPU = spec(group("cpu", 1))


def test_a_subnets_own_table_comes_before_the_main_one() -> None:
    tables = [table(**GATEWAY), table("rtb-2", main=False, **NAT)]
    assert told("private-subnets", CPU, describe_subnets=[subnet()], describe_route_tables=tables) == []
    (message,) = told("private-subnets", CPU, describe_subnets=[subnet()], describe_route_tables=tables[:1])
    assert "rtb-1 leads to igw-1" in message


def test_a_route_into_nothing_is_none() -> None:
    gone = [table(State="blackhole", **NAT)]
    answers = {"describe_subnets": [subnet()], "describe_route_tables": gone}
    assert len(told("s3-endpoint", CPU, **answers)) == 1
    assert len(told("service-endpoints", CPU, **answers)) == 1
    assert told("s3-by-internet", CPU, **answers) == []


def endpoint(service: str, **members: Any) -> dict[str, Any]:
    return {
        "VpcId": "vpc-1",
        "ServiceName": f"com.amazonaws.us-west-2.{service}",
        "VpcEndpointType": "Interface",
        "PrivateDnsEnabled": True,
        "State": "available",
        **members,
    }


SERVICES = ("ssm", "ssmmessages", "ec2messages", "logs", "monitoring")


@pytest.mark.parametrize(
    ("change", "lacks"),
    [
        ({}, 0),
        ({"PrivateDnsEnabled": False}, 1),
        ({"VpcId": "vpc-2"}, 1),
        ({"State": "deleting"}, 1),
        ({"State": "Available"}, 0),
        ({"ServiceName": "cn.com.amazonaws.cn-north-1.ssm"}, 0),
        ({"ServiceName": "com.amazonaws.us-west-2.ssm-contacts"}, 1),
    ],
)
def test_endpoints_that_serve(change: dict[str, Any], lacks: int) -> None:
    endpoints = [{**endpoint("ssm"), **change}, *map(endpoint, SERVICES[1:])]
    answers = {"describe_subnets": [subnet()], "describe_route_tables": [table()]}
    found = told("service-endpoints", CPU, **answers, describe_vpc_endpoints=endpoints)
    assert len(found) == lacks


@pytest.mark.parametrize(
    ("members", "reached"),
    [
        ({"VpcEndpointType": "Gateway", "RouteTableIds": ["rtb-1"]}, True),
        ({"VpcEndpointType": "Gateway", "RouteTableIds": ["rtb-9"]}, False),
        ({}, True),
    ],
)
def test_ways_to_s3(members: dict[str, Any], reached: bool) -> None:
    answers = {"describe_subnets": [subnet()], "describe_route_tables": [table()]}
    found = told("s3-endpoint", CPU, **answers, describe_vpc_endpoints=[endpoint("s3", **members)])
    assert bool(found) is not reached


def test_the_vpc_of_unnamed_networks_is_that_of_their_subnets() -> None:
    def attribute(call: Call) -> Any:
        assert call.arguments["VpcId"] == "vpc-1"
        name = call.arguments["Attribute"]
        return {name[0].upper() + name[1:]: {"Value": name != "enableDnsHostnames"}}

    unnamed = spec(group("cpu", 1), vpc_id=None)
    found = told("dns-attributes", unnamed, describe_subnets=[subnet()], describe_vpc_attribute=attribute)
    assert found == ["network.existing vpc-1 has enableDnsHostnames off"]


# -- zones ---------------------------------------------------------------------------------------------


def test_the_zone_of_a_file_system_is_its_interfaces() -> None:
    lustre = LustreFileSystem(existing=ExistingFileSystem(dns_name="fs-1.fsx.us-west-2.amazonaws.com"))
    mounting = replace(spec(group("cpu", 1, mounts=(Mount(storage="a"),))), storage={"a": lustre})
    there = {"FileSystemId": "fs-1", "FileSystemType": "LUSTRE", "NetworkInterfaceIds": ["eni-1"]}
    interfaces = [
        {"NetworkInterfaceId": "eni-1", "AvailabilityZoneId": "usw2-az1"},
        {"NetworkInterfaceId": "eni-2", "AvailabilityZoneId": "usw2-az4"},
    ]
    answers = {"describe_subnets": [subnet()], "describe_file_systems": [there]}
    (message,) = told("file-system-zone", mounting, **answers, describe_network_interfaces=interfaces)
    assert "is in usw2-az4, its file system in usw2-az1" in message
    interfaces[0]["AvailabilityZoneId"] = "usw2-az4"
    assert told("file-system-zone", mounting, **answers, describe_network_interfaces=interfaces) == []


def test_a_file_system_without_interfaces_is_not_judged() -> None:
    lustre = LustreFileSystem(existing=ExistingFileSystem(dns_name="fs-1.fsx.us-west-2.amazonaws.com"))
    mounting = replace(spec(group("cpu", 1, mounts=(Mount(storage="a"),))), storage={"a": lustre})
    there = {"FileSystemId": "fs-1", "FileSystemType": "LUSTRE", "VpcId": "vpc-1"}
    result = looked("file-system-ports", mounting, describe_file_systems=[there])
    assert result.findings == ()
    assert [one.reason for one in result.unchecked] == [
        "AWS shows none of the file system's network interfaces"
    ]


def test_a_new_network_and_an_existing_file_system_never_meet() -> None:
    lustre = LustreFileSystem(existing=ExistingFileSystem(dns_name="fs-1.fsx.us-west-2.amazonaws.com"))
    apart = replace(new(1, NatGateways.ONE, group("cpu", 1)), storage={"a": lustre})
    (message,) = told("file-system-vpc", apart, describe_file_systems=[{"VpcId": "vpc-1"}])
    assert "is in vpc-1, and the nodes in a new VPC" in message
