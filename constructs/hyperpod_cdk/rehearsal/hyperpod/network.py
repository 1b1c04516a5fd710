"""Where nodes stand: addresses and network interfaces in the emulated EC2."""

import ipaddress
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from hyperpod_cdk.rehearsal.hyperpod.aws import Account
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, Group, Placement, Spec
from hyperpod_cdk.service.addresses import addresses_per_node
from hyperpod_cdk.service.instance_types import Orchestration

if TYPE_CHECKING:
    from moto.ec2.models.subnets import Subnet

NETWORK_CARDS = {
    "ml.p4d.24xlarge": 4,
    "ml.p4de.24xlarge": 4,
    "ml.p5.48xlarge": 32,
    "ml.p5e.48xlarge": 32,
    "ml.p5en.48xlarge": 16,
    "ml.p6-b200.48xlarge": 8,
    "ml.p6-b300.48xlarge": 17,
    "ml.p6e-gb200.36xlarge": 17,
    "ml.trn1.32xlarge": 8,
    "ml.trn1n.32xlarge": 16,
    "ml.trn2.48xlarge": 16,
    "ml.g6e.48xlarge": 4,
    "ml.g7e.48xlarge": 4,
}
"""Network cards of an instance type, 1 when absent: a node takes one interface for each.

docs.aws.amazon.com/ec2/latest/instancetypes/ac.html, October 2026. That a P5 takes 32 addresses:
docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html; others by analogy.
"""

SERVICE_NETWORK = ipaddress.IPv4Network("172.16.0.0/12")
"""Addresses in the service's own VPC (assumed)."""


class NoAddressError(Exception):
    """No subnet of a node has enough free addresses for it."""


class Network:
    """Addresses and interfaces of the clusters of one account and Region.

    Args:
        account: where the clusters are.
    """

    def __init__(self, account: Account) -> None:
        self._account = account
        self._agents: Iterator[ipaddress.IPv4Address] = SERVICE_NETWORK.hosts()

    def place(self, cluster: Cluster, group: Group, instance_type: str) -> Placement:
        """Give a new node its addresses, and its interfaces in the user's VPC.

        Args:
            cluster: the node's cluster.
            group: the node's group; its OverrideVpcConfig comes before the cluster's VpcConfig.
            instance_type: says how many interfaces the node needs.

        Raises:
            NoAddressError: when no subnet has enough free addresses.
        """
        agent_ip = str(next(self._agents))
        vpc_config = vpc_config_of(cluster, group)
        if vpc_config is None:
            region = self._account.region
            zone = self._account.ec2.describe_availability_zones()[0]
            return Placement(
                private_ip=agent_ip,
                agent_ip=agent_ip,
                subnet_id="",
                zone=f"{region}a",
                zone_id=str(zone.zone_id),
            )
        cards = NETWORK_CARDS.get(instance_type, 1)
        pods = addresses_per_node(instance_type, Orchestration.EKS) - cards if cluster.is_eks else 0
        subnet, addresses = self._pick_subnet(vpc_config, cards + max(0, pods))
        description = f"[DO NOT DELETE] ENI managed by SageMaker for cluster {cluster.arn}"
        interfaces = [
            self._account.ec2.create_network_interface(
                subnet, address, group_ids=vpc_config["SecurityGroupIds"], description=description
            )
            for address in addresses[:cards]
        ]
        # the network plugin keeps addresses for pods on the first card
        interfaces[0].private_ip_addresses += [
            {"Primary": False, "PrivateIpAddress": address} for address in addresses[cards:]
        ]
        for interface in interfaces:
            interface.requester_managed = True
            interface.status = "in-use"
        return Placement(
            private_ip=addresses[0],
            agent_ip=agent_ip,
            subnet_id=subnet.id,
            zone=subnet.availability_zone,
            zone_id=subnet.availability_zone_id,
            interface_ids=tuple(interface.id for interface in interfaces),
        )

    def zones(self, cluster: Cluster, group: Group) -> set[str]:
        """Give the names of the Availability Zones in which a group's nodes may stand; none without a VPC."""
        subnet_ids = (vpc_config_of(cluster, group) or {}).get("Subnets", [])
        return {self._account.ec2.get_subnet(subnet_id).availability_zone for subnet_id in subnet_ids}

    def release(self, placement: Placement) -> None:
        """Delete a node's interfaces; those that somebody deleted already are no error."""
        for interface_id in placement.interface_ids:
            self._account.ec2.enis.pop(interface_id, None)

    def _pick_subnet(self, vpc_config: Spec, count: int) -> tuple["Subnet", list[str]]:
        subnets = [self._account.ec2.get_subnet(subnet_id) for subnet_id in vpc_config["Subnets"]]
        for subnet in subnets:
            addresses = self._free_addresses(subnet, count)
            if len(addresses) == count:
                return subnet, addresses
        raise NoAddressError(
            f"Subnets {', '.join(vpc_config['Subnets'])} do not have the {count} free IP addresses "
            "that an instance needs."
        )

    def _free_addresses(self, subnet: "Subnet", count: int) -> list[str]:
        used = set(subnet._subnet_ips) | set(
            chain.from_iterable(
                (entry["PrivateIpAddress"] for entry in interface.private_ip_addresses)
                for interface in self._account.ec2.enis.values()
                if interface.subnet.id == subnet.id
            )
        )
        free: list[str] = []
        hosts = subnet.cidr.hosts()
        for reserved, host in enumerate(hosts):
            if len(free) == count:
                break
            if reserved >= 3 and str(host) not in used:  # EC2 keeps the first three hosts for itself
                free.append(str(host))
        return free


def vpc_config_of(cluster: Cluster, group: Group) -> Spec | None:
    """Give the VPC configuration that a group's nodes use; None for the service's own VPC."""
    config: Spec | None = group.spec.get("OverrideVpcConfig") or cluster.settings.get("VpcConfig")
    return config
