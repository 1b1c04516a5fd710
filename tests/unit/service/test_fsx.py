"""Tables of FSx, against each other and the API's enums."""

import pytest

from hyperpod_cdk.service import fsx
from hyperpod_cdk.service.fsx import Steps
from hyperpod_cdk.service.shapes import shape
from hyperpod_cdk.spec import LustreDeploymentType, LustreStorageType, OpenZfsDeploymentType

SSD = Steps(singles=(1200,), step=2400)
SCRATCH_1 = Steps(singles=(1200, 2400), step=3600)
METADATA = fsx.LUSTRE_METADATA_IOPS[LustreStorageType.SSD]
TIERING = fsx.LUSTRE_TIERING_THROUGHPUT


@pytest.mark.parametrize(
    ("steps", "value", "valid", "nearest"),
    [
        (SSD, 0, False, (1200,)),
        (SSD, 1200, True, (1200, 2400)),
        (SSD, 1800, False, (1200, 2400)),
        (SSD, 2400, True, (2400, 4800)),
        (SSD, 3600, False, (2400, 4800)),
        (SCRATCH_1, 3000, False, (2400, 3600)),
        (SCRATCH_1, 3600, True, (3600, 7200)),
        (SCRATCH_1, 4800, False, (3600, 7200)),
        (METADATA, 1000, False, (1500,)),
        (METADATA, 7000, False, (6000, 12000)),
        (METADATA, 192_000, True, (192_000,)),
        (METADATA, 204_000, False, (192_000,)),
        (TIERING, 1000, True, (1000, 2000)),
        (TIERING, 3000, False, (2000, 4000)),
        (TIERING, 2_004_000, False, (2_000_000,)),
        (Steps(step=6000), -1, False, (6000,)),
    ],
)
def test_steps(steps: Steps, value: int, valid: bool, nearest: tuple[int, ...]) -> None:
    assert (value in steps) is valid
    assert steps.nearest(value) == nearest


def test_steps_in_words() -> None:
    assert str(SCRATCH_1) == "1200, 2400 or a multiple of 3600"
    assert str(fsx.LUSTRE_TIERING_THROUGHPUT) == "1000, 2000 or a multiple of 4000 up to 2000000"


def test_tables_cover_every_kind() -> None:
    assert {deployment for deployment, _ in fsx.LUSTRE_THROUGHPUT} == set(LustreDeploymentType)
    assert set(fsx.LUSTRE_VERSIONS) == set(LustreDeploymentType)
    assert set(fsx.OPENZFS_THROUGHPUT) == set(fsx.OPENZFS_ADDRESSES) == set(OpenZfsDeploymentType)


def test_each_tier_has_its_capacities() -> None:
    tiers = fsx.LUSTRE_THROUGHPUT
    hdd = tiers[LustreDeploymentType.PERSISTENT_1, LustreStorageType.HDD]
    ssd = tiers[LustreDeploymentType.PERSISTENT_2, LustreStorageType.SSD]
    assert set(fsx.LUSTRE_HDD_CAPACITY) == set(hdd)
    assert set(fsx.LUSTRE_EFA_CAPACITY) == set(ssd)
    without_hdd = {key for key in tiers if key[1] == LustreStorageType.SSD}
    assert set(fsx.LUSTRE_CAPACITY) == without_hdd


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("LustreDeploymentType", LustreDeploymentType),
        ("StorageType", LustreStorageType),
        ("OpenZFSDeploymentType", OpenZfsDeploymentType),
    ],
)
def test_kinds_are_those_of_the_api(name: str, kinds: type[LustreStorageType]) -> None:
    assert set(kinds) == set(shape("fsx", name).values)


def test_tables_lie_within_the_limits_of_the_api() -> None:
    throughput = shape("fsx", "PerUnitStorageThroughput")
    given = [tier for tiers in fsx.LUSTRE_THROUGHPUT.values() for tier in tiers]
    assert (min(given), max(given)) == (throughput.minimum, throughput.maximum)
    assert METADATA.maximum == shape("fsx", "MetadataIops").maximum
    assert fsx.LUSTRE_TIERING_THROUGHPUT.maximum == shape("fsx", "ThroughputCapacityMbps").maximum
