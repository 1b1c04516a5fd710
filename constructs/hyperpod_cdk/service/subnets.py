"""Address ranges of VPCs and subnets (https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html,
2026-10)."""

import ipaddress

RESERVED = 5
"""Addresses that AWS keeps of every subnet."""
LARGEST, SMALLEST = 16, 28
"""Prefixes that EC2 accepts for VPCs and subnets."""
SPARE = 32
"""Addresses that a zone has beside those of its nodes, for file systems and endpoints; our choice."""


DOCKER_BRIDGE = ipaddress.IPv4Network("172.17.0.0/16")
"""Range that Docker takes for containers, and that AWS advises against, SageMaker AI named
(https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html, 2026-10)."""


PRIVATE = tuple(
    ipaddress.IPv4Network(one)
    for one in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "198.18.0.0/15")
)
"""Ranges that nobody has on the internet: RFC 1918, and RFC 6598 and 2544, which VPCs take too."""


def prefix_for(nodes_addresses: int) -> int:
    """Prefix of the smallest subnet in which the nodes of a zone find so many addresses."""
    if not nodes_addresses:
        return SMALLEST
    return min(32 - (nodes_addresses + RESERVED + SPARE - 1).bit_length(), SMALLEST)


def size(prefix: int) -> int:
    """Addresses of a range, reserved ones included."""
    return 1 << (32 - prefix)


def as_network(cidr: str) -> ipaddress.IPv4Network | None:
    """The range, None where the text is none or its address is not the range's first."""
    try:
        return ipaddress.IPv4Network(cidr)
    except ValueError:
        return None


def is_for_vpcs(network: ipaddress.IPv4Network) -> bool:
    """Whether EC2 makes a VPC of the range."""
    special = network.is_loopback or network.is_link_local or network.is_multicast or network.is_reserved
    this_host = network.network_address < ipaddress.IPv4Address("1.0.0.0")
    return LARGEST <= network.prefixlen <= SMALLEST and not special and not this_host


def mended(cidr: str) -> str | None:
    """The range that an address inside it was given for, None where that can not be told."""
    try:
        return str(ipaddress.IPv4Network(cidr, strict=False))
    except ValueError:
        return None
