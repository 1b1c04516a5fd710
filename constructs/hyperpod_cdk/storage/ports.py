"""Ports of file systems, and which of their groups' rules go which way."""

from hyperpod_cdk.network.security_group import Ports

LUSTRE = (Ports(protocol="tcp", first=988), Ports(protocol="tcp", first=1018, last=1023))
"""Between servers, and between servers and clients, both ways
(https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html, 2026-10)."""

OPEN_ZFS = tuple(
    Ports(protocol=protocol, first=first, last=last)
    for protocol in ("tcp", "udp")
    for first, last in ((111, None), (2049, None), (20001, 20003))
)
"""From clients (https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/limit-access-security-groups.html,
2026-10)."""
