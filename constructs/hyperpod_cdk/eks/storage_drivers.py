"""Drivers with which pods mount FSx for Lustre and S3.

FSx for OpenZFS needs none: its file systems are NFS, which every node mounts itself, and Amazon EKS has no
add-on for it (https://docs.aws.amazon.com/eks/latest/userguide/fsx-openzfs-csi.html names a chart, 2026-10).
"""

from collections.abc import Iterable, Sequence

from constructs import Construct, IDependable

from hyperpod_cdk.access.arns import bucket_arn
from hyperpod_cdk.eks.add_ons import add_on
from hyperpod_cdk.eks.identities import OidcProvider, PodRole, Statement, WebIdentityRole, statement
from hyperpod_cdk.service import permissions
from hyperpod_cdk.service.eks_add_ons import FSX_LUSTRE, MOUNTPOINT_S3
from hyperpod_cdk.spec.add_on import AddOn
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume, VolumeAccess

_SYSTEM = "kube-system"
# https://docs.aws.amazon.com/eks/latest/userguide/fsx-csi-create.html and s3-csi-create.html (2026-10)
_LUSTRE_ACCOUNT = (_SYSTEM, "fsx-csi-controller-sa")
_S3_ACCOUNT = (_SYSTEM, "s3-csi-driver-sa")
_EVERYWHERE = {"node": {"tolerateAllTaints": True}}
"""Nodes of accelerators are often tainted, and their pods are those that mount."""


class LustreDriver(Construct):
    """The driver of FSx for Lustre, for file systems that are there already.

    Its role may look file systems up and nothing else: what the driver's documentation grants beside it makes
    and deletes file systems for claims, and none does here.

    Args:
        cluster_name: of the EKS cluster.
        settings: version and configuration of the add-on. Default: those of Amazon EKS.
        depends_on: what its pods need: nodes, DNS and the pod identity agent.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        settings: AddOn | None = None,
        depends_on: Sequence[IDependable],
    ) -> None:
        super().__init__(scope, construct_id)
        self.role = PodRole(
            self,
            "Identity",
            cluster_name=cluster_name,
            account=_LUSTRE_ACCOUNT,
            description="Driver of FSx for Lustre",
            statements=[statement(permissions.DESCRIBE_FILE_SYSTEMS, "*")],
            depends_on=depends_on,
        )
        self.add_on = add_on(
            self,
            FSX_LUSTRE,
            cluster_name=cluster_name,
            settings=settings,
            depends_on=[self.role, *depends_on],
        )


class MountpointDriver(Construct):
    """The driver of S3, whose role all pods that mount a bucket share.

    It takes the role by the cluster's own tokens: pod identities are known to its second version alone.

    Args:
        cluster_name: of the EKS cluster.
        provider: of the cluster's tokens.
        buckets: what may be mounted, each with whether it is written to.
        settings: version and configuration of the add-on. Default: those of Amazon EKS; its pods run on every
            node, tainted or not.
        depends_on: what its pods need: nodes and DNS.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        provider: OidcProvider,
        buckets: Sequence[tuple[BucketVolume, bool]],
        settings: AddOn | None = None,
        depends_on: Sequence[IDependable],
    ) -> None:
        super().__init__(scope, construct_id)
        self.role = WebIdentityRole(
            self,
            "Identity",
            provider=provider,
            account=_S3_ACCOUNT,
            description="Driver of Mountpoint for Amazon S3",
            statements=[one for bucket, write in buckets for one in _statements(bucket, write)],
        )
        self.add_on = add_on(
            self,
            MOUNTPOINT_S3,
            cluster_name=cluster_name,
            settings=settings,
            configuration=_EVERYWHERE,
            service_account_role_arn=self.role.role_arn,
            depends_on=[self.role, *depends_on],
        )


def bucket_volumes(volumes: Iterable[Volume]) -> list[tuple[BucketVolume, bool]]:
    """Buckets among volumes, each with whether it is written to."""
    return [
        (volume.bucket, volume.access is VolumeAccess.READ_WRITE)
        for volume in volumes
        if volume.bucket is not None
    ]


def _statements(bucket: BucketVolume, write: bool) -> list[Statement]:
    arn = bucket_arn(bucket.bucket_name)
    objects = [
        *permissions.READ_OBJECTS,
        *(permissions.WRITE_OBJECTS if write else ()),
        *(permissions.DELETE_OBJECTS if write and bucket.allow_delete else ()),
    ]
    key = permissions.USE_BUCKET_KEY if write else permissions.DECRYPT
    return [
        statement(permissions.LIST_BUCKET, arn),
        statement(objects, f"{arn}/{bucket.prefix}*"),
        *([statement(key, bucket.kms_key_arn)] if bucket.kms_key_arn else []),
    ]
