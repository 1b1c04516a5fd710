"""Findings on the function that CDK deploys files with."""

from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as s3_assets
from aws_cdk import aws_s3_deployment as s3_deployment

from hyperpod_cdk.nag import FUNCTION_PACKS, acknowledge, aws_policies, in_packs, wildcards

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
    once = f"{OF_CDK}; CloudFormation calls it once a deployment and waits for its answer"
    acknowledge(
        function,
        {"AwsSolutions-L1": f"{OF_CDK} and chooses its runtime"},
        in_packs("LambdaInsideVPC", f"{OF_CDK}; it talks to S3 alone, over TLS"),
        in_packs("LambdaConcurrency", once, FUNCTION_PACKS),
        in_packs("LambdaDLQ", once, FUNCTION_PACKS),
    )
    actions = ACTIONS if bucket.encryption_key is None else (*ACTIONS, *KEY_ACTIONS)
    asset = deployment.node.find_child("Asset1")
    assert isinstance(asset, s3_assets.Asset)
    acknowledge(
        role,
        in_packs("IAMNoInlinePolicy", f"{OF_CDK} and grants by inline policy"),
        aws_policies(
            ["service-role/AWSLambdaBasicExecutionRole"], f"{OF_CDK}; the policy lets it write its log"
        ),
        {f"AwsSolutions-IAM5[Action::{action}]": f"{OF_CDK} and grants so" for action in actions},
        wildcards(
            role,
            [bucket.arn_for_objects("*"), asset.bucket.arn_for_objects("*")],
            f"{OF_CDK}; it copies objects of the assets' bucket into this one",
        ),
    )
