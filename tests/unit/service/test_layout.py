"""Where subnets lie."""

import ipaddress
from itertools import combinations

import pytest

from hyperpod_cdk.service.layout import lay_out
from hyperpod_cdk.service.subnets import RESERVED, SPARE

ZONES = ["usw2-az4", "usw2-az1", "usw2-az2", "usw2-az3"]


def usable(cidr: str) -> int:
    """Addresses of a subnet that nodes can take."""
    return ipaddress.IPv4Network(cidr).num_addresses - RESERVED


def test_a_zone_takes_a_quarter_whatever_the_groups_need() -> None:
    small = lay_out("10.0.0.0/16", ZONES[:1], {})
    large = lay_out("10.0.0.0/16", ZONES[:1], {"usw2-az4": 16 * 32})
    assert small == large
    assert small.private == {"usw2-az4": "10.0.0.0/18"}


def test_a_further_zone_moves_no_subnet() -> None:
    one = lay_out("10.0.0.0/16", ZONES[:1], {})
    three = lay_out("10.0.0.0/16", ZONES[:3], {})
    assert three.private["usw2-az4"] == one.private["usw2-az4"]
    assert three.public["usw2-az4"] == one.public["usw2-az4"]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("cidr", ["10.0.0.0/16", "172.31.0.0/20", "192.168.7.0/24"])
def test_subnets_lie_in_the_vpc_and_apart(cidr: str, count: int) -> None:
    layout = lay_out(cidr, ZONES[:count], {})
    subnets = [ipaddress.IPv4Network(text) for text in (*layout.private.values(), *layout.public.values())]
    assert len(subnets) == 2 * count
    assert all(subnet.subnet_of(ipaddress.IPv4Network(cidr)) for subnet in subnets)
    assert not any(one.overlaps(other) for one, other in combinations(subnets, 2))


def test_a_zone_with_many_nodes_gets_the_room_of_the_others() -> None:
    layout = lay_out("10.0.0.0/16", ZONES[:2], {"usw2-az1": 1000 * 32})
    assert usable(layout.private["usw2-az1"]) >= 1000 * 32
    assert usable(layout.private["usw2-az4"]) > usable("10.0.0.0/20")
    assert not ipaddress.IPv4Network(layout.private["usw2-az1"]).overlaps(
        ipaddress.IPv4Network(layout.private["usw2-az4"])
    )


@pytest.mark.parametrize(
    ("addresses", "prefix"),
    [(64 - RESERVED - SPARE, 26), (64 - RESERVED - SPARE + 1, 25), (91, 25), (92, 24)],
)
def test_a_small_vpc_is_divided_by_need(addresses: int, prefix: int) -> None:
    layout = lay_out("10.0.0.0/24", ZONES[:1], {"usw2-az4": addresses})
    if prefix == 24:
        assert "too small" in layout.faults[0]
        assert "/23" in layout.faults[0]
    else:
        assert layout.private["usw2-az4"] == f"10.0.0.0/{prefix}"


@pytest.mark.parametrize(
    ("cidr", "said"),
    [
        ("10.0.0.0/15", "/16 to /28"),
        ("10.0.0.0/29", "/16 to /28"),
        ("10.0.0.1/16", "first"),
        ("fd00::/56", "IPv4"),
        ("${Token[x.1]}", "IPv4"),
        ("10.0.0.0/28", "too small"),
    ],
)
def test_a_wrong_range_is_said(cidr: str, said: str) -> None:
    layout = lay_out(cidr, ZONES[:1], {})
    assert not layout.private
    assert said in layout.faults[0]
    assert cidr in layout.faults[0]
