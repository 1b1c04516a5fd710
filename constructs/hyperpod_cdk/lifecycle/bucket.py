"""LifecycleBucket: where the nodes' scripts lie."""

from typing import Protocol

from aws_cdk import Aws, Duration, Fn, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk import spec
from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.nag import acknowledge, in_packs

_MANAGED_KEYS = in_packs(
    "S3DefaultEncryptionKMS",
    "encrypted by S3; access logs can not be delivered to a bucket under a customer-managed key, and for "
    "scripts such a key is one argument away",
)
OLD_VERSIONS = Duration.days(90)
"""How long overwritten objects are kept."""


class ILifecycleBucket(Protocol):
    """A bucket made here (`LifecycleBucket`) or an existing one (`LifecycleBucket.from_bucket`)."""

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""


class LifecycleBucket(Construct):
    """Private, encrypted, versioned bucket that logs who reads it and takes no plain HTTP.

    Its name begins with ``sagemaker-``, which the service's managed policy lets nodes read, and goes on with
    the stack's own identifier: no two accounts, Regions or stacks clash, nor does a new stack with the bucket
    that an earlier one left.

    Args:
        encryption_key: Customer-managed key. Default: keys of S3.
        removal_policy: RETAIN (default), or DESTROY to empty and delete both buckets with the stack.
        access_log_retention: How long access logs are kept. Default: 90 days.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        encryption_key: kms.IKey | None = None,
        removal_policy: spec.RemovalPolicy = spec.RemovalPolicy.RETAIN,
        access_log_retention: Duration | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        # Kept whatever happens: a bucket with scripts in it cannot be deleted, and would fail a rollback.
        kept = removal_policy is spec.RemovalPolicy.RETAIN
        policy = RemovalPolicy.RETAIN if kept else RemovalPolicy.DESTROY
        retention = access_log_retention or Duration.days(90)
        self.access_log_bucket = self._access_log_bucket(retention, policy)
        self._bucket = self._lifecycle_bucket(encryption_key, policy)
        self._log_access(self._bucket)

    @staticmethod
    def from_bucket(scope: Construct, construct_id: str, bucket: s3.IBucket) -> "ExistingLifecycleBucket":
        """A bucket that is already there; nothing of it is changed.

        Args:
            bucket: The bucket. Nodes can read it by the service's managed policy if its name begins with
                ``sagemaker-``, else by `ExecutionRole.grant_read_bucket`.
        """
        return ExistingLifecycleBucket(scope, construct_id, bucket=bucket)

    @property
    def bucket(self) -> s3.IBucket:
        """The bucket."""
        return self._bucket

    def _lifecycle_bucket(self, key: kms.IKey | None, policy: RemovalPolicy) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "Resource",
            bucket_name=f"sagemaker-{_stack_uuid()}-{self.node.addr[:8]}",
            encryption=s3.BucketEncryption.KMS if key is not None else s3.BucketEncryption.S3_MANAGED,
            encryption_key=key,
            bucket_key_enabled=True if key is not None else None,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            versioned=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    noncurrent_version_expiration=OLD_VERSIONS,
                    abort_incomplete_multipart_upload_after=Duration.days(7),
                )
            ],
            removal_policy=policy,
            auto_delete_objects=policy is RemovalPolicy.DESTROY or None,
        )
        anew = "its content is made from the sources of the stack, which deploys it anew anywhere"
        acknowledge(
            bucket, in_packs("S3BucketReplicationEnabled", anew), _MANAGED_KEYS if key is None else {}
        )
        return bucket

    def _access_log_bucket(self, retention: Duration, policy: RemovalPolicy) -> s3.Bucket:
        bucket = s3.Bucket(
            self,
            "AccessLogs",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            lifecycle_rules=[
                s3.LifecycleRule(
                    expiration=retention, abort_incomplete_multipart_upload_after=Duration.days(7)
                )
            ],
            removal_policy=policy,
            auto_delete_objects=policy is RemovalPolicy.DESTROY or None,
        )
        once = "access logs are written once and expire"
        acknowledge(
            bucket,
            in_packs("S3BucketReplicationEnabled", once),
            in_packs("S3BucketVersioningEnabled", once),
            _MANAGED_KEYS,
        )
        return bucket

    def _log_access(self, bucket: s3.Bucket) -> None:
        """Deliver access logs by bucket policy; the L2's own way differs with the app's feature flags."""
        prefix = "lifecycle/"
        cfn = bucket.node.default_child
        assert isinstance(cfn, s3.CfnBucket)
        cfn.logging_configuration = s3.CfnBucket.LoggingConfigurationProperty(
            destination_bucket_name=self.access_log_bucket.bucket_name, log_file_prefix=prefix
        )
        self.access_log_bucket.add_to_resource_policy(
            iam.PolicyStatement(
                sid="AccessLogs",
                principals=[iam.ServicePrincipal("logging.s3.amazonaws.com")],
                actions=["s3:PutObject"],
                resources=[self.access_log_bucket.arn_for_objects(f"{prefix}*")],
                conditions={
                    "ArnLike": {"aws:SourceArn": bucket.bucket_arn},
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                },
            )
        )


class ExistingLifecycleBucket(Construct):
    """A bucket that is already there; arguments as of `LifecycleBucket.from_bucket`."""

    @checked_arguments
    def __init__(self, scope: Construct, construct_id: str, *, bucket: s3.IBucket) -> None:
        super().__init__(scope, construct_id)
        self.bucket = bucket
        self.access_log_bucket: s3.IBucket | None = None


def _stack_uuid() -> str:
    """Last part of the stack's id, ``arn:…:stack/<name>/<uuid>``; 36 characters, new with every stack."""
    return Fn.select(2, Fn.split("/", Aws.STACK_ID))
