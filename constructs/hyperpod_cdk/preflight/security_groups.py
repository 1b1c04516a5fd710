"""HP926 and HP927: the existing security groups of nodes."""

from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.preflight.places import Placement
from hyperpod_cdk.preflight.traffic import ALL, Peer, PrefixListError, lets, rules_of
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.service import instance_types
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup

_PREREQUISITES = f"{GUIDE}sagemaker-hyperpod-prerequisites.html"
_DIRECTIONS = {"IpPermissions": "from", "IpPermissionsEgress": "to"}


def groups_call(look: Look) -> Call:
    """Security groups: of the VPC, or of the Region where no VPC is named.

    Not by their ids: those of file systems are known only from another answer.
    """
    return apis.DESCRIBE_SECURITY_GROUPS(Filters=look.in_vpc())


def known_groups(look: Look) -> dict[str, Item]:
    """Security groups by their ids."""
    return {one["GroupId"]: one for one in look.aws.answer(groups_call(look))}


def has_groups(spec: HyperPodSpec) -> bool:
    """Whether the spec names existing security groups."""
    return bool(places.security_groups(spec))


def _exist(look: Look, rule: Rule) -> Iterator[Finding]:
    known, vpc_id = known_groups(look), look.vpc_id()
    for path, group_id in places.security_groups(look.spec):
        group = known.get(group_id)
        if group is None or (vpc_id and group["VpcId"] != vpc_id):
            yield rule.finding(path, f"is no security group of {vpc_id or 'the Region'}", given=group_id)


def _ask(look: Look) -> list[Call]:
    return [groups_call(look), *([look.subnets_call()] if places.subnets(look.spec) else [])]


def _self(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    known, told = known_groups(look), set()
    for placement in places.placements(look.spec):
        groups = [known[one] for one in placement.security_group_ids if one in known]
        if len(groups) < len(placement.security_group_ids) or not groups:
            continue
        for way, word in _DIRECTIONS.items():
            fault = (placement.security_group_ids, way)
            if fault in told or _open(look, placement, groups, way):
                continue
            told.add(fault)
            yield rule.finding(
                _path(placement),
                f"do not allow all traffic {word} one another",
                given=", ".join(placement.security_group_ids),
            )


def _open(look: Look, placement: Placement, groups: list[Item], way: str) -> bool:
    """EFA goes by group ids alone; other traffic by address ranges too."""
    subnets = look.subnets()
    ranges = tuple(subnets[one]["CidrBlock"] for one in placement.subnet_ids if one in subnets)
    peer = Peer(
        group_ids=placement.security_group_ids,
        ranges=() if has_efa(placement.group) else ranges,
    )
    try:
        return lets(rules_of(groups, way), ALL, peer)
    except PrefixListError:
        return False


def has_efa(group: InstanceGroup) -> bool:
    """Whether nodes of a group speak EFA, as far as is known."""
    known = (instance_types.find(name) for name in group.instance_types)
    return any(one is not None and bool(one.efa_interfaces) for one in known)


def _path(placement: Placement) -> str:
    place = placement.group.override_vpc_config
    if place and place.security_group_ids:
        return f"{placement.path}.override_vpc_config.security_group_ids"
    return "network.existing.security_group_ids"


CHECKS = (
    Check(
        name="self-rules",
        rule=Rule(
            code="HP926",
            title="security groups whose nodes do not reach one another",
            why="Slurm and NCCL use ports all over, and EFA needs a rule for all traffic from and to the "
            "group itself, by its id: 0.0.0.0/0 does not cover it",
            fix="add rules for all traffic from and to the group itself",
            source=_PREREQUISITES,
        ),
        apis=(apis.DESCRIBE_SECURITY_GROUPS, apis.DESCRIBE_SUBNETS),
        asks=_ask,
        needed=has_groups,
        find=_self,
    ),
    Check(
        name="security-groups",
        rule=Rule(
            code="HP927",
            title="a security group that is not there, or of another VPC",
            why="the service refuses the cluster",
            fix="use groups of the VPC in which the subnets lie",
            source=_PREREQUISITES,
        ),
        apis=(apis.DESCRIBE_SECURITY_GROUPS, apis.DESCRIBE_SUBNETS),
        asks=_ask,
        needed=has_groups,
        find=_exist,
    ),
)
