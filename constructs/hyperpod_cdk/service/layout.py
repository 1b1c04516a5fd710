"""Where the subnets of a new VPC lie in its address range."""

import ipaddress
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hyperpod_cdk.service.subnets import LARGEST, SMALLEST, as_network, prefix_for, size


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Address ranges of the subnets by zone id, or why there is no such layout."""

    private: Mapping[str, str]
    public: Mapping[str, str]
    faults: Sequence[str] = ()


def lay_out(cidr: str, zones: Sequence[str], addresses: Mapping[str, int]) -> Layout:
    """Divide a VPC among zones.

    Equal blocks, as long as they hold what each zone needs: a quarter of the range a zone (up to three
    zones), so that neither a larger group nor a further zone at the end of the list moves a subnet, which
    would replace it and with it the cluster. Where a zone needs more, its block is the smallest that holds
    the need and the others share what is left. Public subnets lie at the end of the range.

    Args:
        cidr: Range of the VPC, /16 to /28.
        zones: Zone ids, in a lasting order.
        addresses: Addresses that the nodes of a zone take, by zone id; absent: none.

    Returns:
        The layout; with ``faults`` and no subnets when the range is wrong or too small.
    """
    network = as_network(cidr)
    if network is None:
        return _none(
            f"cidr must be an IPv4 range whose address is its first, such as 10.0.0.0/16, got: {cidr}"
        )
    if not LARGEST <= network.prefixlen <= SMALLEST:
        return _none(f"cidr must be /16 to /28, got: {cidr}")
    public = min(network.prefixlen + 8, SMALLEST)
    needs = [prefix_for(addresses.get(zone, 0)) for zone in zones]
    prefixes = _prefixes(network.prefixlen, needs, public)
    if prefixes is None:
        need = _total(needs, public)
        return _none(
            f"cidr {cidr} has {network.num_addresses} addresses and is too small for {len(zones)} zone(s); "
            f"the instance groups need at least a /{_prefix_of(need)}"
        )
    return Layout(
        private=dict(zip(zones, _from_the_front(network, prefixes), strict=True)),
        public=dict(zip(zones, _from_the_back(network, public, len(zones)), strict=True)),
    )


def _none(fault: str) -> Layout:
    return Layout(private={}, public={}, faults=(fault,))


def _prefix_of(addresses: int) -> int:
    return 32 - max(addresses - 1, 1).bit_length()


def _total(prefixes: Sequence[int], public: int) -> int:
    return sum(map(size, prefixes)) + len(prefixes) * size(public)


def _prefixes(vpc: int, needs: Sequence[int], public: int) -> Sequence[int] | None:
    """Prefix of each private subnet, as large as the VPC allows; None if it does not hold the needs."""
    first = vpc + max(2, len(needs).bit_length())
    for equal in range(min(first, SMALLEST), SMALLEST + 1):
        prefixes = [min(equal, need) for need in needs]
        if _total(prefixes, public) <= size(vpc):
            return prefixes
    return None


def _from_the_front(network: ipaddress.IPv4Network, prefixes: Sequence[int]) -> list[str]:
    """Blocks in the order of the prefixes; larger ones lie first, so that all are aligned."""
    start = int(network.network_address)
    blocks = [""] * len(prefixes)
    for index in sorted(range(len(prefixes)), key=lambda index: prefixes[index]):
        blocks[index] = f"{ipaddress.IPv4Address(start)}/{prefixes[index]}"
        start += size(prefixes[index])
    return blocks


def _from_the_back(network: ipaddress.IPv4Network, prefix: int, count: int) -> list[str]:
    end = int(network.broadcast_address) + 1
    return [f"{ipaddress.IPv4Address(end - size(prefix) * (index + 1))}/{prefix}" for index in range(count)]
