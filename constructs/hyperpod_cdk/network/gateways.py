"""The way out of the private subnets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aws_cdk import CfnTag
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.nag import acknowledge, in_packs

EVERYWHERE = "0.0.0.0/0"


@dataclass(frozen=True, kw_only=True)
class Subnet:
    """A subnet with its own route table."""

    subnet: ec2.CfnSubnet
    route_table: ec2.CfnRouteTable


def add_subnet(scope: Construct, kind: str, *, vpc: ec2.CfnVPC, zone: str, cidr: str) -> Subnet:
    """A subnet that lies in a zone given by id and gives its nodes no public address."""
    name = [CfnTag(key="Name", value=f"{scope.node.path}/{kind}")]
    subnet = ec2.CfnSubnet(
        scope,
        f"{kind}Subnet",
        vpc_id=vpc.ref,
        availability_zone_id=zone,
        cidr_block=cidr,
        map_public_ip_on_launch=False,
        tags=name,
    )
    route_table = ec2.CfnRouteTable(scope, f"{kind}RouteTable", vpc_id=vpc.ref, tags=name)
    ec2.CfnSubnetRouteTableAssociation(
        scope, f"{kind}RouteTableAssociation", subnet_id=subnet.ref, route_table_id=route_table.ref
    )
    return Subnet(subnet=subnet, route_table=route_table)


class InternetAccess(Construct):
    """Internet gateway, and NAT gateways for private subnets.

    Args:
        vpc: The VPC.
        private: Private subnets by zone id; each gets a default route.
        public: Public subnets by zone id, in the same order.
        natted_zones: How many of the zones have a NAT gateway; the first's is for those without. None: all.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.CfnVPC,
        private: Mapping[str, Subnet],
        public: Mapping[str, Subnet],
        natted_zones: int | None,
    ) -> None:
        super().__init__(scope, construct_id)
        name = [CfnTag(key="Name", value=self.node.path)]
        self.internet_gateway = ec2.CfnInternetGateway(self, "Resource", tags=name)
        self.attachment = ec2.CfnVPCGatewayAttachment(
            self, "Attachment", vpc_id=vpc.ref, internet_gateway_id=self.internet_gateway.ref
        )
        gateways = {zone: self._nat_gateway(public[zone]) for zone in list(public)[:natted_zones]}
        self.nat_gateways: Sequence[ec2.CfnNatGateway] = tuple(gateways.values())
        for zone, subnet in private.items():
            ec2.CfnRoute(
                subnet.subnet,
                "DefaultRoute",
                route_table_id=subnet.route_table.ref,
                destination_cidr_block=EVERYWHERE,
                nat_gateway_id=gateways.get(zone, self.nat_gateways[0]).ref,
            )

    def _nat_gateway(self, public: Subnet) -> ec2.CfnNatGateway:
        route = ec2.CfnRoute(
            public.subnet,
            "DefaultRoute",
            route_table_id=public.route_table.ref,
            destination_cidr_block=EVERYWHERE,
            gateway_id=self.internet_gateway.ref,
        )
        route.node.add_dependency(self.attachment)
        acknowledge(
            route,
            in_packs(
                "VPCNoUnrestrictedRouteToIGW",
                "only NAT gateways lie in this subnet; nodes have no public address",
            ),
        )
        address = ec2.CfnEIP(public.subnet, "Address", domain="vpc", tags=[self._name(public)])
        gateway = ec2.CfnNatGateway(
            public.subnet,
            "NatGateway",
            allocation_id=address.attr_allocation_id,
            subnet_id=public.subnet.ref,
            tags=[self._name(public)],
        )
        gateway.node.add_dependency(route)
        return gateway

    def _name(self, public: Subnet) -> CfnTag:
        return CfnTag(key="Name", value=public.subnet.node.path)
