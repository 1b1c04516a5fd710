"""What a Lustre file system has where its spec leaves a choice."""

from typing import Any

import pytest

from hyperpod_cdk.spec import (
    LustreDeploymentType,
    LustreDriveCache,
    LustreFileSystem,
    LustreMetadata,
    LustreMetadataMode,
    LustreReadCache,
    LustreReadCacheSizingMode,
    LustreStorageType,
)
from hyperpod_cdk.storage.lustre_defaults import is_persistent, with_defaults

HDD: dict[str, Any] = {
    "deployment_type": LustreDeploymentType.PERSISTENT_1,
    "storage_type": LustreStorageType.HDD,
}
TIERING: dict[str, Any] = {"storage_type": LustreStorageType.INTELLIGENT_TIERING}


@pytest.mark.parametrize(
    ("given", "capacity", "throughput"),
    [
        ({}, 1200, 125),
        ({"deployment_type": LustreDeploymentType.PERSISTENT_1}, 1200, 50),
        ({"deployment_type": LustreDeploymentType.SCRATCH_2}, 1200, None),
        (HDD, 6000, 12),
        (HDD | {"per_unit_storage_throughput": 40}, 1800, 40),
        ({"efa_enabled": True}, 38400, 125),
        ({"efa_enabled": True, "per_unit_storage_throughput": 1000}, 4800, 1000),
        (TIERING, None, None),
        (TIERING | {"efa_enabled": True}, None, None),
        ({"capacity_gib": 4800, "per_unit_storage_throughput": 500}, 4800, 500),
    ],
)
def test_capacity_and_throughput(given: dict[str, Any], capacity: int | None, throughput: int | None) -> None:
    made = with_defaults(LustreFileSystem(**given))
    assert made.capacity_gib == capacity
    assert made.per_unit_storage_throughput == throughput


@pytest.mark.parametrize(
    ("given", "metadata"),
    [
        ({}, LustreMetadata()),
        ({"file_system_type_version": "2.12"}, None),
        ({"deployment_type": LustreDeploymentType.PERSISTENT_1}, None),
        ({"deployment_type": LustreDeploymentType.SCRATCH_2}, None),
        (TIERING, LustreMetadata(mode=LustreMetadataMode.USER_PROVISIONED, iops=6000)),
        (
            {"metadata": LustreMetadata(mode=LustreMetadataMode.USER_PROVISIONED, iops=12000)},
            LustreMetadata(mode=LustreMetadataMode.USER_PROVISIONED, iops=12000),
        ),
    ],
)
def test_metadata(given: dict[str, Any], metadata: LustreMetadata | None) -> None:
    assert with_defaults(LustreFileSystem(**given)).metadata == metadata


def test_tiering_has_throughput_of_its_own_and_a_cache() -> None:
    made = with_defaults(LustreFileSystem(**TIERING))
    assert made.throughput_capacity == 4000
    assert made.read_cache == LustreReadCache(sizing_mode=LustreReadCacheSizingMode.PROPORTIONAL)
    plain = with_defaults(LustreFileSystem())
    assert plain.throughput_capacity is None
    assert plain.read_cache is None


def test_only_disks_have_a_drive_cache() -> None:
    assert with_defaults(LustreFileSystem(**HDD)).drive_cache_type is LustreDriveCache.NONE
    assert with_defaults(LustreFileSystem()).drive_cache_type is None


@pytest.mark.parametrize("deployment_type", list(LustreDeploymentType))
def test_scratch_is_not_persistent(deployment_type: LustreDeploymentType) -> None:
    made = LustreFileSystem(deployment_type=deployment_type)
    assert is_persistent(made) == deployment_type.value.startswith("PERSISTENT")
