"""What a validation found in one file."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hyperpod_cdk.rules.finding import Finding


@dataclass(frozen=True, kw_only=True)
class FileReport:
    """One file's findings, in order; ``acknowledged`` holds the warnings that are not told."""

    file: str
    findings: "Sequence[Finding]"
    acknowledged: "Sequence[Finding]" = ()
