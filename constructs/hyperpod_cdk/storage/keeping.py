"""What stays when a file system is kept."""

import aws_cdk as cdk
from aws_cdk import aws_ec2 as ec2

from hyperpod_cdk.removal import KEEP


def keep(security_group: ec2.SecurityGroup, *rules: cdk.CfnResource) -> None:
    """Keep the group of the servers, which could not be deleted anyway, and the rules among them."""
    security_group.apply_removal_policy(KEEP)
    for rule in rules:
        rule.apply_removal_policy(KEEP)
