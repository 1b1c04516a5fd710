"""Address ranges of VPCs and subnets (https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html,
2026-10)."""

import ipaddress

RESERVED = 5
"""Addresses that AWS keeps of every subnet."""
LARGEST, SMALLEST = 16, 28
"""Prefixes that EC2 accepts for VPCs and subnets."""
SPARE = 32
"""Addresses that a zone has beside those of its nodes, for file systems, endpoints and a second node during a
replacement; our choice."""


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


def mended(cidr: str) -> str | None:
    """The range that an address inside it was given for, None where that can not be told."""
    try:
        return str(ipaddress.IPv4Network(cidr, strict=False))
    except ValueError:
        return None
