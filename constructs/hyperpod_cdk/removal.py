"""Removal policies of the spec, in CDK's terms."""

import aws_cdk as cdk

from hyperpod_cdk.spec import RemovalPolicy

KEEP = cdk.RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
"""Kept when it leaves the stack or is replaced, but not when the operation that makes it fails: then it is
empty, and would only cost (https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/
aws-attribute-deletionpolicy.html, RetainExceptOnCreate, 2026-10)."""


def removal(policy: RemovalPolicy) -> cdk.RemovalPolicy:
    """CDK's name of a removal policy; applied, it goes for deletion and for replacement."""
    return KEEP if policy is RemovalPolicy.RETAIN else cdk.RemovalPolicy.DESTROY
