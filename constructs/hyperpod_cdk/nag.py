"""Acknowledged findings of cdk-nag; works where cdk-nag is not installed."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct

COMPLIANCE_PACKS = ("HIPAA.Security", "NIST.800.53.R5", "PCI.DSS.321")
"""Packs that check many of the same rules, each under its own prefix."""
FUNCTION_PACKS = ("HIPAA.Security", "NIST.800.53.R5")
"""Those of them that ask for dead-letter queues and reserved concurrency of functions."""


def acknowledge(construct: IConstruct, *reasons: Mapping[str, str]) -> None:
    """Accept findings on a construct and what is in it, each with its reason.

    Args:
        construct: The narrowest construct that has them; several of its own in one call, since each costs one
            into CDK.
        reasons: Reason by exact finding id, such as ``AwsSolutions-IAM5[Resource::*]``.
    """
    rules = [Acknowledgment(id=rule, reason=reason) for one in reasons for rule, reason in one.items()]
    if rules:
        Validations.of(construct).acknowledge(*rules)


def in_packs(rule: str, reason: str, packs: Sequence[str] = COMPLIANCE_PACKS) -> dict[str, str]:
    """The findings of one rule that several packs check."""
    return {f"{pack}-{rule}": reason for pack in packs}


def aws_policies(
    names: Iterable[str], reason: str = "the policy that the service names for it"
) -> dict[str, str]:
    """The findings on AWS-managed policies of a role.

    Args:
        names: as in their ARNs, behind ``policy/``.
        reason: of them all.
    """
    arn = "arn:<AWS::Partition>:iam::aws:policy"
    return {f"AwsSolutions-IAM4[Policy::{arn}/{name}]": reason for name in names}


def wildcards(scope: IConstruct, resources: Iterable[str], reason: str) -> dict[str, str]:
    """The findings on resources that statements name, as far as they have wildcards.

    Args:
        scope: anything in the stack of the policy.
        resources: ARNs; tokens are fine.
        reason: of them all.
    """
    wide = [resource for resource in resources if "*" in resource]
    texts = map(_shown, Stack.of(scope).resolve(wide)) if wide else ()
    return {f"AwsSolutions-IAM5[Resource::{text}]": reason for text in texts}


def _shown(value: Any) -> str:
    """A resolved value as cdk-nag shows it in a finding's id: references in angle brackets."""
    match value:
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::GetAtt": [name, attribute]}:
            return f"<{name}.{attribute}>"
        case {"Fn::Join": [delimiter, parts]}:
            return str(delimiter).join(map(_shown, parts))
        case {"Fn::Sub": str(template)}:
            return re.sub(r"\$\{([^}]+)\}", r"<\1>", template)
        case dict():
            return json.dumps(value, separators=(",", ":"))
        case _:
            return str(value)
