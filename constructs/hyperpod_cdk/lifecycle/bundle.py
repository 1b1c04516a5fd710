"""LifecycleBundle: what nodes would download, in their own bucket, for networks without internet."""

from pathlib import Path

from aws_cdk import Size
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3_deployment as s3_deployment
from constructs import Construct

from hyperpod_cdk.access.keys import encrypted_log_group
from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.faults import refuse
from hyperpod_cdk.lifecycle.bucket import ILifecycleBucket
from hyperpod_cdk.lifecycle.findings import acknowledge_deployment

PREFIX = "bundle"
"""Where nodes look."""
MEMORY_MIB = 1024
STORAGE = Size.gibibytes(4)
"""Of the function that copies some hundred megabytes, which it holds packed and unpacked."""


class LifecycleBundle(Construct):
    """Deploys a folder that ``hyperpod-cdk bundle`` made; what was there before stays.

    Args:
        bucket: Where to.
        folder: The folder; a file lies in it under its own SHA-256.
        log_retention: Of the deploying function's log. Default: three months.
        encryption_key: Customer-managed key of that log. Default: CloudWatch Logs' own encryption.

    Raises:
        ConstructError: The folder is missing or empty.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        bucket: ILifecycleBucket,
        folder: Path,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        there = folder.is_dir() and any(folder.iterdir())
        fault = f"a bundle must be a folder with files, got: {folder}; fill it with `hyperpod-cdk bundle`"
        refuse(self.node.path, [] if there else [fault])
        self.log_group = encrypted_log_group(
            self, "LogGroup", retention=log_retention, encryption_key=encryption_key
        )
        self.deployment = s3_deployment.BucketDeployment(
            self,
            "Resource",
            destination_bucket=bucket.bucket,
            destination_key_prefix=PREFIX,
            sources=[s3_deployment.Source.asset(str(folder))],
            prune=False,
            retain_on_delete=True,
            output_object_keys=False,
            memory_limit=MEMORY_MIB,
            ephemeral_storage_size=STORAGE,
            log_group=self.log_group,
        )
        acknowledge_deployment(self.deployment, bucket.bucket)
