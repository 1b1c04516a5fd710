"""What instance groups ask of the zones of a network."""

from collections import Counter
from collections.abc import Mapping, Sequence

from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.addresses import addresses_of_nodes
from hyperpod_cdk.service.instance_types import Orchestration
from hyperpod_cdk.service.zones import is_zone_id, is_zone_name
from hyperpod_cdk.spec import InstanceGroup


def _zone_of(group: InstanceGroup, default: str) -> str | None:
    """Zone whose subnet a group's nodes take addresses of; None: subnets of the group's own."""
    override = group.override_vpc_config
    if override is None:
        return default
    return override.availability_zone_id or (None if override.subnet_ids else default)


def zone_faults(zones: Sequence[str], groups: Sequence[InstanceGroup]) -> list[str]:
    """What is wrong with a network's zone ids, in themselves and for these groups."""
    if not zones:
        return ["availability_zone_ids must name at least one zone by its id, such as usw2-az4, got: none"]
    faults = [f"availability_zone_ids names {zone} {n} times" for zone, n in Counter(zones).items() if n > 1]
    faults += [_other_form(zone) for zone in zones if not (unresolved(zone) or is_zone_id(zone))]
    if unresolved(*zones):
        return faults
    for group in groups:
        zone = _zone_of(group, zones[0])
        if zone is not None and zone not in zones and not unresolved(zone):
            faults.append(
                f"instance group {group.instance_group_name} lies in zone {zone}, which is none of the "
                f"network's: {', '.join(zones)}"
            )
    return faults


def _other_form(zone: str) -> str:
    what = "a zone's name, not its id" if is_zone_name(zone) else "no zone id"
    return (
        f"availability_zone_ids takes ids such as usw2-az4, got: {zone}, which is {what}; "
        "`aws ec2 describe-availability-zones` shows both"
    )


def addresses_by_zone(
    zones: Sequence[str], groups: Sequence[InstanceGroup], orchestration: Orchestration
) -> Mapping[str, int]:
    """Addresses that the groups' nodes take in each zone of a network, as far as their counts are known."""
    nodes: dict[str, list[tuple[Sequence[str], int]]] = {}
    for group in groups:
        zone = _zone_of(group, zones[0])
        if zone is not None and not unresolved(group.instance_count):
            nodes.setdefault(zone, []).append((group.instance_types, group.instance_count))
    return {zone: addresses_of_nodes(found, orchestration) for zone, found in nodes.items()}
