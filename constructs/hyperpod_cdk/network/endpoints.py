"""Ways to AWS services for nodes that have no internet."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


class ServiceEndpoints(Construct):
    """Interface endpoints of a VPC, in every subnet, behind one security group.

    Args:
        vpc: The VPC.
        vpc_cidr: Its address range, from where the endpoints are called.
        subnets: Where they lie, at most one in a zone.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        vpc_cidr: str,
        subnets: Sequence[ec2.ISubnet],
    ) -> None:
        super().__init__(scope, construct_id)
        self._vpc = vpc
        self._subnets = ec2.SubnetSelection(subnets=list(subnets))
        self.security_group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="Interface endpoints: HTTPS from the VPC",
            allow_all_outbound=False,
        )
        self.security_group.add_ingress_rule(ec2.Peer.ipv4(vpc_cidr), ec2.Port.tcp(443), "HTTPS from the VPC")
        self.by_service: dict[str, ec2.InterfaceVpcEndpoint] = {}
        """The endpoints by the service's name."""

    def add(self, *services: str) -> None:
        """Add the endpoints that are not there yet."""
        for service in services:
            if service not in self.by_service:
                self.by_service[service] = ec2.InterfaceVpcEndpoint(
                    self,
                    service,
                    vpc=self._vpc,
                    service=ec2.InterfaceVpcEndpointAwsService(service),
                    subnets=self._subnets,
                    security_groups=[self.security_group],
                    private_dns_enabled=True,
                    open=False,
                )
