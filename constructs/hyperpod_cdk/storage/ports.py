"""Ports of file systems, as rules of their security groups."""

from hyperpod_cdk.network.security_group import Ports
from hyperpod_cdk.service import fsx


def _ports(protocol: str, first: int, last: int) -> Ports:
    return Ports(protocol=protocol, first=first, last=None if last == first else last)


LUSTRE = tuple(_ports(*ports) for ports in fsx.LUSTRE_PORTS)
"""Between servers, and between servers and clients, both ways."""

OPEN_ZFS = tuple(_ports(*ports) for ports in fsx.OPENZFS_PORTS)
"""From clients."""
