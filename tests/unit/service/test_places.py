"""Zones, subnets, log retention."""

import gzip
import json
from importlib.resources import files

import pytest

from hyperpod_cdk.service import subnets
from hyperpod_cdk.service.log_retention import RETENTION_DAYS
from hyperpod_cdk.service.shapes import shape
from hyperpod_cdk.service.zones import is_zone_id, is_zone_name, prefix_of, zone_prefix


def test_zone_ids_of_all_recorded_regions() -> None:
    folder = files("moto.ec2").joinpath("resources", "instance_type_offerings", "availability-zone-id")
    seen = set()
    for file in folder.iterdir():
        content = file.read_bytes()
        text = gzip.decompress(content) if file.name.endswith(".gz") else content
        region = file.name.partition(".")[0]
        for zone in {row["Location"] for row in json.loads(text)}:
            assert is_zone_id(zone)
            assert prefix_of(zone) == zone_prefix(region), zone
            seen.add(zone)
    assert len(seen) > 90


@pytest.mark.parametrize(
    ("region", "prefix"),
    [
        ("us-gov-west-1", "usgw1"),
        ("cn-northwest-1", "cnnw1"),
        ("mx-central-1", "mxc1"),
        ("us-moon-1", None),
        ("Oregon", None),
        ("us-west", None),
        ("", None),
    ],
)
def test_prefix_of_a_region(region: str, prefix: str | None) -> None:
    assert zone_prefix(region) == prefix


@pytest.mark.parametrize("name", ["us-west-2a", "us-gov-east-1c"])
def test_zone_names_are_no_ids(name: str) -> None:
    assert is_zone_name(name)
    assert not is_zone_id(name)
    assert prefix_of(name) is None


@pytest.mark.parametrize(
    ("addresses", "prefix"), [(0, 28), (1, 26), (27, 26), (28, 25), (512, 22), (65_499, 16), (65_500, 15)]
)
def test_smallest_subnet(addresses: int, prefix: int) -> None:
    assert subnets.prefix_for(addresses) == prefix
    if addresses:
        assert subnets.size(prefix) >= addresses + subnets.RESERVED + subnets.SPARE


def test_ranges() -> None:
    assert subnets.as_network("10.0.0.1/16") is None
    assert subnets.mended("10.0.0.1/16") == "10.0.0.0/16"
    assert subnets.mended("ten") is None


def test_retention_is_ascending() -> None:
    assert list(RETENTION_DAYS) == sorted(set(RETENTION_DAYS))


def test_shapes_know_limits_items_and_members() -> None:
    name = shape("sagemaker", "ClusterName")
    assert (name.minimum, name.maximum) == (1, 63)
    assert name.pattern is not None
    assert name.pattern.fullmatch("a-b")
    tag = shape("sagemaker", "TagValue").pattern
    assert tag is not None
    assert tag.fullmatch("Größe 1")
    assert not tag.fullmatch("tab\t")
    assert shape("sagemaker", "Subnets").item == "SubnetId"
    assert shape("sagemaker", "VpcConfig").members["Subnets"] == "Subnets"
