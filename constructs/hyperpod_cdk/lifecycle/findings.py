"""Findings on the function that CDK deploys files with."""

from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_s3_deployment as s3_deployment

from hyperpod_cdk.nag import acknowledge, acknowledge_everywhere, acknowledge_resources

OF_CDK = "CDK makes this function for BucketDeployment"
ACTIONS = ("s3:GetObject*", "s3:GetBucket*", "s3:List*", "s3:DeleteObject*", "s3:Abort*")
KEY_ACTIONS = ("kms:GenerateDataKey*", "kms:ReEncrypt*")
"""What the grants of a bucket, and of its key, give."""


def acknowledge_deployment(deployment: s3_deployment.BucketDeployment, bucket: s3.IBucket) -> None:
    """Accept what follows from how CDK makes a deployment's function, which all of one size in a stack share.

    Args:
        deployment: The deployment.
        bucket: Where it puts the files.
    """
    role = deployment.handler_role
    function = role.node.scope
    assert function is not None
    acknowledge(function, {"AwsSolutions-L1": f"{OF_CDK} and chooses its runtime"})
    acknowledge_everywhere(function, "LambdaInsideVPC", f"{OF_CDK}; it talks to S3 alone, over TLS")
    for rule in ("LambdaConcurrency", "LambdaDLQ"):
        acknowledge_everywhere(
            function,
            rule,
            f"{OF_CDK}; CloudFormation calls it once a deployment and waits for its answer",
            packs=("HIPAA.Security", "NIST.800.53.R5"),
        )
    acknowledge_everywhere(role, "IAMNoInlinePolicy", f"{OF_CDK} and grants by inline policy")
    basic = "arn:<AWS::Partition>:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
    acknowledge(role, {f"AwsSolutions-IAM4[Policy::{basic}]": f"{OF_CDK}; the policy lets it write its log"})
    actions = ACTIONS if bucket.encryption_key is None else (*ACTIONS, *KEY_ACTIONS)
    acknowledge(
        role, {f"AwsSolutions-IAM5[Action::{action}]": f"{OF_CDK} and grants so" for action in actions}
    )
    asset = deployment.node.find_child("Asset1")
    assert isinstance(asset, s3_assets.Asset)
    acknowledge_resources(
        role,
        [bucket.arn_for_objects("*"), asset.bucket.arn_for_objects("*")],
        f"{OF_CDK}; it copies objects of the assets' bucket into this one",
    )
