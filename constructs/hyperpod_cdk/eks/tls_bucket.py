"""TlsBucket: where the certificates of endpoints lie."""

from aws_cdk import Aws, Duration, Fn
from aws_cdk import aws_s3 as s3
from constructs import Construct

from hyperpod_cdk.nag import acknowledge, in_packs
from hyperpod_cdk.removal import removal
from hyperpod_cdk.service.eks_add_ons import TLS_BUCKET_PREFIX
from hyperpod_cdk.spec import RemovalPolicy

_PUBLIC = (
    "it holds the certificates that clients of the endpoints are given, and which the operator makes anew"
)
_KEYS = "S3 encrypts it; the operator's policy knows keys of no other"


class TlsBucket(Construct):
    """Private, encrypted, versioned bucket that takes no plain HTTP, under a name that the operator may use.

    Args:
        removal_policy: RETAIN or DESTROY; a bucket with objects in it is never deleted by CloudFormation.
    """

    def __init__(self, scope: Construct, construct_id: str, *, removal_policy: RemovalPolicy) -> None:
        super().__init__(scope, construct_id)
        stack_uuid = Fn.select(2, Fn.split("/", Aws.STACK_ID))
        self.bucket = s3.Bucket(
            self,
            "Resource",
            bucket_name=f"{TLS_BUCKET_PREFIX}-{stack_uuid}-{self.node.addr[:8]}",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            versioned=True,
            lifecycle_rules=[s3.LifecycleRule(noncurrent_version_expiration=Duration.days(90))],
            removal_policy=removal(removal_policy),
        )
        acknowledge(
            self.bucket,
            {"AwsSolutions-S1": _PUBLIC},
            in_packs("S3BucketLoggingEnabled", _PUBLIC),
            in_packs("S3BucketReplicationEnabled", _PUBLIC),
            in_packs("S3DefaultEncryptionKMS", _KEYS),
        )
