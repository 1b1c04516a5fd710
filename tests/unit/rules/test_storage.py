"""Rules of file systems and mounts (HP3xx)."""

from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.spec import (
    DataRepositoryAssociation,
    ExistingFileSystem,
    LifeCycleConfig,
    LifecycleMode,
    LustreDeploymentType,
    LustreDriveCache,
    LustreFileSystem,
    LustreMetadata,
    LustreMetadataMode,
    LustreReadCache,
    LustreReadCacheSizingMode,
    LustreStorageType,
    Mount,
    OpenZfsDeploymentType,
    OpenZfsFileSystem,
)
from tests.unit.rules.specs import (
    LIST_TOKEN,
    NUMBER_TOKEN,
    REMOVED,
    TEXT_TOKEN,
    changed,
    findings,
    full_path,
)

SCRATCH_1 = {"scratch.deployment_type": LustreDeploymentType.SCRATCH_1}
SCRATCH_2 = {"scratch.deployment_type": LustreDeploymentType.SCRATCH_2}
PERSISTENT_1 = {"scratch.deployment_type": LustreDeploymentType.PERSISTENT_1}
HDD = {**PERSISTENT_1, "scratch.storage_type": LustreStorageType.HDD}
TIERING = {"scratch.storage_type": LustreStorageType.INTELLIGENT_TIERING}
EFA = {"scratch.efa_enabled": True}
USER_IOPS = LustreMetadata(mode=LustreMetadataMode.USER_PROVISIONED, iops=12000)
USER_CACHE = LustreReadCache(sizing_mode=LustreReadCacheSizingMode.USER_PROVISIONED, size_gib=32)
LUSTRE_DNS = "fs-0a1b2c3d4e5f60001.fsx.us-west-2.amazonaws.com"
EXISTING_LUSTRE = LustreFileSystem(existing=ExistingFileSystem(dns_name=LUSTRE_DNS, mount_name="abcdefgh"))
EXISTING_OPENZFS = OpenZfsFileSystem(existing=ExistingFileSystem(dns_name=LUSTRE_DNS))
CAPACITY, TIER, METADATA = "scratch.capacity_gib", "scratch.per_unit_storage_throughput", "scratch.metadata"
LINKS, CACHE, VERSION = (
    "scratch.data_repository_associations",
    "scratch.read_cache",
    "scratch.file_system_type_version",
)


def links(*pairs: tuple[str, str]) -> tuple[DataRepositoryAssociation, ...]:
    """Associations of pairs of S3 path and directory."""
    return tuple(
        DataRepositoryAssociation(data_repository_path=s3, file_system_path=directory)
        for s3, directory in pairs
    )


LUSTRE_ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP301", {CAPACITY: 1200}, []),
    ("HP301", {CAPACITY: 2400}, []),
    ("HP301", {CAPACITY: 3600}, [CAPACITY]),
    ("HP301", {CAPACITY: 1199}, [CAPACITY]),
    ("HP301", {CAPACITY: 0}, [CAPACITY]),
    ("HP301", {CAPACITY: NUMBER_TOKEN}, []),
    ("HP301", {CAPACITY: 3600, "scratch.deployment_type": TEXT_TOKEN}, []),
    ("HP301", {**SCRATCH_1, CAPACITY: 3600}, []),
    ("HP301", {**SCRATCH_1, CAPACITY: 4800}, [CAPACITY]),
    ("HP301", {**SCRATCH_2, CAPACITY: 4800}, []),
    ("HP301", {**HDD, CAPACITY: 6000}, []),
    ("HP301", {**HDD, CAPACITY: 1800}, [CAPACITY]),
    ("HP301", {**HDD, TIER: 40, CAPACITY: 1800}, []),
    ("HP301", {**EFA, CAPACITY: 38400}, []),
    ("HP301", {**EFA, CAPACITY: 19200}, [CAPACITY]),
    ("HP301", {**EFA, TIER: 250, CAPACITY: 19200}, []),
    ("HP301", {**EFA, TIER: 1000, CAPACITY: 4800}, []),
    ("HP301", {**EFA, TIER: 500, CAPACITY: 4800}, [CAPACITY]),
    ("HP301", {**TIERING, CAPACITY: 1200}, [CAPACITY]),
    ("HP301", TIERING, []),
    ("HP302", HDD, []),
    ("HP302", TIERING, []),
    ("HP302", {"scratch.storage_type": LustreStorageType.HDD}, ["scratch.storage_type"]),
    ("HP302", {**SCRATCH_2, **TIERING}, ["scratch.storage_type"]),
    ("HP302", {**SCRATCH_2, "scratch.storage_type": TEXT_TOKEN}, []),
    ("HP303", {TIER: 1000}, []),
    ("HP303", {TIER: 200}, [TIER]),
    ("HP303", {**PERSISTENT_1, TIER: 200}, []),
    ("HP303", {**PERSISTENT_1, TIER: 125}, [TIER]),
    ("HP303", {**HDD, TIER: 12}, []),
    ("HP303", {**HDD, TIER: 50}, [TIER]),
    ("HP303", {**SCRATCH_2, TIER: 200}, [TIER]),
    ("HP303", {**TIERING, TIER: 125}, [TIER]),
    ("HP303", {TIER: NUMBER_TOKEN}, []),
    ("HP304", {**TIERING, "scratch.throughput_capacity": 2_000_000}, []),
    ("HP304", {**TIERING, "scratch.throughput_capacity": 2_004_000}, ["scratch.throughput_capacity"]),
    ("HP304", {**TIERING, "scratch.throughput_capacity": 4000}, []),
    ("HP304", {**TIERING, "scratch.throughput_capacity": 4001}, ["scratch.throughput_capacity"]),
    ("HP304", {"scratch.throughput_capacity": 4000}, ["scratch.throughput_capacity"]),
    ("HP304", {**TIERING, "scratch.throughput_capacity": NUMBER_TOKEN}, []),
    ("HP305", {METADATA: LustreMetadata()}, []),
    ("HP305", {METADATA: USER_IOPS}, []),
    ("HP305", {METADATA: USER_IOPS, f"{METADATA}.iops": 192_000}, []),
    ("HP305", {METADATA: USER_IOPS, f"{METADATA}.iops": 204_000}, [f"{METADATA}.iops"]),
    ("HP305", {METADATA: USER_IOPS, f"{METADATA}.iops": 9000}, [f"{METADATA}.iops"]),
    ("HP305", {METADATA: USER_IOPS, f"{METADATA}.iops": None}, [f"{METADATA}.iops"]),
    ("HP305", {METADATA: USER_IOPS, f"{METADATA}.iops": NUMBER_TOKEN}, []),
    ("HP305", {METADATA: LustreMetadata(iops=6000)}, [f"{METADATA}.iops"]),
    ("HP305", {**TIERING, METADATA: USER_IOPS}, []),
    ("HP305", {**PERSISTENT_1, METADATA: USER_IOPS}, [METADATA]),
    ("HP305", {VERSION: "2.12", METADATA: USER_IOPS}, [VERSION]),
    ("HP305", {VERSION: TEXT_TOKEN, METADATA: USER_IOPS}, []),
    ("HP306", {**TIERING, CACHE: LustreReadCache()}, []),
    ("HP306", {CACHE: LustreReadCache()}, [CACHE]),
    ("HP306", {**TIERING, CACHE: USER_CACHE}, []),
    ("HP306", {**TIERING, CACHE: USER_CACHE, f"{CACHE}.size_gib": 31}, [f"{CACHE}.size_gib"]),
    ("HP306", {**TIERING, CACHE: USER_CACHE, f"{CACHE}.size_gib": 131_072}, []),
    ("HP306", {**TIERING, CACHE: USER_CACHE, f"{CACHE}.size_gib": 131_073}, [f"{CACHE}.size_gib"]),
    (
        "HP306",
        {
            **TIERING,
            CACHE: USER_CACHE,
            f"{CACHE}.size_gib": 131_073,
            "scratch.throughput_capacity": 8000,
        },
        [],
    ),
    ("HP306", {**TIERING, CACHE: USER_CACHE, f"{CACHE}.size_gib": None}, [f"{CACHE}.size_gib"]),
    ("HP306", {**TIERING, CACHE: LustreReadCache(size_gib=64)}, [f"{CACHE}.size_gib"]),
    ("HP306", {**TIERING, CACHE: USER_CACHE, f"{CACHE}.size_gib": NUMBER_TOKEN}, []),
    ("HP310", {VERSION: "2.12"}, []),
    ("HP310", {VERSION: "2.10"}, [VERSION]),
    ("HP310", {**SCRATCH_2, VERSION: "2.10"}, []),
    ("HP310", {VERSION: "2.16"}, [VERSION]),
    ("HP310", {**TIERING, VERSION: "2.12"}, [VERSION]),
    ("HP310", {VERSION: TEXT_TOKEN}, []),
    ("HP311", EFA, []),
    ("HP311", {**EFA, **PERSISTENT_1}, ["scratch.efa_enabled"]),
    ("HP311", {**EFA, VERSION: "2.12"}, ["scratch.efa_enabled"]),
    ("HP311", {**EFA, VERSION: TEXT_TOKEN}, []),
    ("HP312", {**HDD, "scratch.drive_cache_type": LustreDriveCache.READ}, []),
    ("HP312", {"scratch.drive_cache_type": LustreDriveCache.READ}, ["scratch.drive_cache_type"]),
    ("HP312", {"scratch.drive_cache_type": TEXT_TOKEN, "scratch.storage_type": TEXT_TOKEN}, []),
    ("HP313", {"scratch.automatic_backup_retention_days": 1}, []),
    (
        "HP313",
        {**SCRATCH_2, "scratch.automatic_backup_retention_days": 1},
        ["scratch.automatic_backup_retention_days"],
    ),
    (
        "HP313",
        {LINKS: links(("s3://b/p", "/p")), "scratch.automatic_backup_retention_days": 1},
        ["scratch.automatic_backup_retention_days"],
    ),
    ("HP313", {**SCRATCH_2, "scratch.automatic_backup_retention_days": NUMBER_TOKEN}, []),
    ("HP314", {LINKS: links(*[(f"s3://b{n}", f"/d{n}") for n in range(8)])}, []),
    ("HP314", {LINKS: links(*[(f"s3://b{n}", f"/d{n}") for n in range(9)])}, [LINKS]),
    ("HP314", {**SCRATCH_2, LINKS: links(("s3://b/p", "/p"))}, []),
    ("HP314", {**SCRATCH_1, LINKS: links(("s3://b/p", "/p"))}, ["scratch.deployment_type"]),
    ("HP314", {VERSION: "2.10", LINKS: links(("s3://b/p", "/p"))}, [VERSION]),
    ("HP314", {**TIERING, LINKS: links(("s3://b/p", "/p"))}, ["scratch.storage_type"]),
    ("HP314", {"scratch.deployment_type": TEXT_TOKEN, LINKS: links((TEXT_TOKEN, TEXT_TOKEN))}, []),
    ("HP315", {LINKS: links(("s3://bucket", "/"))}, []),
    ("HP315", {LINKS: links(("bucket/p", "/p"))}, [f"{LINKS}[0].data_repository_path"]),
    ("HP315", {LINKS: links(("s3://", "/p"))}, [f"{LINKS}[0].data_repository_path"]),
    ("HP315", {LINKS: links(("s3://bucket", "p"))}, [f"{LINKS}[0].file_system_path"]),
    ("HP315", {LINKS: links((TEXT_TOKEN, TEXT_TOKEN))}, []),
    ("HP315", {LINKS: links(("s3://Bucket_1/p", "/p"))}, [f"{LINKS}[0].data_repository_path"]),
    ("HP315", {LINKS: links((f"s3://{'b' * 63}/p", "/p"))}, []),
    ("HP315", {LINKS: links((f"s3://{'b' * 64}/p", "/p"))}, [f"{LINKS}[0].data_repository_path"]),
    ("HP316", {LINKS: links(("s3://b/a", "/a"), ("s3://b/ab", "/ab"))}, []),
    ("HP316", {LINKS: links(("s3://b/a", "/a"), ("s3://c/a", "/a/b"))}, [f"{LINKS}[1].file_system_path"]),
    (
        "HP316",
        {LINKS: links(("s3://b/a/b", "/x"), ("s3://b/a/", "/y"))},
        [f"{LINKS}[1].data_repository_path"],
    ),
    ("HP316", {LINKS: links(("s3://b", "/"), ("s3://c", "/y"))}, [f"{LINKS}[1].file_system_path"]),
    ("HP316", {LINKS: links((TEXT_TOKEN, "/x"), (TEXT_TOKEN, "/y"))}, []),
    ("HP317", {"scratch.kms_key_arn": "key"}, []),
    ("HP317", {**SCRATCH_2, "scratch.kms_key_arn": "key"}, ["scratch.kms_key_arn"]),
    ("HP317", {"scratch.deployment_type": TEXT_TOKEN, "scratch.kms_key_arn": TEXT_TOKEN}, []),
]

OTHER_ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP320", {"home.capacity_gib": 64}, []),
    ("HP320", {"home.capacity_gib": 63}, ["home.capacity_gib"]),
    ("HP320", {"home.capacity_gib": 524_288}, []),
    ("HP320", {"home.capacity_gib": 524_289}, ["home.capacity_gib"]),
    ("HP320", {"home.capacity_gib": NUMBER_TOKEN}, []),
    ("HP321", {"home.throughput_capacity": 10240}, []),
    ("HP321", {"home.throughput_capacity": 10241}, ["home.throughput_capacity"]),
    ("HP321", {"home.throughput_capacity": 64}, ["home.throughput_capacity"]),
    (
        "HP321",
        {"home.deployment_type": OpenZfsDeploymentType.SINGLE_AZ_1, "home.throughput_capacity": 64},
        [],
    ),
    (
        "HP321",
        {"home.deployment_type": OpenZfsDeploymentType.SINGLE_AZ_HA_1, "home.throughput_capacity": 160},
        ["home.throughput_capacity"],
    ),
    ("HP321", {"home.deployment_type": TEXT_TOKEN, "home.throughput_capacity": 7}, []),
    ("HP322", {"home.availability_zone_ids": ("usw2-az4",)}, []),
    ("HP322", {"home.availability_zone_ids": ("usw2-az4", "usw2-az1")}, ["home.availability_zone_ids"]),
    ("HP322", {"home.deployment_type": OpenZfsDeploymentType.MULTI_AZ_1}, ["home.deployment_type"]),
    (
        "HP322",
        {
            "home.deployment_type": OpenZfsDeploymentType.MULTI_AZ_1,
            "network.availability_zone_ids": ("usw2-az4", "usw2-az1"),
        },
        [],
    ),
    (
        "HP322",
        {
            "home.deployment_type": OpenZfsDeploymentType.MULTI_AZ_1,
            "home.availability_zone_ids": ("usw2-az4", "usw2-az4"),
        },
        ["home.availability_zone_ids"],
    ),
    ("HP322", {"home.availability_zone_ids": LIST_TOKEN}, []),
    ("HP323", {"home.endpoint_ip_address_range": "198.19.255.0/28"}, ["home.endpoint_ip_address_range"]),
    (
        "HP323",
        {
            "home.deployment_type": OpenZfsDeploymentType.MULTI_AZ_1,
            "home.endpoint_ip_address_range": "198.19.255.0/28",
        },
        [],
    ),
    (
        "HP323",
        {
            "home.deployment_type": OpenZfsDeploymentType.MULTI_AZ_1,
            "home.endpoint_ip_address_range": "198.19.255.1/28",
        },
        ["home.endpoint_ip_address_range"],
    ),
    ("HP323", {"home.endpoint_ip_address_range": TEXT_TOKEN}, []),
    ("HP324", {"home.capacity_gib": 100, "home.disk_iops": 300}, []),
    ("HP324", {"home.capacity_gib": 100, "home.disk_iops": 299}, ["home.disk_iops"]),
    ("HP324", {"home.capacity_gib": NUMBER_TOKEN, "home.disk_iops": 1}, []),
    ("HP325", {"home.record_size_kib": 4}, []),
    ("HP325", {"home.record_size_kib": 1024}, []),
    ("HP325", {"home.record_size_kib": 1025}, ["home.record_size_kib"]),
    ("HP325", {"home.record_size_kib": 2048}, ["home.record_size_kib"]),
    ("HP325", {"home.record_size_kib": 100}, ["home.record_size_kib"]),
    ("HP325", {"home.record_size_kib": NUMBER_TOKEN}, []),
    ("HP330", {"storage": {"My_data-2": LustreFileSystem()}}, []),
    ("HP330", {"storage": {"2nd": LustreFileSystem()}}, ['storage["2nd"]']),
    ("HP330", {"storage": {"a b": LustreFileSystem()}}, ['storage["a b"]']),
    ("HP330", {"storage": {TEXT_TOKEN: LustreFileSystem()}}, []),
    ("HP331", {"scratch": EXISTING_LUSTRE}, []),
    ("HP331", {"scratch": EXISTING_LUSTRE, CAPACITY: 1200}, [CAPACITY]),
    ("HP331", {"scratch": EXISTING_LUSTRE, "scratch.existing.dns_name": TEXT_TOKEN}, []),
    ("HP331", {"home": EXISTING_OPENZFS, "home.disk_iops": NUMBER_TOKEN}, ["home.disk_iops"]),
    ("HP332", {"scratch": EXISTING_LUSTRE}, []),
    ("HP332", {"scratch": EXISTING_LUSTRE, "scratch.existing.mount_name": TEXT_TOKEN}, []),
    (
        "HP332",
        {"scratch": EXISTING_LUSTRE, "scratch.existing.mount_name": None},
        ["scratch.existing.mount_name"],
    ),
    (
        "HP332",
        {"home": EXISTING_OPENZFS, "home.existing.mount_name": "abc"},
        ["home.existing.mount_name"],
    ),
    (
        "HP332",
        {"compute.mounts[0]": Mount(file_system_type="LUSTRE", dns_name=LUSTRE_DNS)},
        ["compute.mounts[0].mount_name"],
    ),
    ("HP333", {}, []),
    ("HP333", {"compute.mounts[0].storage": "scrtch"}, ["compute.mounts[0].storage"]),
    ("HP333", {"compute.mounts[0].storage": TEXT_TOKEN}, []),
    ("HP334", {}, []),
    (
        "HP334",
        {"compute.mounts[0]": Mount(file_system_type="LUSTRE", dns_name=TEXT_TOKEN, mount_name=TEXT_TOKEN)},
        [],
    ),
    ("HP334", {"compute.mounts[0].dns_name": LUSTRE_DNS}, ["compute.mounts[0].dns_name"]),
    (
        "HP334",
        {"compute.mounts[0]": Mount(mount_path="/x")},
        ["compute.mounts[0].file_system_type", "compute.mounts[0].dns_name"],
    ),
    ("HP335", {}, []),
    ("HP335", {"compute.mounts[1].storage": "scratch"}, []),
    (
        "HP335",
        {"compute.mounts[1].storage": "scratch", "compute.lifecycle_mode": LifecycleMode.AMI},
        ["compute.mounts[1]"],
    ),
    (
        "HP335",
        {
            "compute.mounts[1].storage": "scratch",
            "compute.life_cycle_config": LifeCycleConfig(source_s3_uri="s3://b/p/", on_create="a.sh"),
        },
        ["compute.mounts[1]"],
    ),
    ("HP335", {"compute.mounts[1].storage": TEXT_TOKEN, "compute.lifecycle_mode": LifecycleMode.AMI}, []),
    (
        "HP335",
        {
            "compute.mounts[1]": Mount(file_system_type="LUSTRE", dns_name=LUSTRE_DNS, mount_name="abc"),
            "compute.lifecycle_mode": LifecycleMode.AMI,
        },
        ["compute.mounts[1]"],
    ),
    ("HP338", {"compute.mounts[0].efa": True}, []),
    ("HP338", {"compute.mounts[1].efa": True}, ["compute.mounts[1].efa"]),
    ("HP338", {"compute.mounts[1].efa": TEXT_TOKEN}, []),
    ("HP336", {"compute.mounts[0].mount_path": "/data"}, []),
    ("HP336", {"compute.mounts[0].mount_path": "/home/"}, ["compute.mounts[1].mount_path"]),
    (
        "HP336",
        {"compute.mounts[0].mount_path": TEXT_TOKEN, "compute.mounts[1].mount_path": TEXT_TOKEN},
        [],
    ),
    ("HP337", {}, []),
    ("HP337", {"storage.spare": LustreFileSystem()}, ["storage.spare"]),
    ("HP337", {"storage.spare": LustreFileSystem(), "compute.mounts[0].storage": TEXT_TOKEN}, []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), LUSTRE_ROWS + OTHER_ROWS)
def test_rule(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


def test_a_wrong_lustre_size_is_told_in_full() -> None:
    finding = next(one for one in check(changed({CAPACITY: 3600})) if one.code == "HP301")
    assert str(finding).splitlines() == [
        "error HP301 storage.scratch.capacity_gib",
        "    is no capacity that PERSISTENT_2 on SSD comes in, got 3600",
        "    allowed: 1200 or a multiple of 2400 GiB; nearest: 2400, 4800",
        "    fix: use one of the nearest capacities",
    ]


def test_removing_a_file_system_leaves_its_mounts_dangling() -> None:
    told = findings(changed({"home": REMOVED}), "HP333")
    assert told == [full_path(f"{group}.mounts[1].storage") for group in ("controller", "login", "compute")]
