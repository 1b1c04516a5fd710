"""HyperPodNetwork in somebody else's stack, without feature flags."""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import ExistingSubnet, InstanceGroup, NatGateways, OverrideVpcConfig

ZONES = ("usw2-az4", "usw2-az1")


def network(stack: cdk.Stack | None = None, **arguments: Any) -> HyperPodNetwork:
    """A network of two zones."""
    given = {"availability_zone_ids": ZONES} | arguments
    return HyperPodNetwork(stack or cdk.Stack(), "Network", **given)


def template_of(construct: cdk.Stack | HyperPodNetwork) -> Template:
    """The template of the construct's stack."""
    return Template.from_stack(cdk.Stack.of(construct))


@pytest.fixture(scope="module")
def default() -> Template:
    """A network with one NAT gateway."""
    return template_of(network())


@pytest.fixture(scope="module")
def isolated() -> Template:
    """A network without internet."""
    return template_of(network(nat_gateways=NatGateways.NONE))


def test_zones_are_given_by_id_alone(default: Template) -> None:
    subnets = default.find_resources("AWS::EC2::Subnet").values()
    zones = [subnet["Properties"]["AvailabilityZoneId"] for subnet in subnets]
    assert sorted(zones) == sorted([*ZONES, *ZONES])
    assert not any("AvailabilityZone" in subnet["Properties"] for subnet in subnets)
    assert not any(subnet["Properties"]["MapPublicIpOnLaunch"] for subnet in subnets)


def test_a_known_account_asks_for_no_look_up() -> None:
    app = cdk.App()
    stack = cdk.Stack(app, "S", env=cdk.Environment(account="111122223333", region="us-west-2"))
    network(stack)
    manifest = json.loads((Path(app.synth().directory) / "manifest.json").read_text())
    assert "missing" not in manifest


def test_names_resolve(default: Template) -> None:
    default.has_resource_properties(
        "AWS::EC2::VPC", {"EnableDnsSupport": True, "EnableDnsHostnames": True, "CidrBlock": "10.0.0.0/16"}
    )


def test_efa_traffic_is_allowed_both_ways_by_group_id(default: Template) -> None:
    (group,) = default.find_resources("AWS::EC2::SecurityGroup")
    own = {"Fn::GetAtt": [group, "GroupId"]}
    default.has_resource_properties(
        "AWS::EC2::SecurityGroupIngress",
        {"GroupId": own, "SourceSecurityGroupId": own, "IpProtocol": "-1"},
    )
    default.has_resource_properties(
        "AWS::EC2::SecurityGroupEgress",
        {"GroupId": own, "DestinationSecurityGroupId": own, "IpProtocol": "-1"},
    )
    default.has_resource_properties(
        "AWS::EC2::SecurityGroup",
        {"SecurityGroupEgress": [Match.object_like({"CidrIp": "0.0.0.0/0", "IpProtocol": "-1"})]},
    )


def test_s3_is_reached_from_every_private_route_table() -> None:
    made = network()
    stack = cdk.Stack.of(made)
    tables = [stack.resolve(table) for table in made.route_table_ids]
    assert len(tables) == len(ZONES)
    template_of(made).has_resource_properties(
        "AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Gateway", "RouteTableIds": tables}
    )


@pytest.mark.parametrize(
    ("nat_gateways", "gateways", "routed"),
    [(NatGateways.ONE, 1, 2), (NatGateways.PER_ZONE, 2, 2), (NatGateways.NONE, 0, 0)],
)
def test_nat_gateways(nat_gateways: NatGateways, gateways: int, routed: int) -> None:
    template = template_of(network(nat_gateways=nat_gateways))
    template.resource_count_is("AWS::EC2::NatGateway", gateways)
    routes = template.find_resources("AWS::EC2::Route", {"Properties": {"NatGatewayId": Match.any_value()}})
    assert len(routes) == routed
    targets = {json.dumps(route["Properties"]["NatGatewayId"]) for route in routes.values()}
    assert len(targets) == gateways


def test_a_nat_gateway_waits_for_its_way_out(default: Template) -> None:
    (gateway,) = default.find_resources("AWS::EC2::NatGateway").values()
    (route,) = gateway["DependsOn"]
    attachment = default.find_resources("AWS::EC2::VPCGatewayAttachment")
    assert default.find_resources("AWS::EC2::Route")[route]["DependsOn"] == list(attachment)


def test_without_internet_there_are_just_the_endpoints_nodes_call(isolated: Template) -> None:
    endpoints = isolated.find_resources(
        "AWS::EC2::VPCEndpoint", {"Properties": {"VpcEndpointType": "Interface"}}
    )
    names = {
        "".join(map(str, e["Properties"]["ServiceName"]["Fn::Join"][1])).split(".")[-1]
        for e in endpoints.values()
    }
    assert names == {"ssm", "ssmmessages", "ec2messages", "logs", "monitoring"}
    for endpoint in endpoints.values():
        assert endpoint["Properties"]["PrivateDnsEnabled"] is True
        assert len(endpoint["Properties"]["SubnetIds"]) == len(ZONES)
    isolated.resource_count_is("AWS::EC2::InternetGateway", 0)
    isolated.resource_count_is("AWS::EC2::Subnet", len(ZONES))


def test_endpoints_take_https_from_the_vpc_alone(isolated: Template) -> None:
    isolated.has_resource_properties(
        "AWS::EC2::SecurityGroup",
        {
            "SecurityGroupIngress": [
                Match.object_like(
                    {"CidrIp": "10.0.0.0/16", "IpProtocol": "tcp", "FromPort": 443, "ToPort": 443}
                )
            ]
        },
    )


@pytest.mark.parametrize(("nat_gateways", "more"), [(NatGateways.NONE, 1), (NatGateways.ONE, 0)])
def test_reach_adds_an_endpoint_once_and_only_where_needed(nat_gateways: NatGateways, more: int) -> None:
    made = network(nat_gateways=nat_gateways)
    before = len(made.vpc_endpoints)
    made.reach("fsx")
    made.reach("fsx")
    assert len(made.vpc_endpoints) == before + more


def test_flow_logs_are_kept_for_a_while_under_the_given_key() -> None:
    stack = cdk.Stack()
    key = kms.Key(stack, "Key")
    made = network(stack, encryption_key=key)
    assert made.flow_log is not None
    template = template_of(made)
    template.has_resource_properties(
        "AWS::Logs::LogGroup", {"RetentionInDays": 30, "KmsKeyId": stack.resolve(key.key_arn)}
    )
    template.has_resource(
        "AWS::EC2::FlowLog", {"DependsOn": Match.array_with([Match.string_like_regexp("Policy")])}
    )
    template.has_resource_properties(
        "AWS::KMS::Key",
        {
            "KeyPolicy": {
                "Statement": Match.array_with(
                    [Match.object_like({"Sid": "CloudWatchLogs", "Effect": "Allow"})]
                )
            }
        },
    )


def test_flow_logs_can_be_left_out() -> None:
    made = network(flow_logs=False)
    assert made.flow_log is None
    assert made.flow_log_group is None
    template_of(made).resource_count_is("AWS::Logs::LogGroup", 0)


def test_nothing_is_left_behind_by_a_custom_resource(default: Template) -> None:
    default.resource_count_is("AWS::Lambda::Function", 0)


def test_kept_subnets_keep_the_vpc() -> None:
    made = network()
    made.keep(made.subnets_by_zone["usw2-az1"])
    template = template_of(made)
    template.has_resource("AWS::EC2::VPC", {"DeletionPolicy": "RetainExceptOnCreate"})
    kept = template.find_resources("AWS::EC2::Subnet", {"DeletionPolicy": "RetainExceptOnCreate"})
    assert [s["Properties"]["AvailabilityZoneId"] for s in kept.values()] == ["usw2-az1"]


def group(zone: str | None = None, count: Any = 1, instance_type: str = "ml.p5.48xlarge") -> InstanceGroup:
    """A group in a zone."""
    return InstanceGroup(
        instance_group_name="gpu",
        instance_type=instance_type,
        instance_count=count,
        override_vpc_config=OverrideVpcConfig(availability_zone_id=zone) if zone else None,
    )


def test_private_subnets_hold_the_nodes() -> None:
    made = network(cidr="10.1.0.0/22", instance_groups=[group("usw2-az1", count=13)])
    subnets = template_of(made).find_resources("AWS::EC2::Subnet").values()
    ranges = {
        s["Properties"]["AvailabilityZoneId"]: s["Properties"]["CidrBlock"]
        for s in subnets
        if "private" in json.dumps(s["Properties"]["Tags"]).lower()
    }
    assert ranges["usw2-az1"] == "10.1.0.0/23"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"availability_zone_ids": ()}, "at least one zone"),
        ({"availability_zone_ids": ("usw2-az1", "usw2-az1")}, "usw2-az1 2 times"),
        ({"instance_groups": [group("usw2-az9")]}, "gpu lies in zone usw2-az9"),
        ({"cidr": "10.0.0.0/24", "instance_groups": [group(count=8)]}, "too small"),
    ],
)
def test_what_can_not_be_built_is_refused(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ConstructError) as refused:
        network(**arguments)
    assert said in str(refused.value)


def test_all_faults_are_said_at_once() -> None:
    with pytest.raises(ConstructError) as refused:
        network(availability_zone_ids=("usw2-az1", "usw2-az1"), instance_groups=[group("usw2-az9")])
    assert len(refused.value.faults) == 2


def test_zones_and_counts_known_only_at_deployment_are_let_pass() -> None:
    stack = cdk.Stack()
    zone = cdk.CfnParameter(stack, "Zone").value_as_string
    count = cdk.CfnParameter(stack, "Count", type="Number").value_as_number
    made = network(stack, availability_zone_ids=(zone,), instance_groups=[group(count=count)])
    template_of(made).has_resource_properties("AWS::EC2::Subnet", {"AvailabilityZoneId": {"Ref": "Zone"}})


def existing(stack: cdk.Stack, **arguments: Any) -> Any:
    """An existing network of two subnets in one zone and one elsewhere."""
    subnets = (
        ExistingSubnet(subnet_id="subnet-1", availability_zone_id="usw2-az4", route_table_id="rtb-1"),
        ExistingSubnet(subnet_id="subnet-2", availability_zone_id="usw2-az4", route_table_id="rtb-1"),
        ExistingSubnet(subnet_id="subnet-3"),
    )
    given = {"subnets": subnets, "security_group_ids": ["sg-1", "sg-2"]} | arguments
    return HyperPodNetwork.from_attributes(stack, "Network", **given)


def test_an_existing_network_makes_nothing() -> None:
    stack = cdk.Stack()
    made = existing(stack, vpc_id="vpc-1", vpc_cidr="10.0.0.0/16")
    made.reach("fsx")
    made.keep(made.subnets)
    assert Template.from_stack(stack).to_json().get("Resources", {}) == {}
    assert made.vpc.vpc_id == "vpc-1"
    assert [subnet.subnet_id for subnet in made.subnets] == ["subnet-1", "subnet-2", "subnet-3"]
    assert {zone: len(subnets) for zone, subnets in made.subnets_by_zone.items()} == {"usw2-az4": 2}
    assert [group.security_group_id for group in made.security_groups] == ["sg-1", "sg-2"]


def test_an_existing_network_asks_for_what_is_missing_when_it_is_needed() -> None:
    made = existing(cdk.Stack())
    with pytest.raises(ConstructError, match="vpc_id is needed"):
        _ = made.vpc
    with pytest.raises(ConstructError, match="subnet-3"):
        _ = made.route_table_ids


def test_an_existing_network_needs_subnets_and_groups() -> None:
    with pytest.raises(ConstructError) as refused:
        existing(cdk.Stack(), subnets=(), security_group_ids=())
    assert len(refused.value.faults) == 2


def test_an_existing_network_need_not_say_its_zones() -> None:
    network = HyperPodNetwork.from_attributes(
        cdk.Stack(),
        "Network",
        subnets=[ExistingSubnet(subnet_id="subnet-1")],
        security_group_ids=["sg-1"],
        vpc_id="vpc-1",
    )
    assert network.vpc.vpc_id == "vpc-1"
    assert list(network.availability_zone_ids) == []
