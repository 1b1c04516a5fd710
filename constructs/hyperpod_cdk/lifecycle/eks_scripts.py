"""EksLifecycleScripts: the scripts of an EKS cluster's nodes in S3."""

from pathlib import Path

from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.lifecycle import staging
from hyperpod_cdk.lifecycle.bucket import ILifecycleBucket
from hyperpod_cdk.lifecycle.deployed import ON_CREATE, DeployedScripts
from hyperpod_cdk.spec.node_disk import NodeDisk

SETTINGS = "settings"


class EksLifecycleScripts(DeployedScripts):
    """Deploys scripts, their settings and a user's files as one whole, under a prefix named by its content.

    Amazon EKS demands a script of every instance group. This one moves images and pods' files to a disk of
    their own, and runs the user's steps of ``extra/before.d`` and ``extra/after.d``.

    Args:
        bucket: Where to.
        disk: Where images and pods' files lie. Default: on the secondary volume, where a node has one.
        extra_files: Folder whose files are deployed under ``extra/``. Default: none.
        source: Folder with the scripts. Default: those of this library.
        log_retention: Of the deploying function's log. Default: three months.
        encryption_key: Customer-managed key of that log. Default: CloudWatch Logs' own encryption.

    Raises:
        ConstructError: A folder is missing, or it lacks the script that the service calls.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: ILifecycleBucket,
        disk: NodeDisk = NodeDisk(),  # noqa: B008, frozen
        extra_files: Path | None = None,
        source: Path | None = None,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        files = self._files(source or staging.packaged_eks_scripts(), extra_files, entries=(ON_CREATE,))
        self._deploy(
            bucket=bucket,
            files={**files, SETTINGS: settings(disk).encode()},
            documents={},
            log_retention=log_retention,
            encryption_key=encryption_key,
        )


def settings(disk: NodeDisk) -> str:
    """What the scripts read: a line ``name=value`` each (lifecycle_scripts/eks/settings.sh)."""
    values = {
        "disk": disk.mount_path.value,
        "disk_required": "yes" if disk.required else "no",
        "disk_wait_seconds": disk.wait_seconds,
    }
    return "".join(f"{name}={value}\n" for name, value in values.items())
