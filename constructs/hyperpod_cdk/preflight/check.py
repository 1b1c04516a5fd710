"""Checks, and what comes of them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from hyperpod_cdk.preflight.calls import Api, Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule, errors
from hyperpod_cdk.rules.look import groups
from hyperpod_cdk.spec import HyperPodSpec


@dataclass(frozen=True, kw_only=True)
class Unchecked:
    """Something that a check could not look at, and why."""

    path: str
    reason: str


Find: TypeAlias = Callable[[Look, Rule], Iterable[Finding | Unchecked]]
"""Looks at an account and builds findings of the rule that it is given."""


def _always(_spec: HyperPodSpec) -> bool:
    return True


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that an account must have or must not have.

    Args:
        name: short and stable, such as ``free-addresses``.
        rule: code, title, why, fix, source and severity.
        apis: every operation that it may call.
        find: finds what is wrong.
        asks: calls that it will make for a spec without having seen an answer; they are begun at once.
            Default: none.
        needed: whether it has anything to look at. Default: always.
    """

    name: str
    rule: Rule
    apis: Sequence[Api]
    find: Find
    asks: Callable[[Look], Iterable[Call]] = lambda _: ()
    needed: Callable[[HyperPodSpec], bool] = _always


class Outcome(StrEnum):
    """What came of a check."""

    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "could not check"


@dataclass(frozen=True, kw_only=True)
class Result:
    """A check and what it found; ``unchecked`` says what it could not look at."""

    check: Check
    findings: Sequence[Finding] = ()
    unchecked: Sequence[Unchecked] = ()

    @property
    def outcome(self) -> Outcome:
        """A mistake outweighs what could not be looked at, and that a doubt."""
        if errors(self.findings):
            return Outcome.FAIL
        if self.unchecked:
            return Outcome.UNKNOWN
        return Outcome.WARN if self.findings else Outcome.PASS


def result_of(check: Check, look: Look) -> Result:
    """Run one check; whatever goes wrong in it is something that could not be checked, never a pass."""
    findings: list[Finding] = []
    unchecked: list[Unchecked] = []
    try:
        for one in check.find(look, check.rule):
            if isinstance(one, Unchecked):
                unchecked.append(one)
            else:
                findings.append(_with_group(look.spec, one))
    except (UnansweredError, RefusedError) as reason:
        unchecked.append(Unchecked(path="", reason=str(reason)))
    except Exception as error:
        # an answer unlike any that was foreseen must not stop the other checks
        unchecked.append(Unchecked(path="", reason=f"AWS answered unlike expected: {error!r}"))
    return Result(check=check, findings=tuple(findings), unchecked=tuple(dict.fromkeys(unchecked)))


def _with_group(spec: HyperPodSpec, finding: Finding) -> Finding:
    for path, group in groups(spec):
        if finding.path == path or finding.path.startswith(f"{path}."):
            return replace(finding, instance_group=group.instance_group_name)
    return finding
