"""HyperPodNetwork: the VPC of a cluster."""

from collections.abc import Mapping, Sequence

from aws_cdk import Aws, CfnTag, Tags, Token
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.faults import refuse
from hyperpod_cdk.nag import acknowledge, in_packs
from hyperpod_cdk.network.demand import addresses_by_zone, zone_faults
from hyperpod_cdk.network.endpoints import ServiceEndpoints
from hyperpod_cdk.network.existing import ExistingHyperPodNetwork
from hyperpod_cdk.network.flow_logs import FlowLogs
from hyperpod_cdk.network.gateways import InternetAccess, Subnet, add_subnet
from hyperpod_cdk.network.security_group import EfaSecurityGroup
from hyperpod_cdk.removal import KEEP
from hyperpod_cdk.service.endpoints import NODE_SERVICES
from hyperpod_cdk.service.instance_types import Orchestration
from hyperpod_cdk.service.layout import lay_out
from hyperpod_cdk.spec import ExistingSubnet, InstanceGroup, NatGateways

NATTED_ZONES: Mapping[NatGateways, int | None] = {
    NatGateways.ONE: 1,
    NatGateways.PER_ZONE: None,
}
"""How many of the zones, from the first, have a NAT gateway; None: all."""


class HyperPodNetwork(Construct):
    """VPC with a private subnet in each zone, and the security group of the nodes.

    Zones are given by id (``usw2-az4``), which means the same place in every account; nothing is looked up,
    so that the network is the same with and without a known account.

    Args:
        availability_zone_ids: Zone ids, at least one. Append new ones at the end: the order decides where
            subnets lie. The first is the default of groups and file systems.
        cidr: Range of the VPC, /16 to /28.
        instance_groups: Groups whose nodes must find addresses in the private subnets. Default: none.
        orchestration: What runs the jobs: on Amazon EKS a node takes addresses for its pods too, and subnets
            are tagged for load balancers. Default: Slurm.
        nat_gateways: One for all zones (default), one per zone, or none: no internet, and interface endpoints
            of the services that nodes call.
        flow_logs: Log accepted and rejected flows. Default: yes.
        flow_logs_retention: How long. Default: one month.
        encryption_key: Customer-managed key of the flow logs. Default: CloudWatch Logs' own encryption.

    Raises:
        ConstructError: Zones are missing, repeated or unknown, or the range is too small.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        availability_zone_ids: Sequence[str],
        cidr: str = "10.0.0.0/16",
        instance_groups: Sequence[InstanceGroup] = (),
        orchestration: Orchestration = Orchestration.SLURM,
        nat_gateways: NatGateways = NatGateways.ONE,
        flow_logs: bool = True,
        flow_logs_retention: logs.RetentionDays = logs.RetentionDays.ONE_MONTH,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        zones = tuple(availability_zone_ids)
        refuse(self.node.path, zone_faults(zones, instance_groups))
        layout = lay_out(cidr, zones, addresses_by_zone(zones, instance_groups, orchestration))
        refuse(self.node.path, layout.faults)
        self.availability_zone_ids: Sequence[str] = zones
        self.vpc_cidr = cidr
        self.internet = nat_gateways is not NatGateways.NONE
        self.cfn_vpc = self._vpc(cidr)
        self.private_subnets: Mapping[str, Subnet] = self._subnets("Private", layout.private)
        self.public_subnets: Mapping[str, Subnet] = (
            self._subnets("Public", layout.public) if self.internet else {}
        )
        if orchestration is Orchestration.EKS:
            self._tag_for_load_balancers()
        self.internet_access: InternetAccess | None = None
        if self.internet:
            self.internet_access = InternetAccess(
                self,
                "Internet",
                vpc=self.cfn_vpc,
                private=self.private_subnets,
                public=self.public_subnets,
                natted_zones=NATTED_ZONES[nat_gateways],
            )
        self.vpc = self._imported()
        self.subnets: Sequence[ec2.ISubnet] = tuple(
            self.vpc.private_subnets if self.internet else self.vpc.isolated_subnets
        )
        self.subnets_by_zone: Mapping[str, Sequence[ec2.ISubnet]] = {
            zone: (subnet,) for zone, subnet in zip(zones, self.subnets, strict=True)
        }
        self.efa = EfaSecurityGroup(self, "Nodes", vpc=self.vpc)
        self.security_group: ec2.SecurityGroup = self.efa.security_group
        self.security_groups: Sequence[ec2.ISecurityGroup] = (self.security_group,)
        self.s3_endpoint = self._s3_endpoint()
        self.service_endpoints: ServiceEndpoints | None = None
        if not self.internet:
            self.service_endpoints = ServiceEndpoints(
                self, "Endpoints", vpc=self.vpc, vpc_cidr=cidr, subnets=self.subnets
            )
        self.reach(*NODE_SERVICES)
        self.flow_logs: FlowLogs | None = None
        if flow_logs:
            self.flow_logs = FlowLogs(
                self,
                "FlowLogs",
                vpc_id=self.cfn_vpc.ref,
                retention=flow_logs_retention,
                encryption_key=encryption_key,
            )

    @staticmethod
    def from_attributes(
        scope: Construct,
        construct_id: str,
        *,
        subnets: Sequence[ExistingSubnet],
        security_group_ids: Sequence[str],
        vpc_id: str | None = None,
        vpc_cidr: str | None = None,
    ) -> ExistingHyperPodNetwork:
        """A network that is already there.

        Args:
            subnets: Private subnets for the nodes.
            security_group_ids: Groups of the nodes; one must allow all traffic to and from itself (EFA).
            vpc_id: The VPC. Default: unknown; needed where a file system is created in it.
            vpc_cidr: Its address range. Default: unknown; needed where an OpenZFS file system is created.

        Raises:
            ConstructError: There is no subnet or no security group.
        """
        return ExistingHyperPodNetwork(
            scope,
            construct_id,
            subnets=subnets,
            security_group_ids=security_group_ids,
            vpc_id=vpc_id,
            vpc_cidr=vpc_cidr,
        )

    @property
    def default_subnets(self) -> Sequence[ec2.ISubnet]:
        """The first zone's subnet: EFA does not cross zones, and file systems lie there by default."""
        return self.subnets_by_zone[self.availability_zone_ids[0]]

    @property
    def route_table_ids(self) -> Sequence[str]:
        """Route tables of the private subnets."""
        return tuple(subnet.route_table.ref for subnet in self.private_subnets.values())

    @property
    def vpc_endpoints(self) -> Sequence[Construct]:
        """The S3 gateway endpoint and the interface endpoints."""
        interfaces = self.service_endpoints.by_service.values() if self.service_endpoints else ()
        return (self.s3_endpoint, *interfaces)

    @property
    def flow_log(self) -> ec2.CfnFlowLog | None:
        """The flow log, if there is one."""
        return self.flow_logs.flow_log if self.flow_logs else None

    @property
    def flow_log_group(self) -> logs.LogGroup | None:
        """Where flows are logged, if they are."""
        return self.flow_logs.log_group if self.flow_logs else None

    def reach(self, *services: str) -> None:
        """Let nodes reach AWS services: an interface endpoint each, if they have no internet.

        Args:
            services: Names as in endpoint names, such as ``fsx`` or ``ecr.api``; asking twice does no harm.
        """
        if self.service_endpoints is not None:
            self.service_endpoints.add(*services)

    def keep(self, subnets: Sequence[ec2.ISubnet]) -> None:
        """Keep the VPC and these subnets when the stack goes, for something kept that lies in them."""
        kept = {subnet.subnet_id for subnet in subnets}
        self.cfn_vpc.apply_removal_policy(KEEP)
        for private in self.private_subnets.values():
            if private.subnet.ref in kept:
                private.subnet.apply_removal_policy(KEEP)

    def _vpc(self, cidr: str) -> ec2.CfnVPC:
        vpc = ec2.CfnVPC(
            self,
            "Resource",
            cidr_block=cidr,
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags=[CfnTag(key="Name", value=self.node.path)],
        )
        acknowledge(
            vpc,
            in_packs(
                "VPCDefaultSecurityGroupClosed",
                "nothing here uses the default group; emptying it takes a custom resource whose log group "
                "stays behind",
            ),
        )
        return vpc

    def _subnets(self, kind: str, ranges: Mapping[str, str]) -> Mapping[str, Subnet]:
        return {
            zone: add_subnet(self._place(index, zone), kind, vpc=self.cfn_vpc, zone=zone, cidr=cidr)
            for index, (zone, cidr) in enumerate(ranges.items())
        }

    def _tag_for_load_balancers(self) -> None:
        # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html (2026-10)
        for tag, subnets in (
            ("kubernetes.io/role/internal-elb", self.private_subnets),
            ("kubernetes.io/role/elb", self.public_subnets),
        ):
            for subnet in subnets.values():
                Tags.of(subnet.subnet).add(tag, "1")

    def _place(self, index: int, zone: str) -> Construct:
        name = f"Zone{index + 1}" if Token.is_unresolved(zone) else zone
        found = self.node.try_find_child(name)
        return found if isinstance(found, Construct) else Construct(self, name)

    def _imported(self) -> ec2.IVpc:
        subnets = [subnet.subnet.ref for subnet in self.private_subnets.values()]
        tables = list(self.route_table_ids)
        public = list(self.public_subnets.values())
        return ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=self.cfn_vpc.ref,
            vpc_cidr_block=self.vpc_cidr,
            availability_zones=list(self.availability_zone_ids),
            private_subnet_ids=subnets if self.internet else None,
            private_subnet_route_table_ids=tables if self.internet else None,
            isolated_subnet_ids=None if self.internet else subnets,
            isolated_subnet_route_table_ids=None if self.internet else tables,
            public_subnet_ids=[subnet.subnet.ref for subnet in public] or None,
            public_subnet_route_table_ids=[subnet.route_table.ref for subnet in public] or None,
        )

    def _s3_endpoint(self) -> ec2.CfnVPCEndpoint:
        return ec2.CfnVPCEndpoint(
            self,
            "S3Endpoint",
            vpc_id=self.cfn_vpc.ref,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{Aws.REGION}.s3",
            route_table_ids=list(self.route_table_ids),
        )
