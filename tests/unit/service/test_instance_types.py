"""The catalogue against what AWS publishes."""

import gzip
import json
from dataclasses import fields
from importlib.resources import files
from typing import Any

import pytest

from hyperpod_cdk.service.instance_types import InstanceType, catalogue, find
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
    assert gb200.vcpus is None
    assert gb200.efa_interfaces is None
    assert gb200.network_cards == 17


def test_lookup() -> None:
    p5 = find("ml.p5.48xlarge")
    assert p5 is not None
    assert (p5.accelerators, p5.accelerator, p5.efa_interfaces) == (8, "NVIDIA H100", 32)
    assert find("p5.48xlarge") is None
    assert {field.name for field in fields(InstanceType)} >= {"source", "date"}


def _tuple(values: list[int] | None) -> tuple[int, ...] | None:
    return None if values is None else tuple(values)
