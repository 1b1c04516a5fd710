"""Rules at synth: errors stop the construction, warnings become annotations."""

from collections.abc import Sequence

from aws_cdk import Validations
from constructs import IConstruct

from hyperpod_cdk.rules import Finding, check, errors
from hyperpod_cdk.spec import HyperPodSpec


class SpecError(ValueError):
    """The spec breaks rules; ``findings`` holds every error at once."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("\n".join(map(str, self.findings)))


def checked(spec: HyperPodSpec) -> list[Finding]:
    """The warnings about a spec.

    Args:
        spec: what the user asks for; tokens are passed over.

    Raises:
        SpecError: it breaks rules.
    """
    findings = check(spec)
    faults = errors(findings)
    if faults:
        raise SpecError(faults)
    return findings


def annotate(construct: IConstruct, warnings: Sequence[Finding]) -> None:
    """Show warnings at synth, each acknowledgeable by its code.

    Args:
        construct: what they are about.
        warnings: findings that are no errors.
    """
    for warning in warnings:
        Validations.of(construct).add_warning(f"hyperpod-cdk:{warning.code}", str(warning))
