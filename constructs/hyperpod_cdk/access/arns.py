"""ARNs in the stack's own partition."""

from aws_cdk import Aws

# looked up once: each look is a call into CDK, and a cluster of many groups makes thousands
PARTITION, REGION, ACCOUNT_ID = Aws.PARTITION, Aws.REGION, Aws.ACCOUNT_ID
"""Of the stack, known at deployment."""


def arn(service: str, resource: str, *, region: str = REGION, account: str = ACCOUNT_ID) -> str:
    """An ARN whose resource begins after the account.

    Args:
        service: such as ``ec2``.
        resource: such as ``subnet/*``.
        region: empty for what has none. Default: the stack's.
        account: empty for what has none, ``*`` for any. Default: the stack's.
    """
    return f"arn:{PARTITION}:{service}:{region}:{account}:{resource}"


def bucket_arn(bucket_name: str) -> str:
    """The ARN of a bucket, which names neither Region nor account."""
    return arn("s3", bucket_name, region="", account="")
