"""In which subnets a file system lies."""

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk.network.interface import IHyperPodNetwork


def subnets_in(
    network: IHyperPodNetwork, zones: Sequence[str], *, count: int
) -> tuple[Sequence[ec2.ISubnet], tuple[str, ...]]:
    """Subnets of a file system, one in each of its zones.

    Args:
        zones: Zone ids asked for. Default, when empty: the network's first.
        count: How many zones it takes.

    Returns:
        The subnets, and what is wrong; one of the two is empty.
    """
    if count == 1 and not zones:
        return tuple(network.subnets[:1]), ()
    places = network.subnets_by_zone
    known = ", ".join(places) or "none"
    wanted = tuple(zones) or tuple(network.availability_zone_ids[:count])
    faults = [
        f"availability zone {zone} is none of the network's, which has: {known}"
        for zone in wanted
        if zone not in places
    ]
    if len(set(wanted)) != count:
        faults.append(
            f"needs {count} different availability zone id(s) of the network's ({known}), got: {wanted}"
        )
    return (() if faults else tuple(places[zone][0] for zone in wanted)), tuple(faults)
