"""A network that is already there."""

from collections.abc import Mapping, Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.faults import ConstructError, refuse
from hyperpod_cdk.nag import acknowledge
from hyperpod_cdk.spec import ExistingSubnet

_NO_ROUTE_TABLE = "Annotation::@aws-cdk/aws-ec2:noSubnetRouteTableId"


class ExistingHyperPodNetwork(Construct):
    """Existing subnets and security groups; arguments as of `HyperPodNetwork.from_attributes`."""

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        subnets: Sequence[ExistingSubnet],
        security_group_ids: Sequence[str],
        vpc_id: str | None = None,
        vpc_cidr: str | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        faults = [] if subnets else ["subnets must name at least one private subnet, got: none"]
        if not security_group_ids:
            faults.append("security_group_ids must name at least one group, got: none")
        refuse(self.node.path, faults)
        self.vpc_cidr = vpc_cidr
        self.internet = True
        self.subnets: Sequence[ec2.ISubnet] = tuple(
            ec2.Subnet.from_subnet_attributes(
                self,
                f"Subnet{index}",
                subnet_id=subnet.subnet_id,
                availability_zone=subnet.availability_zone_id,
                route_table_id=subnet.route_table_id,
            )
            for index, subnet in enumerate(subnets, start=1)
        )
        for given, subnet in zip(subnets, self.subnets, strict=True):
            if given.route_table_id is None:
                acknowledge(subnet, {_NO_ROUTE_TABLE: "only a Multi-AZ file system asks for it, by a rule"})
        self.default_subnets: Sequence[ec2.ISubnet] = self.subnets
        by_zone: dict[str, list[ec2.ISubnet]] = {}
        for given, subnet in zip(subnets, self.subnets, strict=True):
            if given.availability_zone_id:
                by_zone.setdefault(given.availability_zone_id, []).append(subnet)
        self.subnets_by_zone: Mapping[str, Sequence[ec2.ISubnet]] = by_zone
        self.availability_zone_ids: Sequence[str] = tuple(by_zone)
        self._route_tables = {subnet.subnet_id: subnet.route_table_id for subnet in subnets}
        self.security_groups: Sequence[ec2.ISecurityGroup] = tuple(
            ec2.SecurityGroup.from_security_group_id(self, f"SecurityGroup{index}", group_id)
            for index, group_id in enumerate(security_group_ids, start=1)
        )
        self._vpc = self._import(vpc_id, vpc_cidr, by_zone) if vpc_id else None

    def _import(self, vpc_id: str, vpc_cidr: str | None, by_zone: Mapping[str, object]) -> ec2.IVpc:
        return ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=vpc_id,
            vpc_cidr_block=vpc_cidr,
            # the CDK demands one; nothing here asks for it
            availability_zones=list(by_zone) or ["unknown"],
        )

    @property
    def vpc(self) -> ec2.IVpc:
        """The VPC.

        Raises:
            ConstructError: Its id is unknown.
        """
        if self._vpc is None:
            raise ConstructError(
                self.node.path, ["vpc_id is needed, since something is created in this network; got: none"]
            )
        return self._vpc

    @property
    def route_table_ids(self) -> Sequence[str]:
        """Route tables of the subnets.

        Raises:
            ConstructError: That of a subnet is unknown.
        """
        unknown = [subnet for subnet, table in self._route_tables.items() if not table]
        refuse(
            self.node.path,
            [
                f"route_table_id is needed for subnet {subnet}, since routes go there; got: none"
                for subnet in unknown
            ],
        )
        return tuple(dict.fromkeys(table for table in self._route_tables.values() if table))

    def reach(self, *services: str) -> None:
        """Nothing to do: ways out of an existing network are its owner's."""

    def keep(self, subnets: Sequence[ec2.ISubnet]) -> None:
        """Nothing to do: no stack of ours deletes an existing network."""
