"""OpenZfsStorage in somebody else's stack."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Template

from hyperpod_cdk.checking import SpecError
from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import ExistingSubnet, OpenZfsDeploymentType, OpenZfsFileSystem, RemovalPolicy
from hyperpod_cdk.storage import OpenZfsStorage

ZONES = ("usw2-az4", "usw2-az1", "usw2-az2")
MULTI_AZ = OpenZfsDeploymentType.MULTI_AZ_1


def storage(stack: cdk.Stack | None = None, zones: tuple[str, ...] = ZONES, **fields: Any) -> OpenZfsStorage:
    """A file system in a network of its own."""
    stack = stack or cdk.Stack()
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=zones)
    return OpenZfsStorage(stack, "Zfs", network=network, file_system=OpenZfsFileSystem(**fields))


def resource(made: OpenZfsStorage) -> dict[str, Any]:
    """The one file system in the template."""
    template = Template.from_stack(cdk.Stack.of(made))
    (found,) = template.find_resources("AWS::FSx::FileSystem").values()
    return dict(found)


def subnets(made: OpenZfsStorage) -> dict[str, Any]:
    """References to the private subnets by zone."""
    network = cdk.Stack.of(made).node.find_child("Network")
    assert isinstance(network, HyperPodNetwork)
    stack = cdk.Stack.of(made)
    return {zone: stack.resolve(found[0].subnet_id) for zone, found in network.subnets_by_zone.items()}


@pytest.mark.parametrize(
    ("deployment_type", "throughput"),
    [
        (OpenZfsDeploymentType.SINGLE_AZ_1, 64),
        (OpenZfsDeploymentType.SINGLE_AZ_HA_1, 64),
        (OpenZfsDeploymentType.SINGLE_AZ_2, 160),
        (OpenZfsDeploymentType.SINGLE_AZ_HA_2, 160),
        (MULTI_AZ, 160),
    ],
)
def test_throughput_by_generation(deployment_type: OpenZfsDeploymentType, throughput: int) -> None:
    configuration = resource(storage(deployment_type=deployment_type))["Properties"]["OpenZFSConfiguration"]
    assert configuration["ThroughputCapacity"] == throughput
    assert configuration["DeploymentType"] == deployment_type.value


def test_root_of_a_node_may_give_homes_away_within_the_vpc() -> None:
    volume = resource(storage(record_size_kib=128))["Properties"]["OpenZFSConfiguration"][
        "RootVolumeConfiguration"
    ]
    assert volume == {
        "DataCompressionType": "LZ4",
        "RecordSizeKiB": 128,
        "NfsExports": [
            {
                "ClientConfigurations": [
                    {"Clients": "10.0.0.0/16", "Options": ["rw", "crossmnt", "no_root_squash"]}
                ]
            }
        ],
    }


def test_one_zone_has_no_routes() -> None:
    made = storage(availability_zone_ids=["usw2-az1"], disk_iops=1000)
    properties = resource(made)["Properties"]
    assert properties["SubnetIds"] == [subnets(made)["usw2-az1"]]
    assert made.availability_zone_id == "usw2-az1"
    configuration = properties["OpenZFSConfiguration"]
    assert configuration["DiskIopsConfiguration"] == {"Mode": "USER_PROVISIONED", "Iops": 1000}
    assert not {"PreferredSubnetId", "RouteTableIds", "Options"} & set(configuration)


@pytest.mark.parametrize(
    ("given", "zones"), [((), ZONES[:2]), (("usw2-az2", "usw2-az4"), ("usw2-az2", "usw2-az4"))]
)
def test_two_zones_are_routed_to_from_every_private_subnet(
    given: tuple[str, ...], zones: tuple[str, ...]
) -> None:
    made = storage(deployment_type=MULTI_AZ, availability_zone_ids=given)
    properties = resource(made)["Properties"]
    places = subnets(made)
    assert properties["SubnetIds"] == [places[zone] for zone in zones]
    configuration = properties["OpenZFSConfiguration"]
    assert configuration["PreferredSubnetId"] == places[zones[0]]
    associations = Template.from_stack(cdk.Stack.of(made)).find_resources(
        "AWS::EC2::SubnetRouteTableAssociation"
    )
    tables = {
        str(a["Properties"]["RouteTableId"])
        for a in associations.values()
        if a["Properties"]["SubnetId"] in places.values()
    }
    assert {str(table) for table in configuration["RouteTableIds"]} == tables
    assert len(tables) == len(ZONES)


def test_clients_reach_the_ports_of_nfs_before_it_is_created() -> None:
    made = storage()
    template = Template.from_stack(cdk.Stack.of(made))
    servers = cdk.Stack.of(made).resolve(made.security_group.security_group_id)
    rules = {
        name: rule["Properties"]
        for name, rule in template.find_resources("AWS::EC2::SecurityGroupIngress").items()
        if rule["Properties"]["GroupId"] == servers
    }
    assert {(r["IpProtocol"], r["FromPort"], r["ToPort"]) for r in rules.values()} == {
        (protocol, *ports)
        for protocol in ("tcp", "udp")
        for ports in ((111, 111), (2049, 2049), (20001, 20003))
    }
    assert set(resource(made)["DependsOn"]) == set(rules)


def test_kept_by_default_with_its_group() -> None:
    made = storage()
    assert resource(made)["DeletionPolicy"] == "RetainExceptOnCreate"
    assert resource(made)["UpdateReplacePolicy"] == "Retain"
    resources = Template.from_stack(cdk.Stack.of(made)).to_json()["Resources"].values()
    kept = sorted(r["Type"] for r in resources if r.get("DeletionPolicy") == "RetainExceptOnCreate")
    assert kept == ["AWS::EC2::SecurityGroup", "AWS::EC2::Subnet", "AWS::EC2::VPC", "AWS::FSx::FileSystem"]


def test_destroyed_with_its_volumes_on_request() -> None:
    found = resource(storage(removal_policy=RemovalPolicy.DESTROY))
    assert found["DeletionPolicy"] == found["UpdateReplacePolicy"] == "Delete"
    assert found["Properties"]["OpenZFSConfiguration"]["Options"] == ["DELETE_CHILD_VOLUMES_AND_SNAPSHOTS"]


def test_a_key_of_its_own() -> None:
    stack = cdk.Stack()
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=ZONES)
    key = kms.Key(stack, "Key")
    made = OpenZfsStorage(stack, "Zfs", network=network, encryption_key=key)
    assert resource(made)["Properties"]["KmsKeyId"] == stack.resolve(key.key_arn)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"availability_zone_ids": ["usw2-az9"]}, "usw2-az9"),
        ({"availability_zone_ids": ZONES}, "names 3 zones, and SINGLE_AZ_HA_2 is in 1"),
        (
            {"deployment_type": MULTI_AZ, "availability_zone_ids": ["usw2-az1", "usw2-az1"]},
            "names 1 zones, and MULTI_AZ_1 is in 2",
        ),
        ({"deployment_type": MULTI_AZ, "zones": ("usw2-az4",)}, "needs 2 different"),
    ],
)
def test_wrong_zones_are_refused(fields: dict[str, Any], said: str) -> None:
    with pytest.raises((ConstructError, SpecError), match=said):
        storage(**fields)


def test_an_existing_network_must_say_what_is_needed_of_it() -> None:
    stack = cdk.Stack()
    subnet = ExistingSubnet(subnet_id="subnet-1", availability_zone_id="usw2-az4")
    other = ExistingSubnet(subnet_id="subnet-2", availability_zone_id="usw2-az1", route_table_id="rtb-2")
    attributes: dict[str, Any] = {
        "subnets": [subnet, other],
        "security_group_ids": ["sg-1"],
        "vpc_id": "vpc-1",
    }
    nameless = HyperPodNetwork.from_attributes(stack, "Nameless", **attributes)
    with pytest.raises(ConstructError, match="vpc_cidr"):
        OpenZfsStorage(stack, "One", network=nameless)
    routeless = HyperPodNetwork.from_attributes(stack, "Routeless", **attributes, vpc_cidr="10.0.0.0/16")
    with pytest.raises(ConstructError, match="route_table_id is needed for subnet subnet-1"):
        OpenZfsStorage(
            stack, "Two", network=routeless, file_system=OpenZfsFileSystem(deployment_type=MULTI_AZ)
        )


def test_mounts() -> None:
    made = storage()
    mount = made.mount()
    assert cdk.Stack.of(made).resolve(mount.dns_name)["Fn::GetAtt"][1] == "DNSName"
    assert (mount.file_system_type, mount.mount_name, mount.mount_path) == ("OPENZFS", None, None)
    existing = OpenZfsStorage.from_attributes(
        cdk.Stack(), "Zfs", dns_name="fs-0123456789.fsx.x.amazonaws.com"
    )
    assert existing.mount("/users").mount_path == "/users"
    assert existing.mount().file_system_type == "OPENZFS"
