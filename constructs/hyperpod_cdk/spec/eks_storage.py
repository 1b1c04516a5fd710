"""Volumes of Kubernetes: file systems and buckets that are there already, as claims that pods name."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class VolumeAccess(StrEnum):
    """What pods may do with a volume, from any number of nodes."""

    READ_WRITE = "ReadWriteMany"
    READ_ONLY = "ReadOnlyMany"


@dataclass(frozen=True, kw_only=True)
class BucketVolume:
    """A bucket as files, by the Mountpoint for Amazon S3 driver: no appends, no renames, no locks."""

    bucket_name: str
    prefix: str = ""
    """Only keys that begin so; ends in ``/``. Default: all."""
    allow_delete: bool = False
    """Whether pods may delete and overwrite objects."""
    kms_key_arn: str | None = None
    """The bucket's customer-managed key. Default: none."""


@dataclass(frozen=True, kw_only=True)
class Volume:
    """A file system of ``storage`` or a bucket, as one claim in each namespace. Nothing of it is made or
    deleted with the claim: the data outlives it."""

    storage: str | None = None
    """Key in the spec's ``storage``; excludes ``bucket``."""
    bucket: BucketVolume | None = None
    namespaces: Sequence[str] = ("default",)
    """Namespaces that get a claim; all but ``default`` must be there, or be teams of task governance."""
    access: VolumeAccess = VolumeAccess.READ_WRITE
    capacity_gib: int = 1200
    """GiB that the claim says, 1 or more. Kubernetes demands a number and nothing enforces it."""
    mount_options: Sequence[str] = ()
    """Beside those that the kind of file system is mounted with, such as ``uid=1000`` for a bucket."""
