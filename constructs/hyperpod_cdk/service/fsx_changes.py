"""What a later change of a file system's setting does. Read in November 2026."""

from collections.abc import Mapping
from enum import StrEnum

from hyperpod_cdk.spec import FileSystem, LustreFileSystem, OpenZfsFileSystem


class Change(StrEnum):
    """``REPLACED``: a new, empty file system. ``REFUSED``: the update fails. ``GROWS``: upward only."""

    REPLACED = "replaced"
    REFUSED = "refused"
    GROWS = "grows"


# REPLACED: "Update requires: Replacement" of AWS::FSx::FileSystem and its LustreConfiguration and
# OpenZFSConfiguration in CloudFormation's template reference. The zone is that of SubnetIds, the key is
# KmsKeyId; record size and compression of OpenZFS are in RootVolumeConfiguration.
# REFUSED: in place by those pages, but UpdateFileSystemLustreConfiguration has no such member; StorageType is
# a member of UpdateFileSystem for Windows file systems alone (botocore 1.44.8).
# GROWS: descriptions of UpdateFileSystem and its members (botocore 1.44.8).
CHANGES: Mapping[type, Mapping[str, Change]] = {
    LustreFileSystem: {
        "availability_zone_id": Change.REPLACED,
        "kms_key_arn": Change.REPLACED,
        "deployment_type": Change.REPLACED,
        "copy_tags_to_backups": Change.REPLACED,
        "storage_type": Change.REFUSED,
        "file_system_type_version": Change.GROWS,
        "throughput_capacity": Change.GROWS,
        "efa_enabled": Change.REFUSED,
        "drive_cache_type": Change.REFUSED,
        "capacity_gib": Change.GROWS,
    },
    OpenZfsFileSystem: {
        "availability_zone_ids": Change.REPLACED,
        "kms_key_arn": Change.REPLACED,
        "deployment_type": Change.REPLACED,
        "endpoint_ip_address_range": Change.REPLACED,
        "data_compression_type": Change.REPLACED,
        "record_size_kib": Change.REPLACED,
        "capacity_gib": Change.GROWS,
    },
}


def replacing(file_system: FileSystem) -> list[str]:
    """Fields of which a change makes the file system anew, and empty."""
    return [field for field, change in CHANGES[type(file_system)].items() if change is Change.REPLACED]
