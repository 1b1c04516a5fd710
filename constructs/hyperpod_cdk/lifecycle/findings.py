"""Findings on the function that CDK deploys files with."""

from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_deployment as s3_deployment


def acknowledge_deployment(deployment: s3_deployment.BucketDeployment, bucket: s3.IBucket) -> None:
    pass
