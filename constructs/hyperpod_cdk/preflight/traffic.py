"""What security groups let through."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hyperpod_cdk.preflight.look import Item

Ports = tuple[str, int, int]
"""Protocol, first and last port."""
ALL: Ports = ("-1", 0, 65535)


@dataclass(frozen=True, kw_only=True)
class Peer:
    """The other end: the security groups that it has, and the address ranges that it lies in."""

    group_ids: tuple[str, ...] = ()
    ranges: tuple[str, ...] = ()


class PrefixListError(Exception):
    """Rules for managed prefix lists, whose ranges are not known here, might let it through."""


def lets(rules: Iterable[Item], ports: Ports, peer: Peer) -> bool:
    """Whether rules let a peer through at these ports.

    Args:
        rules: IpPermissions or IpPermissionsEgress of all security groups of an interface.
        ports: which must be open.
        peer: from or to where.

    Raises:
        PrefixListError: it can not be told.
    """
    relevant = [rule for rule in rules if _covers_ports(rule, ports)]
    groups = {pair.get("GroupId") for rule in relevant for pair in rule.get("UserIdGroupPairs", ())}
    if groups & set(peer.group_ids):
        return True
    ranges = [one["CidrIp"] for rule in relevant for one in rule.get("IpRanges", ())]
    if peer.ranges and all(_covered(one, ranges) for one in peer.ranges):
        return True
    if any(rule.get("PrefixListIds") for rule in relevant):
        raise PrefixListError
    return False


def rules_of(groups: Iterable[Item], way: str) -> list[Item]:
    """The rules of several groups together.

    Args:
        way: ``IpPermissions`` or ``IpPermissionsEgress``.
    """
    return [rule for group in groups for rule in group.get(way, ())]


def _covers_ports(rule: Item, ports: Ports) -> bool:
    protocol, first, last = ports
    if rule["IpProtocol"] == ALL[0]:
        return True
    if rule["IpProtocol"] != protocol:
        return False
    return bool(rule.get("FromPort", 0) <= first and last <= rule.get("ToPort", 65535))


def _covered(cidr: str, ranges: Sequence[str]) -> bool:
    wanted = ipaddress.ip_network(cidr, strict=False)
    return any(
        wanted.subnet_of(one)
        for one in map(ipaddress.ip_network, ranges)
        if isinstance(one, ipaddress.IPv4Network) and isinstance(wanted, ipaddress.IPv4Network)
    )
