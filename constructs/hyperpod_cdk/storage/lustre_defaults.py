"""What an FSx for Lustre file system has where its spec leaves a choice."""

from dataclasses import replace

from hyperpod_cdk.service import fsx
from hyperpod_cdk.spec import (
    LustreDeploymentType,
    LustreDriveCache,
    LustreFileSystem,
    LustreMetadata,
    LustreMetadataMode,
    LustreReadCache,
    LustreStorageType,
)

TIERING = LustreStorageType.INTELLIGENT_TIERING
PERSISTENT = (LustreDeploymentType.PERSISTENT_1, LustreDeploymentType.PERSISTENT_2)
SMALLEST_SSD_GIB = 1200
"""Every SSD deployment type takes it (`fsx.LUSTRE_CAPACITY`)."""


def with_defaults(given: LustreFileSystem) -> LustreFileSystem:
    """The same file system with every choice made, as the fields of the spec say; pure."""
    throughput = given.per_unit_storage_throughput
    if throughput is None:
        throughput = _throughput(given)
    chosen = replace(given, per_unit_storage_throughput=throughput)
    return replace(
        chosen,
        capacity_gib=chosen.capacity_gib or _capacity(chosen),
        throughput_capacity=chosen.throughput_capacity or _tiering_throughput(chosen),
        metadata=chosen.metadata or _metadata(chosen),
        read_cache=chosen.read_cache or _read_cache(chosen),
        drive_cache_type=chosen.drive_cache_type or _drive_cache(chosen),
    )


def is_persistent(given: LustreFileSystem) -> bool:
    """Whether it outlives its servers; only then it has backups and may have a key of its own."""
    return given.deployment_type in PERSISTENT


def _throughput(given: LustreFileSystem) -> int | None:
    values = fsx.LUSTRE_THROUGHPUT.get((given.deployment_type, given.storage_type), ())
    return values[0] if values else None


def _capacity(given: LustreFileSystem) -> int | None:
    if given.storage_type is TIERING:
        return None
    tables = {
        (LustreStorageType.HDD, False): fsx.LUSTRE_HDD_CAPACITY,
        (LustreStorageType.SSD, True): fsx.LUSTRE_EFA_CAPACITY,
    }
    table = tables.get((given.storage_type, given.efa_enabled), {})
    steps = table.get(given.per_unit_storage_throughput or 0)
    return steps.step if steps else SMALLEST_SSD_GIB


def _tiering_throughput(given: LustreFileSystem) -> int | None:
    return fsx.LUSTRE_TIERING_THROUGHPUT.step if given.storage_type is TIERING else None


def _metadata(given: LustreFileSystem) -> LustreMetadata | None:
    if given.file_system_type_version != fsx.LUSTRE_METADATA_VERSION:
        return None
    if given.storage_type is TIERING:
        iops = fsx.LUSTRE_TIERING_IOPS[0]
        return LustreMetadata(mode=LustreMetadataMode.USER_PROVISIONED, iops=iops)
    if given.deployment_type is LustreDeploymentType.PERSISTENT_2:
        return LustreMetadata()
    return None


def _read_cache(given: LustreFileSystem) -> LustreReadCache | None:
    return LustreReadCache() if given.storage_type is TIERING else None


def _drive_cache(given: LustreFileSystem) -> LustreDriveCache | None:
    return LustreDriveCache.NONE if given.storage_type is LustreStorageType.HDD else None
