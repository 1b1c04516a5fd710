"""File systems that the cluster mounts: created here, or existing ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from hyperpod_cdk.spec.kinds import (
    DataRepositoryEvent,
    LustreCompression,
    LustreDeploymentType,
    LustreDriveCache,
    LustreMetadataMode,
    LustreReadCacheSizingMode,
    LustreStorageType,
    OpenZfsCompression,
    OpenZfsDeploymentType,
    RemovalPolicy,
)
from hyperpod_cdk.spec.tagged import TaggedBy


@dataclass(frozen=True, kw_only=True)
class ExistingFileSystem:
    """A file system that is already there; nothing of it is created or changed."""

    dns_name: str
    """Name that nodes mount, ``fs-….fsx.<region>.amazonaws.com``."""
    mount_name: str | None = None
    """Lustre only: the file system's mount name, 1-8 characters."""
    file_system_id: str | None = None
    """``fs-…``; default: the first label of ``dns_name``."""


@dataclass(frozen=True, kw_only=True)
class LustreMetadata:
    """Metadata performance; PERSISTENT_2 only."""

    mode: LustreMetadataMode = LustreMetadataMode.AUTOMATIC
    """AUTOMATIC scales with the capacity; USER_PROVISIONED needs ``iops``."""
    iops: int | None = None
    """1500, 3000, 6000, 12000, then multiples of 12000 up to 192000; for Intelligent-Tiering all sources know
    6000 and 12000."""


@dataclass(frozen=True, kw_only=True)
class LustreReadCache:
    """SSD read cache of an Intelligent-Tiering file system."""

    sizing_mode: LustreReadCacheSizingMode = LustreReadCacheSizingMode.PROPORTIONAL
    """Default: in proportion to the throughput capacity."""
    size_gib: int | None = None
    """USER_PROVISIONED only: 8-32768 GiB for every 1000 MB/s of throughput."""


@dataclass(frozen=True, kw_only=True)
class DataRepositoryAssociation:
    """Link between a directory of a Lustre file system and an S3 prefix."""

    data_repository_path: str
    """``s3://bucket/prefix``; no two associations may overlap."""
    file_system_path: str = "/"
    """Directory in the file system, from its root; ``/`` only as the sole association."""
    auto_import_events: Sequence[DataRepositoryEvent] = (
        DataRepositoryEvent.NEW,
        DataRepositoryEvent.CHANGED,
        DataRepositoryEvent.DELETED,
    )
    """Changes in S3 that appear in the file system; empty: none. Default: all three."""
    auto_export_events: Sequence[DataRepositoryEvent] = ()
    """Changes in the file system that are written to S3. Default: none, so that nothing in S3 is touched."""
    batch_import_meta_data_on_create: bool = True
    """Import the metadata of what S3 holds already. Default: yes."""
    imported_file_chunk_size_mib: int | None = None
    """Stripe size of imported files, 1-512000 MiB. Default: the service's, 1024."""


@dataclass(frozen=True, kw_only=True)
class LustreFileSystem:
    """An FSx for Lustre file system."""

    file_system_type: Literal["LUSTRE"] = "LUSTRE"
    existing: ExistingFileSystem | None = None
    """Use this one; every other field is then ignored, and refused when set."""
    capacity_gib: int | None = None
    """GiB. Default: 1200, or 4.8-38.4 TiB where EFA asks for it; Intelligent-Tiering takes none."""
    deployment_type: LustreDeploymentType = LustreDeploymentType.PERSISTENT_2
    storage_type: LustreStorageType = LustreStorageType.SSD
    per_unit_storage_throughput: int | None = None
    """MB/s per TiB. PERSISTENT_2: 125 (default), 250, 500, 1000; PERSISTENT_1: 50 (default), 100,
    200 on SSD, 12 or 40 on HDD (default 12); SCRATCH: not set."""
    throughput_capacity: int | None = None
    """MB/s, Intelligent-Tiering only: multiples of 4000 up to 2000000; newer pages know 1000 and 2000 too.
    Default there: 4000."""
    data_compression_type: LustreCompression = LustreCompression.LZ4
    metadata: LustreMetadata | None = None
    """Default: AUTOMATIC for PERSISTENT_2 on SSD, 6000 IOPS for Intelligent-Tiering, else none."""
    read_cache: LustreReadCache | None = None
    """Intelligent-Tiering only. Default there: proportional to the throughput."""
    drive_cache_type: LustreDriveCache | None = None
    """PERSISTENT_1 on HDD only. Default there: NONE."""
    efa_enabled: bool = False
    """GPUDirect and EFA clients; PERSISTENT_2 only, fixed at creation."""
    file_system_type_version: str = "2.15"
    """Lustre version: 2.10, 2.12 or 2.15; can only be raised later."""
    availability_zone_id: str | None = None
    """Zone id, such as ``usw2-az4``. Default: the network's first zone."""
    kms_key_arn: str | None = None
    """Customer-managed key. Default: the spec's key, else the AWS-managed one."""
    automatic_backup_retention_days: int = 0
    """0-90 days; 0: no backups. Persistent types without an association only."""
    daily_automatic_backup_start_time: str | None = None
    """``HH:MM`` UTC. Default: chosen by the service."""
    weekly_maintenance_start_time: str | None = None
    """``d:HH:MM`` UTC, Monday is 1. Default: chosen by the service."""
    copy_tags_to_backups: bool = True
    data_repository_associations: Sequence[DataRepositoryAssociation] = ()
    """At most 8; not on SCRATCH_1 nor on Lustre 2.10."""
    removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    """Default: kept when it leaves the stack or is replaced."""


@dataclass(frozen=True, kw_only=True)
class OpenZfsFileSystem:
    """An FSx for OpenZFS file system."""

    file_system_type: Literal["OPENZFS"] = "OPENZFS"
    existing: ExistingFileSystem | None = None
    """Use this one; every other field is then ignored, and refused when set."""
    capacity_gib: int = 64
    """64-524288 GiB."""
    deployment_type: OpenZfsDeploymentType = OpenZfsDeploymentType.SINGLE_AZ_HA_2
    throughput_capacity: int | None = None
    """MB/s. MULTI_AZ_1, SINGLE_AZ_2, SINGLE_AZ_HA_2: 160 (default) to 10240; first generation: 64 (default)
    to 4096."""
    disk_iops: int | None = None
    """Provisioned SSD IOPS. Default: 3 a GiB, set by the service."""
    availability_zone_ids: Sequence[str] = ()
    """One zone id, or for MULTI_AZ_1 two, the preferred first. Default: the network's first zone(s)."""
    endpoint_ip_address_range: str | None = None
    """MULTI_AZ_1 only: CIDR for the floating addresses, outside every subnet. Default: chosen by the
    service."""
    data_compression_type: OpenZfsCompression = OpenZfsCompression.LZ4
    record_size_kib: int | None = None
    """Record size of the root volume, a power of two, 4-1024 KiB. Default: 128."""
    kms_key_arn: str | None = None
    """Customer-managed key. Default: the spec's key, else the AWS-managed one."""
    automatic_backup_retention_days: int = 30
    """0-90 days; 0: no backups. Default: the service's own, 30."""
    daily_automatic_backup_start_time: str | None = None
    """``HH:MM`` UTC. Default: chosen by the service."""
    weekly_maintenance_start_time: str | None = None
    """``d:HH:MM`` UTC, Monday is 1. Default: chosen by the service."""
    copy_tags_to_backups: bool = True
    removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    """Default: kept when it leaves the stack or is replaced."""


FileSystem = Annotated[LustreFileSystem | OpenZfsFileSystem, TaggedBy("file_system_type")]
"""Either kind of file system, told apart by ``file_system_type``."""


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A file system at a path of an instance group's nodes.

    Name a file system of the spec with ``storage``, or give ``dns_name`` (and ``mount_name`` for Lustre)
    of any other; the storage constructs' ``mount()`` fills the latter in.
    """

    storage: str | None = None
    """Key in the spec's ``storage``."""
    file_system_type: Literal["LUSTRE", "OPENZFS"] | None = None
    """Needed with ``dns_name``."""
    dns_name: str | None = None
    mount_name: str | None = None
    """Lustre only."""
    mount_path: str | None = None
    """Absolute path. Default: the service's, ``/fsx`` for Lustre and ``/home`` for OpenZFS."""
    efa: bool = False
    """Lustre over EFA where the instance has it. Default: as the file system of ``storage`` is made."""


@dataclass(frozen=True, kw_only=True)
class EbsVolume:
    """Disk of a node."""

    volume_size_in_gb: int | None = None
    """1-16384 GB; the secondary volume only (mounted at /opt/sagemaker)."""
    volume_kms_key_id: str | None = None
    """Key id or ARN; required for a root volume, needs Continuous provisioning, fixed for the group."""
