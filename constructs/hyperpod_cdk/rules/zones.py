"""HP22x: Availability Zones, by id."""

from collections.abc import Iterator
from difflib import get_close_matches

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import (
    file_system_zones,
    group_zone,
    group_zones,
    groups,
    named_zones,
    network_zones,
    zone_ids,
)
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.instance_types import find
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.service.zones import is_zone_id, is_zone_name, prefix_of, zone_prefix
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup

_SEVERAL_ZONES = (
    f"{GUIDE}sagemaker-hyperpod-prerequisites.html"
    "#sagemaker-hyperpod-prerequisites-multiple-availability-zones"
)
_AZ_IDS = "https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html"


@checks(
    Rule(
        code="HP220",
        title="a zone that is no zone id",
        why="a zone name, such as us-west-2a, is another place in each account; capacity is sold by id",
        fix="use the zone's id; `aws ec2 describe-availability-zones` shows ZoneId beside ZoneName",
        source=_AZ_IDS,
    )
)
def zone_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, zone in (*network_zones(spec), *named_zones(spec)):
        if unresolved(zone) or is_zone_id(zone):
            continue
        message = "is a zone's name, not its id" if is_zone_name(zone) else "is no zone id"
        yield rule.finding(path, message, given=zone, allowed="an id such as usw2-az4")


@checks(
    Rule(
        code="HP221",
        title="a zone of another Region",
        why="the stack is made in one Region, and there the zone does not exist",
        fix="correct the zone or the region",
        source=_AZ_IDS,
    )
)
def zone_of_region(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.region is None or unresolved(spec.region):
        return
    wanted = zone_prefix(spec.region)
    for path, zone in (*network_zones(spec), *named_zones(spec)):
        found = None if unresolved(zone) else prefix_of(zone)
        if wanted is not None and found is not None and found != wanted:
            yield rule.finding(
                path, f"is no zone of {spec.region}", given=zone, allowed=f"{wanted}-az1, {wanted}-az2, …"
            )


@checks(
    Rule(
        code="HP222",
        title="a zone that the network does not have",
        why="there is no subnet for the group or file system in it",
        fix="add the zone to the network, or use one that it has; an existing subnet tells its zone by "
        "availability_zone_id",
        source="hyperpod_cdk.spec.Network",
    )
)
def zone_of_network(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    known = zone_ids(spec)
    if unresolved(known) or (spec.network.existing is None and not known):
        return
    for path, zone in named_zones(spec):
        if unresolved(zone) or not is_zone_id(zone) or zone in known:
            continue
        yield rule.finding(
            path,
            "is none of the network's zones",
            given=zone,
            allowed=", ".join(known) or "none, since no existing subnet tells its zone",
            nearest=get_close_matches(zone, known, n=2),
        )


@checks(
    Rule(
        code="HP223",
        title="nodes in another zone than a file system that they mount",
        why="every read crosses zones: slower, charged by the gigabyte, and never over EFA",
        fix="put the file system or the group into the other's zone",
        source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance-tips.html",
        severity=Severity.WARNING,
    )
)
def mounts_cross_zones(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    places = file_system_zones(spec)
    for path, group in groups(spec):
        zone = group_zone(spec, group)
        for index, mount in enumerate(group.mounts):
            homes = places.get(mount.storage or "", ())
            if zone is None or not homes or unresolved(zone, homes) or zone in homes:
                continue
            yield rule.finding(
                f"{path}.mounts[{index}]",
                f"is in {', '.join(homes)}, the group's nodes are in {zone}",
                given=mount.storage,
            )


@checks(
    Rule(
        code="HP224",
        title="a zone that is left to chance",
        why="of the subnets of a group the service picks one, and the whole group lies in its zone: perhaps "
        "another than that of the file systems, or of the capacity that was bought",
        fix="set the group's override_vpc_config.availability_zone_id, or list the subnets of one zone only",
        source=_SEVERAL_ZONES,
        severity=Severity.WARNING,
    )
)
def zone_by_chance(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        zones = group_zones(spec, group)
        if len(zones) < 2 or unresolved(zones):
            continue
        minding = _minding(spec, group, zones)
        if minding:
            where = f"{path}.override_vpc_config" if group.override_vpc_config else path
            message = f"may come to lie in {' or '.join(zones)}, which matters to {', '.join(minding)}"
            yield rule.finding(where, message)


@checks(
    Rule(
        code="HP225",
        title="a partition whose nodes can not use EFA among each other",
        why="EFA does not cross zones: a job on nodes of both hangs, or falls back to TCP",
        fix="give the groups of each zone a partition of their own",
        source=_SEVERAL_ZONES,
        severity=Severity.WARNING,
    )
)
def partition_across_zones(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    first: dict[str, tuple[str, str]] = {}
    for path, group in groups(spec):
        zone = group_zone(spec, group)
        has_efa = any((known := find(name)) and known.efa_interfaces for name in group.instance_types)
        if zone is None or not has_efa or group.slurm_config is None:
            continue
        for index, name in enumerate(group.slurm_config.partition_names):
            if unresolved(zone, name):
                continue
            there, other = first.setdefault(name, (zone, group.instance_group_name))
            if there != zone:
                where = f"{path}.slurm_config.partition_names[{index}]"
                message = f"has nodes in {zone}, and those of group {other} in {there}"
                yield rule.finding(where, message, given=name)


def _minding(spec: HyperPodSpec, group: InstanceGroup, zones: tuple[str, ...]) -> list[str]:
    """What of a group minds in which of some zones its nodes lie."""
    places = file_system_zones(spec)
    minding = [
        f"file system {mount.storage}"
        for mount in group.mounts
        if mount.storage and places.get(mount.storage) and not set(zones) <= set(places[mount.storage])
    ]
    return [*minding, *(["the training plan"] if group.training_plan_arn else [])]
