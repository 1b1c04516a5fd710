"""Security groups and the rules between them, each rule a resource of its own.

CDK drops an egress rule under allow-all, yet EFA traffic is matched by group id alone and 0.0.0.0/0 does not
cover it; and what depends on a rule can only say so to a resource.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import CfnResource
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from hyperpod_cdk.nag import acknowledge, in_packs


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Ports of one protocol."""

    protocol: str
    """``tcp``, ``udp``, or ``-1`` for all traffic."""
    first: int | None = None
    last: int | None = None
    """Default: ``first``."""

    def __str__(self) -> str:
        if self.first is None:
            return "all"
        return (
            f"{self.protocol}-{self.first}"
            if self.last is None
            else f"{self.protocol}-{self.first}-{self.last}"
        )


ALL_TRAFFIC = Ports(protocol="-1")


def allow_in(
    scope: Construct, prefix: str, *, group: str, source: str, ports: Sequence[Ports], why: str
) -> list[CfnResource]:
    """Ingress rules into a group from another, one a range of ports.

    Args:
        prefix: Begins the ids of the rules.
        group: Id of the group that gets the rules.
        source: Id of the group whose members may send.
        ports: What they may reach.
        why: Description shown in the console.
    """
    rules: list[CfnResource] = []
    for range_ in ports:
        rule = ec2.CfnSecurityGroupIngress(
            scope,
            f"{prefix}-{range_}",
            group_id=group,
            source_security_group_id=source,
            ip_protocol=range_.protocol,
            from_port=range_.first,
            to_port=range_.first if range_.last is None else range_.last,
            description=why,
        )
        if range_ == ALL_TRAFFIC:
            acknowledge(
                rule,
                in_packs(
                    "EC2RestrictedCommonPorts", "EFA needs all traffic, and only members of one group send it"
                ),
            )
        rules.append(rule)
    return rules


def allow_out(
    scope: Construct, prefix: str, *, group: str, target: str, ports: Sequence[Ports], why: str
) -> list[CfnResource]:
    """Egress rules out of a group to another, one a range of ports; arguments as of `allow_in`."""
    return [
        ec2.CfnSecurityGroupEgress(
            scope,
            f"{prefix}-{range_}",
            group_id=group,
            destination_security_group_id=target,
            ip_protocol=range_.protocol,
            from_port=range_.first,
            to_port=range_.first if range_.last is None else range_.last,
            description=why,
        )
        for range_ in ports
    ]


class EfaSecurityGroup(Construct):
    """Group of the nodes: all traffic among its members by group id, both ways, and all egress.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html, 2026-10.
    """

    def __init__(self, scope: Construct, construct_id: str, *, vpc: ec2.IVpc) -> None:
        super().__init__(scope, construct_id)
        self.security_group = ec2.SecurityGroup(
            self,
            "Resource",
            vpc=vpc,
            description="Nodes of a HyperPod cluster: all traffic among them",
            allow_all_outbound=True,
        )
        own = self.security_group.security_group_id
        why = "all traffic among the nodes, EFA included"
        self.rules: Sequence[CfnResource] = (
            *allow_in(self, "SelfIngress", group=own, source=own, ports=[ALL_TRAFFIC], why=why),
            *allow_out(self, "SelfEgress", group=own, target=own, ports=[ALL_TRAFFIC], why=why),
        )
