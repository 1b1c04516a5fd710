"""HP920-HP922: the existing subnets, and the addresses that are free in them."""

from collections import Counter
from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.preflight.places import Placement
from hyperpod_cdk.preflight.wanted import live_groups, live_instances
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.look import new_lustre, new_openzfs, orchestration
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.addresses import most_addresses
from hyperpod_cdk.service.fsx import OPENZFS_ADDRESSES
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_PREREQUISITES = f"{GUIDE}sagemaker-hyperpod-prerequisites.html"
_LUSTRE_ADDRESSES = 2
"""At least: one of a metadata server and one of an object server
(https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html, 2026-10)."""


def has_subnets(spec: HyperPodSpec) -> bool:
    """Whether the spec names existing subnets."""
    return bool(places.subnets(spec))


def ask_subnets(look: Look) -> list[Call]:
    """What every check of subnets asks first."""
    return [look.subnets_call()]


def _exist(look: Look, rule: Rule) -> Iterator[Finding]:
    known, vpc_id = look.subnets(), look.vpc_id()
    for path, subnet_id in places.subnets(look.spec):
        subnet = known.get(subnet_id)
        if subnet is None:
            yield rule.finding(path, f"is no subnet of this account in {look.aws.region}", given=subnet_id)
        elif vpc_id and subnet["VpcId"] != vpc_id:
            yield rule.finding(
                path, f"is in {subnet['VpcId']}", given=subnet_id, allowed=f"a subnet of {vpc_id}"
            )
    existing = look.spec.network.existing
    for index, named in enumerate(existing.subnets if existing else ()):
        found, zone = known.get(named.subnet_id), named.availability_zone_id
        if found and zone and not unresolved(zone) and found["AvailabilityZoneId"] != zone:
            yield rule.finding(
                f"network.existing.subnets[{index}].availability_zone_id",
                f"is not where {named.subnet_id} lies",
                given=zone,
                allowed=found["AvailabilityZoneId"],
            )


# -- addresses -----------------------------------------------------------------------------------------


def _need(look: Look, placement: Placement, own: Counter[str]) -> int:
    """Addresses that a group's nodes take beyond those that its nodes have."""
    group = placement.group
    if unresolved(group.instance_count):
        return 0
    more = max(group.instance_count - own[group.instance_group_name], 0)
    return more * most_addresses(group.instance_types, orchestration(look.spec))


def _own_nodes(look: Look) -> Counter[str]:
    found: Counter[str] = Counter()
    for cluster in look.own_clusters():
        for group in live_groups(cluster):
            found[group["InstanceGroupName"]] += live_instances([{"InstanceGroups": [group]}]).total()
    return found


def _of_file_systems(look: Look) -> int:
    """Of file systems that are to be made, as long as the stack has none yet."""
    if look.spec.network.existing is None:
        return 0
    made = len(look.in_stack("AWS::FSx::FileSystem"))
    takes = [_LUSTRE_ADDRESSES for _ in new_lustre(look.spec)]
    takes += [OPENZFS_ADDRESSES[one.deployment_type] for _, one in new_openzfs(look.spec)]
    return sum(takes[made:])


def _free(subnets: dict[str, Item], ids: tuple[str, ...]) -> list[int]:
    return [subnets[one]["AvailableIpAddressCount"] for one in ids if one in subnets]


def _fit(look: Look, rule: Rule) -> Iterator[Finding]:
    subnets, own = look.subnets(), _own_nodes(look)
    together: Counter[tuple[str, ...]] = Counter()
    for placement in places.placements(look.spec):
        free, need = _free(subnets, placement.subnet_ids), _need(look, placement, own)
        if free and need > max(free):
            # the nodes of a group come up in one zone
            yield rule.finding(
                placement.path,
                f"takes {need} more addresses, and the largest of its subnets has {max(free)} free",
                given=placement.group.instance_count,
            )
        together[placement.subnet_ids] += need
    shared = max(together, key=len, default=())
    together[shared] += _of_file_systems(look)
    for ids, need in together.items():
        free = _free(subnets, ids)
        if free and need > sum(free) and not any(_need(look, one, own) > max(free) for one in _in(look, ids)):
            yield rule.finding(
                "cluster.instance_groups",
                f"and file systems take {need} more addresses, and {', '.join(ids)} have {sum(free)} free",
            )


def _spare(look: Look, rule: Rule) -> Iterator[Finding]:
    subnets, own = look.subnets(), _own_nodes(look)
    for ids in dict.fromkeys(one.subnet_ids for one in places.placements(look.spec)):
        free, here = _free(subnets, ids), _in(look, ids)
        need = sum(_need(look, one, own) for one in here)
        one_more = max(
            (most_addresses(one.group.instance_types, orchestration(look.spec)) for one in here), default=0
        )
        if free and need <= sum(free) < need + one_more:
            yield rule.finding(
                "cluster.instance_groups",
                f"leave {sum(free) - need} addresses of {', '.join(ids)}, a further node takes {one_more}",
            )


def _in(look: Look, subnet_ids: tuple[str, ...]) -> list[Placement]:
    return [one for one in places.placements(look.spec) if one.subnet_ids == subnet_ids]


_APIS = (
    *(apis.DESCRIBE_SUBNETS, apis.LIST_CLUSTERS, apis.DESCRIBE_CLUSTER),
    apis.LIST_STACK_RESOURCES,
)


def _ask_usage(look: Look) -> list[Call]:
    return [look.subnets_call(), apis.LIST_CLUSTERS(), look.stack_call()]


CHECKS = (
    Check(
        name="subnets",
        rule=Rule(
            code="HP920",
            title="a subnet that is not there, or not where the spec says",
            why="nodes and file systems would lie elsewhere, or nowhere",
            fix="correct the id; `aws ec2 describe-subnets` shows VpcId and AvailabilityZoneId",
            source=_PREREQUISITES,
        ),
        apis=(apis.DESCRIBE_SUBNETS,),
        asks=ask_subnets,
        needed=has_subnets,
        find=_exist,
    ),
    Check(
        name="free-addresses",
        rule=Rule(
            code="HP921",
            title="too few free addresses",
            why="each network card of a node takes one, and a node without all of them does not come up; a "
            "subnet's range can not grow",
            fix="use larger subnets, or fewer nodes",
            source=_PREREQUISITES,
        ),
        apis=_APIS,
        asks=_ask_usage,
        needed=has_subnets,
        find=_fit,
    ),
    Check(
        name="spare-addresses",
        rule=Rule(
            code="HP922",
            title="no free addresses for one node more",
            why="a replacement may come up before the faulty node is gone",
            fix="use larger subnets, or fewer nodes",
            source=_PREREQUISITES,
            severity=Severity.WARNING,
        ),
        apis=_APIS,
        asks=_ask_usage,
        needed=has_subnets,
        find=_spare,
    ),
)
