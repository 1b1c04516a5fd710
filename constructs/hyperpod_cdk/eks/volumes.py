"""Volumes: claims of Kubernetes for file systems and buckets."""

from collections.abc import Mapping, Sequence
from typing import cast

from aws_cdk import RemovalPolicy
from aws_cdk import aws_eks_v2 as eks
from constructs import Construct, IDependable

from hyperpod_cdk.eks.volume_manifests import FileSystemAddress, claims
from hyperpod_cdk.faults import refuse
from hyperpod_cdk.spec.eks_storage import Volume
from hyperpod_cdk.storage import IStorage


class Volumes(Construct):
    """A PersistentVolume and a claim for each volume and namespace, applied with kubectl.

    They wait for no node and no driver: volume and claim name each other. In Kubernetes they stay when they
    leave the stack, since a claim that a pod uses is not let go; the data stays in any case. What a volume
    points at can not be changed: a file system that is replaced needs a claim of another name.

    Args:
        cluster: a control plane with a kubectl provider.
        volumes: by the name of their claims.
        storage: the file systems that they name.
        depends_on: what makes their namespaces. Default: they are there.

    Raises:
        ConstructError: a volume names no bucket and no file system that is there.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.Cluster,
        volumes: Mapping[str, Volume],
        storage: Mapping[str, IStorage],
        depends_on: Sequence[IDependable] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        refuse(self.node.path, _faults(volumes, storage))
        for name, volume in volumes.items():
            manifest = eks.KubernetesManifest(
                self,
                name,
                cluster=cast(eks.ICluster, cluster),
                manifest=claims(name, volume, _address(volume, storage)),
                # what an earlier deployment left is taken over
                overwrite=True,
                removal_policy=RemovalPolicy.RETAIN,
            )
            manifest.node.add_dependency(*depends_on)


def _address(volume: Volume, storage: Mapping[str, IStorage]) -> FileSystemAddress | None:
    if volume.storage is None:
        return None
    found = storage[volume.storage]
    return FileSystemAddress(
        file_system_id=found.file_system_id,
        dns_name=found.dns_name,
        mount_name=found.mount().mount_name,
    )


def _faults(volumes: Mapping[str, Volume], storage: Mapping[str, IStorage]) -> list[str]:
    known = ", ".join(storage) or "none"
    return [
        f"volume {name} names the storage {volume.storage}, there are: {known}"
        for name, volume in volumes.items()
        if volume.bucket is None and volume.storage not in storage
    ]
