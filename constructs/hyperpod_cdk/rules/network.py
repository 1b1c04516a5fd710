"""HP20x and HP21x: the network, new or existing."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.look import group_zone, groups, new_lustre, new_openzfs, orchestration
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import subnets
from hyperpod_cdk.service.addresses import addresses_of_nodes
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec, Network, OpenZfsDeploymentType

_PREREQUISITES = f"{GUIDE}sagemaker-hyperpod-prerequisites.html"


@checks(
    Rule(
        code="HP200",
        title="a new network without zones",
        why="the zone decides where capacity is found; no default fits everybody",
        fix="name the zone of your capacity, such as availability_zone_ids: [usw2-az4]",
        source=_PREREQUISITES,
    )
)
def zones_needed(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.network.existing is None and not spec.network.availability_zone_ids:
        yield rule.finding("network.availability_zone_ids", "names no zone")


@checks(
    Rule(
        code="HP201",
        title="an existing network and settings of a new one",
        why="nothing of an existing network is made or changed, so that the settings would do nothing",
        fix="remove the setting, or remove existing",
        source="hyperpod_cdk.spec.Network",
    )
)
def existing_excludes_new(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.network.existing is None:
        return
    plain = Network()
    for field in fields(Network):
        value = getattr(spec.network, field.name)
        if field.name == "existing" or value == getattr(plain, field.name) or value in ((), []):
            continue
        yield rule.finding(f"network.{field.name}", "is a setting of a new network", given=value)


@checks(
    Rule(
        code="HP202",
        title="an address range that a VPC can not have",
        why="EC2 takes IPv4 ranges of /16 to /28 that begin at their first address, and none of loopback, "
        "link-local and multicast addresses",
        fix="use a range such as 10.0.0.0/16",
        source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html",
    )
)
def cidr_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    existing = spec.network.existing
    ranges = [("network.cidr", spec.network.cidr)]
    if existing is not None:
        ranges = [("network.existing.vpc_cidr", existing.vpc_cidr)] if existing.vpc_cidr else []
    for path, cidr in ranges:
        if unresolved(cidr):
            continue
        network = subnets.as_network(cidr)
        if network is None or not subnets.is_for_vpcs(network):
            nearest = subnets.mended(cidr) if network is None else None
            yield rule.finding(
                path,
                "is no address range that a VPC can have",
                given=cidr,
                allowed=f"an IPv4 range of /{subnets.LARGEST} to /{subnets.SMALLEST}, such as 10.0.0.0/16",
                nearest=(nearest,) if nearest else (),
            )


@checks(
    Rule(
        code="HP203",
        title="a network too small for its nodes",
        why="every network card of a node takes an address, and a node that replaces another comes up beside "
        "it; a subnet's range can not grow later",
        fix="widen network.cidr, or lower the counts",
        source=_PREREQUISITES,
    )
)
def addresses_fit(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    network, cidr = spec.network, spec.network.cidr
    vpc = None if unresolved(cidr) else subnets.as_network(cidr)
    if network.existing is not None or vpc is None or not network.availability_zone_ids:
        return
    needs = addresses_by_zone(spec)
    public = subnets.size(min(vpc.prefixlen + 8, subnets.SMALLEST))
    total = sum(subnets.size(subnets.prefix_for(needs[zone])) + public for zone in needs)
    if total > vpc.num_addresses:
        prefix = 32 - (total - 1).bit_length()
        nodes = ", ".join(f"{count} in {zone}" for zone, count in needs.items() if count)
        yield rule.finding(
            "network.cidr",
            f"has {vpc.num_addresses} addresses; nodes take {nodes}, and their subnets {total} in all",
            given=cidr,
            allowed=f"/{prefix} or wider" if prefix >= subnets.LARGEST else "no range is wide enough",
            nearest=(f"{vpc.network_address}/{prefix}",) if prefix >= subnets.LARGEST else (),
        )


@checks(
    Rule(
        code="HP204",
        title="an existing network of which too little is said",
        why="what is created in it needs these ids",
        fix="add the value; `aws ec2 describe-subnets` and `describe-vpcs` show it",
        source="hyperpod_cdk.spec.ExistingNetwork",
    )
)
def existing_is_complete(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    existing = spec.network.existing
    if existing is None:
        return
    openzfs = [file_system for _, file_system in new_openzfs(spec)]
    if existing.vpc_id is None and (openzfs or any(new_lustre(spec))):
        yield rule.finding("network.existing.vpc_id", "is missing; a file system is created in the VPC")
    if existing.vpc_cidr is None and openzfs:
        yield rule.finding("network.existing.vpc_cidr", "is missing; OpenZFS exports to this range")
    if any(one.deployment_type == OpenZfsDeploymentType.MULTI_AZ_1 for one in openzfs):
        for index, subnet in enumerate(existing.subnets):
            if subnet.route_table_id is None:
                path = f"network.existing.subnets[{index}].route_table_id"
                yield rule.finding(path, "is missing; a MULTI_AZ_1 file system puts routes there")


@checks(
    Rule(
        code="HP205",
        title="the same thing named twice",
        why="the service refuses repeated subnets, security groups and zones",
        fix="remove the repetition",
        source=f"{API}API_VpcConfig.html",
    )
)
def repeated(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    lists = [("network.availability_zone_ids", list(spec.network.availability_zone_ids))]
    existing = spec.network.existing
    if existing is not None:
        lists.append(("network.existing.subnets", [subnet.subnet_id for subnet in existing.subnets]))
        lists.append(("network.existing.security_group_ids", list(existing.security_group_ids)))
    for path, group in groups(spec):
        place = group.override_vpc_config
        if place is not None:
            lists.append((f"{path}.override_vpc_config.subnet_ids", list(place.subnet_ids)))
            lists.append((f"{path}.override_vpc_config.security_group_ids", list(place.security_group_ids)))
    for path, values in lists:
        for index, value in enumerate(values):
            if value in values[:index] and not unresolved(value):
                yield rule.finding(f"{path}[{index}]", "stands in the list already", given=value)


@checks(
    Rule(
        code="HP206",
        title="a group's place that is unclear",
        why="a group lies in a zone of the network or in subnets of its own, and never moves later",
        fix="give override_vpc_config either availability_zone_id or subnet_ids, or leave it out",
        source=_PREREQUISITES,
    )
)
def override_is_clear(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        place = group.override_vpc_config
        if place is None:
            continue
        if place.availability_zone_id and place.subnet_ids:
            where = f"{path}.override_vpc_config.subnet_ids"
            yield rule.finding(where, "excludes availability_zone_id, which is given too")
        elif not (place.availability_zone_id or place.subnet_ids or place.security_group_ids):
            yield rule.finding(f"{path}.override_vpc_config", "says nothing")


def addresses_by_zone(spec: HyperPodSpec) -> dict[str, int]:
    nodes: dict[str, list[tuple[Sequence[str], int]]] = {
        zone: [] for zone in spec.network.availability_zone_ids
    }
    for _, group in groups(spec):
        zone = group_zone(spec, group)
        if zone is not None and zone in nodes and not unresolved(group.instance_count):
            nodes[zone].append((group.instance_types, group.instance_count))
    return {zone: addresses_of_nodes(found, orchestration(spec)) for zone, found in nodes.items()}
