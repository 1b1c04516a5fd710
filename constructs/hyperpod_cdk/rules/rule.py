"""Rules, and how a function becomes one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from hyperpod_cdk.rules.finding import Finding, Position, Severity


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What a code stands for.

    ``code`` is stable: ``HP0xx`` form of the file, ``HP1xx`` cluster, ``HP2xx`` network, ``HP3xx`` storage,
    ``HP4xx`` Slurm and nodes, ``HP5xx`` Amazon EKS. ``why`` says what happens otherwise, ``fix`` what to do
    in general, ``source`` where the fact comes from.
    """

    code: str
    title: str
    why: str
    fix: str
    source: str
    severity: Severity = Severity.ERROR

    def finding(
        self,
        path: str,
        message: str,
        *,
        given: Any = None,
        allowed: str | None = None,
        nearest: Sequence[Any] = (),
        fix: str | None = None,
        position: Position | None = None,
    ) -> Finding:
        """A finding of this rule; ``fix`` defaults to the rule's own."""
        return Finding(
            code=self.code,
            severity=self.severity,
            path=path,
            message=message,
            given=given,
            allowed=allowed,
            nearest=tuple(nearest),
            fix=fix or self.fix,
            position=position,
        )


Subject = TypeVar("Subject")
"""What is looked at: a cluster's spec, a training job."""


@dataclass(frozen=True, kw_only=True)
class Check(Generic[Subject]):
    """A rule and the function that finds what breaks it."""

    rule: Rule
    find: Callable[[Subject, Rule], Iterable[Finding]]

    def __call__(self, subject: Subject) -> list[Finding]:
        """Every finding of this rule alone."""
        return list(self.find(subject, self.rule))


def checks(
    rule: Rule,
) -> Callable[[Callable[[Subject, Rule], Iterable[Finding]]], Check[Subject]]:
    """Make a function the check of ``rule``."""
    return lambda find: Check(rule=rule, find=find)
