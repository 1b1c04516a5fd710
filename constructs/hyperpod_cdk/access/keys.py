"""Log groups under customer-managed keys."""

from aws_cdk import ArnFormat, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.nag import acknowledge, in_packs
from hyperpod_cdk.service import permissions


def encrypted_log_group(
    scope: Construct,
    construct_id: str,
    *,
    retention: logs.RetentionDays,
    encryption_key: kms.IKey | None = None,
    removal_policy: RemovalPolicy = RemovalPolicy.DESTROY,
    name: str | None = None,
) -> logs.LogGroup:
    """A log group with retention, under a customer-managed key if there is one.

    Args:
        retention: How long events are kept.
        encryption_key: Key that CloudWatch Logs is then let use. Default: CloudWatch Logs' own encryption.
        removal_policy: Default: goes with the stack.
        name: Where the service that writes chooses the name. Default: CloudFormation's.
    """
    group = logs.LogGroup(
        scope,
        construct_id,
        log_group_name=name,
        retention=retention,
        encryption_key=encryption_key,
        removal_policy=removal_policy,
    )
    if encryption_key is not None:
        let_logs_use(encryption_key, scope)
        return group
    acknowledge(
        group,
        in_packs(
            "CloudWatchLogGroupEncrypted",
            "encrypted by CloudWatch Logs; a customer-managed key is one argument away",
        ),
    )
    return group


def let_logs_use(key: kms.IKey, scope: Construct) -> None:
    """Let CloudWatch Logs of this account and Region use a key; an imported key's policy stays as it is.

    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html, 2026-10.
    """
    stack = Stack.of(scope)
    groups = stack.format_arn(
        service="logs", resource="log-group", resource_name="*", arn_format=ArnFormat.COLON_RESOURCE_NAME
    )
    key.add_to_resource_policy(
        iam.PolicyStatement(
            sid="CloudWatchLogs",
            principals=[iam.ServicePrincipal(f"logs.{stack.region}.{stack.url_suffix}")],
            actions=permissions.ENCRYPT_LOGS,
            resources=["*"],
            conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
        )
    )
