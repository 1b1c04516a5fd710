"""What the other constructs need of a network."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from aws_cdk import aws_ec2 as ec2


class IHyperPodNetwork(Protocol):
    """A network made here (`HyperPodNetwork`) or an existing one (`HyperPodNetwork.from_attributes`)."""

    @property
    def vpc(self) -> ec2.IVpc:
        """The VPC. Raises ConstructError for an existing network that was given no ``vpc_id``."""

    @property
    def vpc_cidr(self) -> str | None:
        """Address range of the VPC; None where unknown."""

    @property
    def security_groups(self) -> Sequence[ec2.ISecurityGroup]:
        """Groups of the nodes; all traffic among them is allowed (EFA)."""

    @property
    def subnets(self) -> Sequence[ec2.ISubnet]:
        """Private subnets that nodes may use."""

    @property
    def default_subnets(self) -> Sequence[ec2.ISubnet]:
        """Subnets of groups that name none: those of the first zone of a network made here, so that nodes and
        file systems share it; all subnets of an existing network."""

    @property
    def subnets_by_zone(self) -> Mapping[str, Sequence[ec2.ISubnet]]:
        """The same subnets by Availability Zone id, as far as their zones are known."""

    @property
    def availability_zone_ids(self) -> Sequence[str]:
        """Zone ids in the order asked for; the first is the default of groups and file systems."""

    @property
    def route_table_ids(self) -> Sequence[str]:
        """Route tables of the private subnets. Raises ConstructError where an existing network lacks one."""

    @property
    def internet(self) -> bool:
        """Whether nodes reach the internet; an existing network is taken to."""

    def reach(self, *services: str) -> None:
        """Let nodes reach AWS services, named as in endpoint names (``fsx``, ``ecr.api``).

        Adds interface endpoints to a network made here without internet; else there is nothing to do.
        """

    def keep(self, subnets: Sequence[ec2.ISubnet]) -> None:
        """Keep the VPC and these subnets when the stack goes, for something kept that lies in them.

        Does nothing to an existing network, which no stack of ours deletes.
        """
