"""Addresses of nodes."""

import pytest

from hyperpod_cdk.service.addresses import addresses_of_nodes, addresses_per_node
from hyperpod_cdk.service.instance_types import Orchestration


@pytest.mark.parametrize(
    ("instance_type", "on_slurm", "on_eks"),
    [
        # both figures of the documentation
        ("ml.p5.48xlarge", 32, 81),
        ("ml.p5.4xlarge", 1, 30),
        ("ml.p4d.24xlarge", 4, 53),
        ("ml.p6-b300.48xlarge", 17, 66),
        ("ml.c5.xlarge", 1, 15),
        ("ml.not-yet-born.48xlarge", 1, 1),
    ],
)
def test_addresses_of_a_node(instance_type: str, on_slurm: int, on_eks: int) -> None:
    assert addresses_per_node(instance_type) == on_slurm
    assert addresses_per_node(instance_type, Orchestration.EKS) == on_eks


@pytest.mark.parametrize(
    ("nodes", "addresses"),
    [
        ([], 0),
        ([(["ml.p5.48xlarge"], 0)], 0),
        ([(["ml.c5.xlarge"], 1)], 2),
        ([(["ml.p5.48xlarge"], 4), (["ml.c5.xlarge"], 2)], 4 * 32 + 2 + 32),
        ([(["ml.c5.xlarge", "ml.p5.48xlarge"], 1)], 32 + 32),
    ],
)
def test_a_zone_has_room_for_one_node_more(nodes: list[tuple[list[str], int]], addresses: int) -> None:
    assert addresses_of_nodes(nodes) == addresses


def test_pods_take_addresses_too() -> None:
    assert addresses_of_nodes([(["ml.p5.48xlarge"], 2)], Orchestration.EKS) == 3 * 81
