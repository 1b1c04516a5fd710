"""Removal policies of the spec, in CDK's terms."""

import aws_cdk as cdk

from hyperpod_cdk.spec import RemovalPolicy


def removal(policy: RemovalPolicy) -> cdk.RemovalPolicy:
    """CDK's name of a removal policy; applied, it goes for deletion and for replacement."""
    return cdk.RemovalPolicy.RETAIN if policy is RemovalPolicy.RETAIN else cdk.RemovalPolicy.DESTROY
