"""AWS::EC2: VPCs and what belongs to them."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.rehearsal.aws.resources.api_type import ApiType
from hyperpod_cdk.rehearsal.aws.resources.base import Call, Created, ResourceError, ResourceType, known


def same(*names: str) -> dict[str, str]:
    """Properties that an AWS call takes under their own name."""
    return {name: name for name in names}


def _vpc_dns(call: Call, answer: Any) -> None:
    for attribute in ("EnableDnsSupport", "EnableDnsHostnames"):
        if attribute in call.properties:
            value = {attribute: {"Value": call.properties[attribute]}}
            call.aws.call("ec2", "modify_vpc_attribute", VpcId=answer["Vpc"]["VpcId"], **value)


def _change_vpc_dns(call: Call) -> None:
    _vpc_dns(call, {"Vpc": {"VpcId": call.physical_id}})


def _public_addresses(call: Call, answer: Any) -> None:
    if "MapPublicIpOnLaunch" in call.properties:
        value = {"Value": call.properties["MapPublicIpOnLaunch"]}
        subnet = answer["Subnet"]["SubnetId"]
        call.aws.call("ec2", "modify_subnet_attribute", SubnetId=subnet, MapPublicIpOnLaunch=value)


def refuse_while_in_use(call: Call, filter_name: str) -> None:
    """Refuse a deletion as EC2 does while network interfaces are left; moto would delete.

    Args:
        filter_name: The filter of DescribeNetworkInterfaces that finds the interfaces by physical id.
    """
    wanted = [{"Name": filter_name, "Values": [call.physical_id]}]
    found = call.aws.call("ec2", "describe_network_interfaces", Filters=wanted)["NetworkInterfaces"]
    if found:
        users = ", ".join(
            f"{i['NetworkInterfaceId']} ({i.get('Description') or 'no description'})" for i in found
        )
        raise ResourceError(
            f"The resource '{call.physical_id}' has dependencies and cannot be deleted: "
            f"network interface {users} (Service: ec2, DependencyViolation)"
        )


def _remove_subnet(call: Call) -> None:
    refuse_while_in_use(call, "subnet-id")
    call.aws.call("ec2", "delete_subnet", SubnetId=call.physical_id)


def _detach_internet_gateway(call: Call) -> None:
    arguments = {name: call.properties[name] for name in ("VpcId", "InternetGatewayId")}
    call.aws.call("ec2", "detach_internet_gateway", **arguments)


def _remove_nat_gateway(call: Call) -> None:
    wanted = [call.physical_id]
    gateway = call.aws.call("ec2", "describe_nat_gateways", NatGatewayIds=wanted)["NatGateways"][0]
    call.aws.call("ec2", "delete_nat_gateway", NatGatewayId=call.physical_id)
    # Moto leaves the gateway's network interface behind, which would keep the subnet.
    for address in gateway["NatGatewayAddresses"]:
        if address.get("NetworkInterfaceId"):
            interface = address["NetworkInterfaceId"]
            call.aws.call("ec2", "delete_network_interface", NetworkInterfaceId=interface)


def _remove_address(call: Call) -> None:
    call.aws.call("ec2", "release_address", AllocationId=call.created.attributes["AllocationId"])


def _remove_route(call: Call) -> None:
    wanted = {
        name: call.properties.get(name)
        for name in ("RouteTableId", "DestinationCidrBlock", "DestinationIpv6CidrBlock")
    }
    call.aws.call("ec2", "delete_route", **wanted)


def _remove_list(method: str, parameter: str) -> Any:
    return lambda call: call.aws.call("ec2", method, **{parameter: [call.physical_id]})


class Route:
    """AWS::EC2::Route: the call answers with nothing to name the route by."""

    slow = False
    _PROPERTIES = (
        "RouteTableId",
        "DestinationCidrBlock",
        "DestinationIpv6CidrBlock",
        "GatewayId",
        "NatGatewayId",
    )

    def create(self, call: Call) -> Created:
        """Create the route."""
        known(call, self._PROPERTIES)
        call.aws.call("ec2", "create_route", **call.properties)
        destination = (
            call.properties.get("DestinationCidrBlock") or call.properties["DestinationIpv6CidrBlock"]
        )
        return Created(physical_id=f"{call.properties['RouteTableId']}|{destination}")

    def update(self, call: Call) -> Created:
        """Create the route anew."""
        return self.create(call)

    def delete(self, call: Call) -> None:
        """Delete the route."""
        _remove_route(call)


class GatewayAttachment:
    """AWS::EC2::VPCGatewayAttachment: the call answers with nothing."""

    slow = False

    def create(self, call: Call) -> Created:
        """Attach the gateway."""
        known(call, ("VpcId", "InternetGatewayId"))
        call.aws.call("ec2", "attach_internet_gateway", **call.properties)
        return Created(physical_id=f"IGW|{call.properties['VpcId']}")

    def update(self, call: Call) -> Created:
        """Attach the other gateway."""
        return self.create(call)

    def delete(self, call: Call) -> None:
        """Detach the gateway."""
        _detach_internet_gateway(call)


class VpcEndpoint:
    """AWS::EC2::VPCEndpoint."""

    slow = False
    _PROPERTIES = (
        "VpcId",
        "ServiceName",
        "VpcEndpointType",
        "SubnetIds",
        "SecurityGroupIds",
        "RouteTableIds",
        "PrivateDnsEnabled",
        "PolicyDocument",
        "Tags",
    )

    def create(self, call: Call) -> Created:
        """Create the endpoint."""
        known(call, self._PROPERTIES)
        given = {
            name: value for name, value in call.properties.items() if name not in ("PolicyDocument", "Tags")
        }
        if "PolicyDocument" in call.properties:
            given["PolicyDocument"] = json.dumps(call.properties["PolicyDocument"])
        if call.properties.get("Tags"):
            given["TagSpecifications"] = [{"ResourceType": "vpc-endpoint", "Tags": call.properties["Tags"]}]
        endpoint = call.aws.call("ec2", "create_vpc_endpoint", **given)["VpcEndpoint"]
        entries = [f"{e['HostedZoneId']}:{e['DnsName']}" for e in endpoint.get("DnsEntries", [])]
        attributes = {
            "Id": endpoint["VpcEndpointId"],
            "NetworkInterfaceIds": endpoint.get("NetworkInterfaceIds", []),
            "CreationTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "DnsEntries": entries,
        }
        return Created(physical_id=endpoint["VpcEndpointId"], attributes=attributes)

    def update(self, call: Call) -> Created:
        """Create another endpoint, as CloudFormation does for a new service or VPC."""
        return self.create(call)

    def delete(self, call: Call) -> None:
        """Delete the endpoint."""
        call.aws.call("ec2", "delete_vpc_endpoints", VpcEndpointIds=[call.physical_id])


NETWORK: Mapping[str, ResourceType] = {
    "AWS::EC2::VPC": ApiType(
        service="ec2",
        create_method="create_vpc",
        identifier="Vpc.VpcId",
        properties=same("CidrBlock", "InstanceTenancy"),
        tagged="vpc",
        attributes={"VpcId": "Vpc.VpcId", "CidrBlock": "Vpc.CidrBlock"},
        handled=frozenset({"EnableDnsSupport", "EnableDnsHostnames"}),
        finish=_vpc_dns,
        change=_change_vpc_dns,
        changeable=frozenset({"EnableDnsSupport", "EnableDnsHostnames"}),
        delete_with=("delete_vpc", "VpcId"),
    ),
    "AWS::EC2::Subnet": ApiType(
        service="ec2",
        create_method="create_subnet",
        identifier="Subnet.SubnetId",
        properties=same("VpcId", "CidrBlock", "AvailabilityZone", "AvailabilityZoneId"),
        tagged="subnet",
        attributes={
            "SubnetId": "Subnet.SubnetId",
            "VpcId": "Subnet.VpcId",
            "CidrBlock": "Subnet.CidrBlock",
            "AvailabilityZone": "Subnet.AvailabilityZone",
            "AvailabilityZoneId": "Subnet.AvailabilityZoneId",
        },
        handled=frozenset({"MapPublicIpOnLaunch"}),
        finish=_public_addresses,
        remove=_remove_subnet,
    ),
    "AWS::EC2::InternetGateway": ApiType(
        service="ec2",
        create_method="create_internet_gateway",
        identifier="InternetGateway.InternetGatewayId",
        properties={},
        tagged="internet-gateway",
        attributes={"InternetGatewayId": "InternetGateway.InternetGatewayId"},
        delete_with=("delete_internet_gateway", "InternetGatewayId"),
    ),
    "AWS::EC2::VPCGatewayAttachment": GatewayAttachment(),
    "AWS::EC2::EIP": ApiType(
        service="ec2",
        create_method="allocate_address",
        identifier="PublicIp",
        properties=same("Domain"),
        tagged="elastic-ip",
        attributes={"AllocationId": "AllocationId", "PublicIp": "PublicIp"},
        remove=_remove_address,
    ),
    "AWS::EC2::NatGateway": ApiType(
        service="ec2",
        create_method="create_nat_gateway",
        identifier="NatGateway.NatGatewayId",
        properties=same("SubnetId", "AllocationId", "ConnectivityType"),
        tagged="natgateway",
        attributes={"NatGatewayId": "NatGateway.NatGatewayId"},
        remove=_remove_nat_gateway,
    ),
    "AWS::EC2::RouteTable": ApiType(
        service="ec2",
        create_method="create_route_table",
        identifier="RouteTable.RouteTableId",
        properties=same("VpcId"),
        tagged="route-table",
        attributes={"RouteTableId": "RouteTable.RouteTableId"},
        delete_with=("delete_route_table", "RouteTableId"),
    ),
    "AWS::EC2::Route": Route(),
    "AWS::EC2::SubnetRouteTableAssociation": ApiType(
        service="ec2",
        create_method="associate_route_table",
        identifier="AssociationId",
        properties=same("RouteTableId", "SubnetId"),
        attributes={"Id": "AssociationId"},
        delete_with=("disassociate_route_table", "AssociationId"),
    ),
    "AWS::EC2::VPCEndpoint": VpcEndpoint(),
    "AWS::EC2::FlowLog": ApiType(
        service="ec2",
        create_method="create_flow_logs",
        identifier="FlowLogIds.0",
        properties={
            "ResourceType": "ResourceType",
            "ResourceId": "ResourceIds",
            "TrafficType": "TrafficType",
            "DeliverLogsPermissionArn": "DeliverLogsPermissionArn",
            "LogDestinationType": "LogDestinationType",
            "LogDestination": "LogDestination",
            "LogGroupName": "LogGroupName",
            "LogFormat": "LogFormat",
            "MaxAggregationInterval": "MaxAggregationInterval",
        },
        tagged="vpc-flow-log",
        attributes={"Id": "FlowLogIds.0"},
        remove=_remove_list("delete_flow_logs", "FlowLogIds"),
    ),
}
