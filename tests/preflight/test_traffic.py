"""What security groups let through."""

from typing import Any

import pytest

from hyperpod_cdk.preflight.traffic import ALL, Peer, Ports, PrefixListError, lets

NODES = Peer(group_ids=("sg-1",), ranges=("10.0.0.0/24",))
LUSTRE: Ports = ("tcp", 1018, 1023)


def rule(protocol: str = "tcp", first: int = 1018, last: int = 1023, **peers: Any) -> dict[str, Any]:
    ports = {} if protocol == "-1" else {"FromPort": first, "ToPort": last}
    return {"IpProtocol": protocol, **ports, **peers}


def group(group_id: str) -> dict[str, Any]:
    return {"UserIdGroupPairs": [{"GroupId": group_id}]}


def cidr(*ranges: str) -> dict[str, Any]:
    return {"IpRanges": [{"CidrIp": one} for one in ranges]}


@pytest.mark.parametrize(
    ("rules", "ports", "peer", "passes"),
    [
        ([], LUSTRE, NODES, False),
        ([rule(**group("sg-1"))], LUSTRE, NODES, True),
        ([rule(**group("sg-2"))], LUSTRE, NODES, False),
        ([rule("-1", **group("sg-1"))], LUSTRE, NODES, True),
        ([rule("-1", **group("sg-1"))], ALL, NODES, True),
        ([rule(first=0, last=65535, **group("sg-1"))], ALL, NODES, False),
        ([rule("udp", **group("sg-1"))], LUSTRE, NODES, False),
        ([rule(first=1019, **group("sg-1"))], LUSTRE, NODES, False),
        ([rule(last=1022, **group("sg-1"))], LUSTRE, NODES, False),
        ([rule(first=988, last=2049, **group("sg-1"))], LUSTRE, NODES, True),
        # one rule for a part of the ports, and another for the rest, is not looked for
        ([rule(last=1020, **group("sg-1")), rule(first=1021, **group("sg-1"))], LUSTRE, NODES, False),
        ([rule(**cidr("10.0.0.0/16"))], LUSTRE, NODES, True),
        ([rule(**cidr("10.0.0.0/25"))], LUSTRE, NODES, False),
        ([rule(**cidr("10.0.0.0/25", "0.0.0.0/0"))], LUSTRE, NODES, True),
        ([rule("-1", **cidr("0.0.0.0/0"))], ALL, Peer(group_ids=("sg-1",)), False),
        ([rule(**cidr("10.0.0.0/24"))], LUSTRE, Peer(ranges=("10.0.0.0/24", "10.0.1.0/24")), False),
    ],
)
def test_rules(rules: list[dict[str, Any]], ports: Ports, peer: Peer, passes: bool) -> None:
    assert lets(rules, ports, peer) is passes


def test_prefix_lists_are_not_known() -> None:
    through_list = rule(PrefixListIds=[{"PrefixListId": "pl-1"}])
    with pytest.raises(PrefixListError):
        lets([through_list], LUSTRE, NODES)
    assert lets([through_list, rule(**group("sg-1"))], LUSTRE, NODES)
    assert not lets([rule("udp", PrefixListIds=[{"PrefixListId": "pl-1"}])], LUSTRE, NODES)
