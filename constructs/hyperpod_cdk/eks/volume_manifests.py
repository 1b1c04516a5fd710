"""PersistentVolumes and claims for what is there already; plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume, VolumeAccess

Manifest = Mapping[str, Any]
_LABELS = {"app.kubernetes.io/managed-by": "hyperpod-cdk"}
_NFS_OPTIONS = (
    "nfsvers=4.2",
    "nconnect=16",
    "rsize=1048576",
    "wsize=1048576",
    "timeo=600",
    "hard",
    "noatime",
)
"""As nodes of Slurm mount it (https://docs.aws.amazon.com/fsx/latest/OpenZFSGuide/mount-openzfs-vols.html)."""
_EXPORT = "/fsx"
"""Path of the root volume of a file system of FSx for OpenZFS."""


@dataclass(frozen=True, kw_only=True)
class FileSystemAddress:
    """A file system as clients know it."""

    file_system_id: str
    dns_name: str
    mount_name: str | None
    """None: FSx for OpenZFS."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """Where a volume's data lies: the part of a PersistentVolume that depends on the kind."""

    spec: Mapping[str, Any]
    """``csi`` or ``nfs``."""
    mount_options: tuple[str, ...]


def claims(name: str, volume: Volume, file_system: FileSystemAddress | None = None) -> list[Manifest]:
    """A volume and a claim for each namespace.

    They are bound to each other by name, and the data outlives both (Retain).

    Args:
        name: of the claims.
        volume: what they are of.
        file_system: address of ``volume.storage``; None for a bucket.
    """
    return [
        manifest
        for namespace in volume.namespaces
        for manifest in _pair(name, namespace, volume, _source(f"{name}-{namespace}", volume, file_system))
    ]


def _pair(name: str, namespace: str, volume: Volume, source: Source) -> tuple[Manifest, Manifest]:
    capacity = {"storage": f"{volume.capacity_gib}Gi"}
    own_name = f"{name}-{namespace}"
    shared = {"accessModes": [volume.access.value], "storageClassName": ""}
    persistent_volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": own_name, "labels": _LABELS},
        "spec": {
            **shared,
            "capacity": capacity,
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": namespace,
                "name": name,
            },
            "mountOptions": [*source.mount_options, *volume.mount_options],
            **source.spec,
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace, "labels": _LABELS},
        "spec": {**shared, "volumeName": own_name, "resources": {"requests": capacity}},
    }
    return persistent_volume, claim


def _source(unique: str, volume: Volume, file_system: FileSystemAddress | None) -> Source:
    read_only = volume.access is VolumeAccess.READ_ONLY
    if volume.bucket is not None:
        return _bucket(unique, volume.bucket, read_only)
    if file_system is None:
        raise ValueError(f"volume {unique} has neither a bucket nor a file system")
    return (_lustre if file_system.mount_name else _openzfs)(file_system, read_only)


def _lustre(file_system: FileSystemAddress, read_only: bool) -> Source:
    # https://github.com/kubernetes-sigs/aws-fsx-csi-driver, examples/kubernetes/static_provisioning (2026-10)
    return Source(
        spec={
            "csi": {
                "driver": "fsx.csi.aws.com",
                "volumeHandle": file_system.file_system_id,
                "readOnly": read_only,
                "volumeAttributes": {
                    "dnsname": file_system.dns_name,
                    "mountname": file_system.mount_name,
                },
            }
        },
        mount_options=("noatime", "flock"),
    )


def _openzfs(file_system: FileSystemAddress, read_only: bool) -> Source:
    return Source(
        spec={"nfs": {"server": file_system.dns_name, "path": _EXPORT, "readOnly": read_only}},
        mount_options=_NFS_OPTIONS,
    )


def _bucket(unique: str, bucket: BucketVolume, read_only: bool) -> Source:
    # https://github.com/awslabs/mountpoint-s3-csi-driver, docs/CONFIGURATION.md, static provisioning
    # (2026-10): a handle that two volumes share is mounted once
    options = [
        *(["read-only"] if read_only else []),
        *(["allow-delete", "allow-overwrite"] if bucket.allow_delete and not read_only else []),
        *([f"prefix {bucket.prefix}"] if bucket.prefix else []),
    ]
    return Source(
        spec={
            "csi": {
                "driver": "s3.csi.aws.com",
                "volumeHandle": f"{bucket.bucket_name}-{unique}",
                "volumeAttributes": {"bucketName": bucket.bucket_name},
            }
        },
        mount_options=tuple(options),
    )
