"""The catalogue against what AWS publishes."""

import gzip
import json
from dataclasses import fields
from importlib.resources import files
from typing import Any

import pytest

from hyperpod_cdk.service.instance_types import InstanceType, Orchestration, catalogue, find
from hyperpod_cdk.service.shapes import shape

# EC2's figure for the memory of Trainium2 is not the product's; it is left out of the catalogue
UNSURE_MEMORY = {"ml.trn2.3xlarge", "ml.trn2.48xlarge"}


@pytest.fixture(scope="module")
def ec2() -> dict[str, Any]:
    """DescribeInstanceTypes, as recorded by moto."""
    packed = files("moto.ec2").joinpath("resources", "instance_types.json.gz").read_bytes()
    recorded: dict[str, Any] = json.loads(gzip.decompress(packed))
    return recorded


def test_names_are_those_of_the_api() -> None:
    assert set(catalogue()) == set(shape("sagemaker", "ClusterInstanceType").values)


def test_each_row_has_source_and_date() -> None:
    for known in catalogue().values():
        assert known.source
        assert known.date.startswith("2026-")


def test_rows_agree_with_ec2(ec2: dict[str, Any]) -> None:
    compared = 0
    for name, known in catalogue().items():
        facts = ec2.get(name.removeprefix("ml."))
        if facts is None:
            continue
        network = facts["NetworkInfo"]
        assert known.vcpus == facts["VCpuInfo"]["DefaultVCpus"], name
        assert known.threads_per_core == _tuple(facts["VCpuInfo"].get("ValidThreadsPerCore")), name
        assert known.memory_gib == facts["MemoryInfo"]["SizeInMiB"] / 1024, name
        assert [known.architecture] == facts["ProcessorInfo"]["SupportedArchitectures"], name
        assert known.efa_interfaces == network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0), name
        assert known.network_cards == network["MaximumNetworkCards"], name
        assert known.network_interfaces == network["MaximumNetworkInterfaces"], name
        assert known.addresses_per_interface == network["Ipv4AddressesPerInterface"], name
        compared += 1
    assert compared == len(catalogue()) - 1, "only ml.p6e-gb200.36xlarge has another source"


def test_accelerators_agree_with_ec2(ec2: dict[str, Any]) -> None:
    for name, known in catalogue().items():
        facts = ec2.get(name.removeprefix("ml."), {})
        devices = facts.get("GpuInfo", {}).get("Gpus") or facts.get("NeuronInfo", {}).get("NeuronDevices")
        if devices:
            (device,) = devices
            assert known.accelerators == device["Count"], name
            assert (known.accelerator or "").endswith(device["Name"]), name
            wanted = None if name in UNSURE_MEMORY else device["MemoryInfo"]["SizeInMiB"]
            assert known.accelerator_memory_mib == wanted, name
        elif facts:
            assert known.accelerators == 0, name
            assert known.accelerator is None, name


def test_unknown_facts_are_absent() -> None:
    gb200 = find("ml.p6e-gb200.36xlarge")
    assert gb200 is not None
    assert gb200.threads_per_core is None
    assert gb200.efa_interfaces is None
    assert (gb200.vcpus, gb200.accelerators, gb200.network_cards) == (144, 4, 17)


# network cards, interfaces, addresses of each: https://docs.aws.amazon.com/ec2/latest/instancetypes/ac.html
@pytest.mark.parametrize(
    ("name", "cards", "interfaces", "addresses"),
    [
        ("p4d.24xlarge", 4, 60, 50),
        ("p4de.24xlarge", 4, 60, 50),
        ("p5.48xlarge", 32, 64, 50),
        ("p5e.48xlarge", 32, 64, 50),
        ("p5.4xlarge", 1, 4, 30),
        ("p5en.48xlarge", 16, 64, 50),
        ("p6-b200.48xlarge", 8, 32, 50),
        ("p6-b300.48xlarge", 17, 68, 50),
        ("p6e-gb200.36xlarge", 17, 39, 50),
        ("trn1.32xlarge", 8, 40, 50),
        ("trn1n.32xlarge", 16, 80, 50),
        ("trn2.48xlarge", 16, 32, 50),
        ("trn2.3xlarge", 1, 2, 15),
        ("g6e.48xlarge", 4, 40, 50),
        ("g7e.48xlarge", 4, 40, 64),
    ],
)
def test_networks_agree_with_ec2s_page(name: str, cards: int, interfaces: int, addresses: int) -> None:
    known = catalogue()[f"ml.{name}"]
    found = (known.network_cards, known.network_interfaces, known.addresses_per_interface)
    assert found == (cards, interfaces, addresses)


def test_deep_health_checks_are_for_accelerators() -> None:
    for known in catalogue().values():
        gpu = (known.accelerator or "").startswith("NVIDIA")
        assert (Orchestration.SLURM in known.deep_health_checks) is gpu, known.name
        assert (Orchestration.EKS in known.deep_health_checks) is (known.accelerator is not None), known.name


def test_lookup() -> None:
    p5 = find("ml.p5.48xlarge")
    assert p5 is not None
    assert (p5.accelerators, p5.accelerator, p5.efa_interfaces) == (8, "NVIDIA H100", 32)
    assert find("p5.48xlarge") is None
    assert {field.name for field in fields(InstanceType)} >= {"source", "date"}


def _tuple(values: list[int] | None) -> tuple[int, ...] | None:
    return None if values is None else tuple(values)
