"""What a whole preflight comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.preflight.check import Check, Outcome, Result
from hyperpod_cdk.rules import Finding

NOTHING_FAILS, SOMETHING_FAILS, NOT_ALL_CHECKED = 0, 1, 2
"""Exit codes; warnings do not change them."""


@dataclass(frozen=True, kw_only=True)
class Report:
    """Results in the order of the checks.

    Args:
        region: the Region that was asked.
        account: the account's id, None where it could not be told.
        caller: ARN of who asked, None where it could not be told.
        results: of every check that the spec needs.
        left_out: checks with nothing to look at.
        seconds: how long it took.
    """

    region: str
    account: str | None
    caller: str | None
    results: Sequence[Result]
    left_out: Sequence[Check] = ()
    seconds: float = 0.0

    @property
    def findings(self) -> list[Finding]:
        """Every finding."""
        return [finding for result in self.results for finding in result.findings]

    @property
    def exit_code(self) -> int:
        """1 where something fails, else 2 where something could not be checked, else 0."""
        outcomes = {result.outcome for result in self.results}
        if Outcome.FAIL in outcomes:
            return SOMETHING_FAILS
        return NOT_ALL_CHECKED if Outcome.UNKNOWN in outcomes else NOTHING_FAILS

    def count(self, outcome: Outcome) -> int:
        """How many checks came to this."""
        return sum(result.outcome is outcome for result in self.results)

    def to_json(self) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "region": self.region,
            "account": self.account,
            "caller": self.caller,
            "exit_code": self.exit_code,
            "seconds": round(self.seconds, 3),
            "counts": {str(outcome): self.count(outcome) for outcome in Outcome},
            "checks": [_plain(result) for result in self.results],
            "not_needed": [check.name for check in self.left_out],
        }


def _plain(result: Result) -> dict[str, Any]:
    rule = result.check.rule
    return {
        "name": result.check.name,
        "code": rule.code,
        "title": rule.title,
        "outcome": str(result.outcome),
        "findings": [finding.to_json() for finding in result.findings],
        "unchecked": [{"path": one.path, "reason": one.reason} for one in result.unchecked],
    }
