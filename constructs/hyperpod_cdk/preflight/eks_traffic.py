"""HP979: whether nodes and an existing control plane let one another through."""

from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.eks_existing import control_plane, control_plane_call, has_control_plane
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.preflight.security_groups import groups_call, known_groups
from hyperpod_cdk.preflight.traffic import Peer, Ports, PrefixListError, lets, rules_of
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.service.eks import API_PORT, KUBELET_PORT
from hyperpod_cdk.spec import HyperPodSpec

_IN, _OUT = "IpPermissions", "IpPermissionsEgress"


@dataclass(frozen=True, kw_only=True)
class _End:
    """One side: its security groups, and how the other side knows it."""

    ids: tuple[str, ...]
    groups: list[Item]
    ranges: tuple[str, ...]

    def lets(self, way: str, ports: Ports, other: "_End") -> bool:
        """Whether its rules let the other side through."""
        return lets(rules_of(self.groups, way), ports, Peer(group_ids=other.ids, ranges=other.ranges))


def _subnets_call(look: Look) -> Call:
    # all of the VPC: the control plane's own are another answer
    return apis.DESCRIBE_SUBNETS(Filters=look.in_vpc())


def _open(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    found = control_plane(look)
    if found is None or found["resourcesVpcConfig"]["vpcId"] != look.vpc_id():
        return
    known, cidrs = known_groups(look), _cidrs(look)
    vpc = found["resourcesVpcConfig"]
    ids = (vpc["clusterSecurityGroupId"], *vpc.get("securityGroupIds", ()))
    plane = _end(ids, tuple(vpc["subnetIds"]), known, cidrs)
    placements = {one.security_group_ids: one for one in places.placements(look.spec)}
    for placement in placements.values():
        nodes = _end(placement.security_group_ids, placement.subnet_ids, known, cidrs)
        if len(nodes.groups) < len(nodes.ids):
            continue  # of which another check tells
        try:
            for text in _shut(plane, nodes, private=vpc.get("endpointPrivateAccess", False)):
                yield rule.finding(
                    "network.existing.security_group_ids", text, given=", ".join(nodes.ids) or None
                )
        except PrefixListError:
            reason = "rules of the security groups are for prefix lists, not looked into"
            yield Unchecked(path="network.existing.security_group_ids", reason=reason)


def _shut(plane: _End, nodes: _End, *, private: bool) -> Iterator[str]:
    of_plane = ", ".join(plane.ids)
    # else nodes reach it by the internet, whose ways are other checks'
    if private and not plane.lets(_IN, API_PORT, nodes):
        yield f"are not let in by {of_plane} at tcp 443"
    if private and not nodes.lets(_OUT, API_PORT, plane):
        yield f"do not let out to {of_plane} at tcp 443"
    if not nodes.lets(_IN, KUBELET_PORT, plane):
        yield f"do not let {of_plane} in at tcp 10250"


def _end(
    ids: tuple[str, ...], subnet_ids: tuple[str, ...], known: dict[str, Item], cidrs: dict[str, str]
) -> _End:
    return _End(
        ids=ids,
        groups=[known[one] for one in ids if one in known],
        ranges=tuple(cidrs[one] for one in subnet_ids if one in cidrs),
    )


def _cidrs(look: Look) -> dict[str, str]:
    return {one["SubnetId"]: one["CidrBlock"] for one in look.aws.answer(_subnets_call(look))}


def _needed(spec: HyperPodSpec) -> bool:
    return has_control_plane(spec) and bool(places.security_groups(spec))


CHECKS = (
    Check(
        name="eks-traffic",
        rule=Rule(
            code="HP979",
            title="nodes and a control plane that do not reach one another",
            why="nodes come up and never join, or nobody sees logs of their pods",
            fix="open tcp 443 from the nodes' security groups to the control plane's, and tcp 10250 back; "
            "the stack changes nothing of an existing control plane",
            source="https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html",
        ),
        apis=(apis.DESCRIBE_CONTROL_PLANE, apis.DESCRIBE_SECURITY_GROUPS, apis.DESCRIBE_SUBNETS),
        asks=lambda look: [control_plane_call(look), groups_call(look), _subnets_call(look)],
        needed=_needed,
        find=_open,
    ),
)
