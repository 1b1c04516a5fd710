"""HP943: whether nodes and an existing file system let one another through."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.file_systems import (
    ask_file_systems,
    described,
    has_file_systems,
    interfaces_of,
    named,
)
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.preflight.places import Placement
from hyperpod_cdk.preflight.security_groups import groups_call, has_efa, known_groups
from hyperpod_cdk.preflight.traffic import ALL, Peer, Ports, PrefixListError, lets, rules_of
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.service import fsx
from hyperpod_cdk.spec import HyperPodSpec


@dataclass(frozen=True, kw_only=True)
class _End:
    """One side of the traffic: its security groups, and how the other side knows it."""

    groups: list[Item]
    peer: Peer


@dataclass(frozen=True, kw_only=True)
class _Way:
    """One rule that must be there: whose, in which direction, at which ports."""

    text: str
    owner: str
    direction: str
    ports: tuple[Ports, ...]
    by_group: bool = False
    """Only rules that name the other side's security group count."""


_IN, _OUT = "IpPermissions", "IpPermissionsEgress"
_WAYS = {
    "LUSTRE": (
        _Way(text="into the file system", owner="server", direction=_IN, ports=fsx.LUSTRE_PORTS),
        _Way(text="out of the nodes", owner="client", direction=_OUT, ports=fsx.LUSTRE_PORTS),
        _Way(text="into the nodes", owner="client", direction=_IN, ports=fsx.LUSTRE_PORTS),
    ),
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html, 2026-10
    "EFA": tuple(
        _Way(text=text, owner=owner, direction=direction, ports=(ALL,), by_group=True)
        for text, owner, direction in (
            ("into the file system for EFA", "server", _IN),
            ("out of the file system for EFA", "server", _OUT),
            ("into the nodes for EFA", "client", _IN),
            ("out of the nodes for EFA", "client", _OUT),
        )
    ),
    "OPENZFS": (
        _Way(text="into the file system", owner="server", direction=_IN, ports=fsx.OPENZFS_PORTS),
        _Way(text="out of the nodes", owner="client", direction=_OUT, ports=fsx.OPENZFS_PORTS),
    ),
}


def _open(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    known = known_groups(look)
    for one, found in described(look):
        if isinstance(found, Unchecked):
            yield found
            continue
        if found is None or found["VpcId"] != look.vpc_id():
            continue
        if not interfaces_of(look, found):
            yield Unchecked(path=one.path, reason="AWS shows none of the file system's network interfaces")
            continue
        server = _server(look, found, known)
        mounting = [one_of for one_of in places.placements(look.spec) if one_of.path in one.group_paths]
        for placement in {one_of.security_group_ids: one_of for one_of in mounting}.values():
            ends = {"server": server, "client": _client(look, placement, known)}
            for way in _ways(found, [each for each in mounting if _alike(each, placement)]):
                yield from _shut(rule, one.path, one.file_system_id, way, ends)


def _alike(one: Placement, other: Placement) -> bool:
    return one.security_group_ids == other.security_group_ids


def _ways(file_system: Item, placements: Sequence[Placement]) -> Sequence[_Way]:
    ways = _WAYS.get(file_system["FileSystemType"], ())
    efa = file_system.get("LustreConfiguration", {}).get("EfaEnabled")
    if efa and any(has_efa(placement.group) for placement in placements):
        return (*ways, *_WAYS["EFA"])
    return ways


def _shut(
    rule: Rule, path: str, file_system_id: str, way: _Way, ends: dict[str, _End]
) -> Iterator[Finding | Unchecked]:
    owner = ends[way.owner]
    peer = ends["client" if way.owner == "server" else "server"].peer
    if way.by_group:
        peer = replace(peer, ranges=())
    rules = rules_of(owner.groups, way.direction)
    try:
        shut = [ports for ports in way.ports if not lets(rules, ports, peer)]
    except PrefixListError:
        yield Unchecked(
            path=path, reason="rules of its security groups are for prefix lists, not looked into"
        )
        return
    if shut:
        groups = ", ".join(group["GroupId"] for group in owner.groups)
        yield rule.finding(
            path,
            f"is shut {way.text} at {', '.join(map(_shown, shut))} by {groups or 'no security group'}",
            given=file_system_id,
        )


def _server(look: Look, file_system: Item, known: dict[str, Item]) -> _End:
    interfaces = interfaces_of(look, file_system)
    ids = dict.fromkeys(group["GroupId"] for one in interfaces for group in one.get("Groups", ()))
    ranges = tuple(f"{one['PrivateIpAddress']}/32" for one in interfaces if one.get("PrivateIpAddress"))
    return _End(
        groups=[known[one] for one in ids if one in known], peer=Peer(group_ids=tuple(ids), ranges=ranges)
    )


def _client(look: Look, placement: Placement, known: dict[str, Item]) -> _End:
    subnets = look.subnets()
    ids = placement.security_group_ids
    ranges = tuple(subnets[one]["CidrBlock"] for one in placement.subnet_ids if one in subnets)
    return _End(groups=[known[one] for one in ids if one in known], peer=Peer(group_ids=ids, ranges=ranges))


def _shown(ports: Ports) -> str:
    if ports == ALL:
        return "all ports"
    protocol, first, last = ports
    return f"{protocol} {first}" if first == last else f"{protocol} {first}-{last}"


def _needed(spec: HyperPodSpec) -> bool:
    return (
        has_file_systems(spec)
        and spec.network.existing is not None
        and any(one.group_paths for one in named(spec))
    )


CHECKS = (
    Check(
        name="file-system-ports",
        rule=Rule(
            code="HP943",
            title="a file system that nodes can not reach",
            why="mounting hangs, and the node fails",
            fix="open the ports between the nodes' security groups and the file system's; the stack changes "
            "nothing of an existing one",
            source="https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html",
        ),
        apis=(
            *(apis.DESCRIBE_FILE_SYSTEMS, apis.DESCRIBE_NETWORK_INTERFACES, apis.DESCRIBE_SECURITY_GROUPS),
            apis.DESCRIBE_SUBNETS,
        ),
        asks=lambda look: [
            *ask_file_systems(look),
            *(apis.DESCRIBE_NETWORK_INTERFACES(), groups_call(look), look.subnets_call()),
        ],
        needed=_needed,
        find=_open,
    ),
)
