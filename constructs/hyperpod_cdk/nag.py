"""Acknowledged findings of cdk-nag; works where cdk-nag is not installed."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from aws_cdk import Acknowledgment, Stack, Validations
from constructs import IConstruct

COMPLIANCE_PACKS = ("HIPAA.Security", "NIST.800.53.R5", "PCI.DSS.321")
"""Packs that check many of the same rules, each under its own prefix."""


def acknowledge(construct: IConstruct, reasons: Mapping[str, str]) -> None:
    """Accept findings on one construct, each with its reason.

    Args:
        construct: The narrowest construct that has the findings.
        reasons: Reason by exact finding id, such as ``AwsSolutions-IAM5[Resource::*]``.
    """
    rules = [Acknowledgment(id=rule, reason=reason) for rule, reason in reasons.items()]
    Validations.of(construct).acknowledge(*rules)


def acknowledge_everywhere(
    construct: IConstruct, rule: str, reason: str, *, packs: Sequence[str] = COMPLIANCE_PACKS
) -> None:
    """Accept one rule that several packs check."""
    acknowledge(construct, {f"{pack}-{rule}": reason for pack in packs})


def acknowledge_resources(construct: IConstruct, resources: Iterable[str], reason: str) -> None:
    """Accept that statements of a policy name these resources, as far as they have wildcards."""
    wide = [resource for resource in resources if "*" in resource]
    texts = map(_shown, Stack.of(construct).resolve(wide))
    acknowledge(construct, {f"AwsSolutions-IAM5[Resource::{text}]": reason for text in texts})


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
