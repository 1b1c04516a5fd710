"""Acknowledged findings of cdk-nag; works where cdk-nag is not installed."""

from collections.abc import Mapping

from aws_cdk import Acknowledgment, Validations
from constructs import IConstruct


def acknowledge(construct: IConstruct, reasons: Mapping[str, str]) -> None:
    """Accept findings on one construct, each with its reason.

    Args:
        construct: The narrowest construct that has the findings.
        reasons: Reason by exact finding id, such as ``AwsSolutions-IAM5[Resource::*]``.
    """
    rules = [Acknowledgment(id=rule, reason=reason) for rule, reason in reasons.items()]
    Validations.of(construct).acknowledge(*rules)


def acknowledge_everywhere(construct: IConstruct, rule: str, reason: str, *, packs: tuple[str, ...]) -> None:
    """Accept one rule that several packs check under their own prefix."""
    acknowledge(construct, {f"{pack}-{rule}": reason for pack in packs})
