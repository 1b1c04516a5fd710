"""Addresses of a node."""

import pytest

from hyperpod_cdk.service.addresses import addresses_per_node


@pytest.mark.parametrize(
    ("instance_type", "addresses"),
    [
        ("ml.p5.48xlarge", 32),
        ("ml.p5.4xlarge", 1),
        ("ml.p4d.24xlarge", 4),
        ("ml.p6-b300.48xlarge", 17),
        ("ml.c5.xlarge", 1),
        ("ml.not-yet-born.48xlarge", 1),
    ],
)
def test_one_address_a_network_card(instance_type: str, addresses: int) -> None:
    assert addresses_per_node(instance_type) == addresses
