"""HP943: whether nodes and an existing file system let one another through."""

from collections.abc import Iterator
from dataclasses import dataclass

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
from hyperpod_cdk.preflight.security_groups import groups_call, known_groups
from hyperpod_cdk.preflight.traffic import Peer, Ports, PrefixListError, lets, rules_of
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


_IN, _OUT = "IpPermissions", "IpPermissionsEgress"
_WAYS = {
    "LUSTRE": (
        _Way(text="into the file system", owner="server", direction=_IN, ports=fsx.LUSTRE_PORTS),
        _Way(text="out of the nodes", owner="client", direction=_OUT, ports=fsx.LUSTRE_PORTS),
        _Way(text="into the nodes", owner="client", direction=_IN, ports=fsx.LUSTRE_PORTS),
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
        server = _server(look, found, known)
        clients = {
            placement.security_group_ids: _client(look, placement, known)
            for placement in places.placements(look.spec)
            if placement.path in one.group_paths
        }
        for client in clients.values():
            for way in _WAYS.get(found["FileSystemType"], ()):
                yield from _shut(
                    rule, one.path, one.file_system_id, way, {"server": server, "client": client}
                )


def _shut(
    rule: Rule, path: str, file_system_id: str, way: _Way, ends: dict[str, _End]
) -> Iterator[Finding | Unchecked]:
    owner = ends[way.owner]
    other = ends["client" if way.owner == "server" else "server"]
    try:
        shut = [
            ports for ports in way.ports if not lets(rules_of(owner.groups, way.direction), ports, other.peer)
        ]
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
