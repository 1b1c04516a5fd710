"""HP106: configurations that are looked at together, such as those of one repository."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.rule import Check, Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A spec, and those of other files by the files' names."""

    spec: HyperPodSpec
    others: Mapping[str, HyperPodSpec]


@checks(
    Rule(
        code="HP106",
        title="two configurations of one stack, or of one cluster's name",
        why="deployed to one account, the second changes the stack of the first, down to its nodes and its "
        "network, or stops at a name that is taken",
        fix="give each a stack_name and a cluster_name of its own; or acknowledge this where each goes to an "
        "account of its own",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html",
        severity=Severity.WARNING,
    )
)
def names_apart(beside: Beside, rule: Rule) -> Iterator[Finding]:
    spec = beside.spec
    for file, other in beside.others.items():
        if not _one_region(spec, other):
            continue
        if _same(spec.stack_name, other.stack_name):
            yield rule.finding("stack_name", f"is that of {file} too", given=spec.stack_name)
        elif _same(spec.cluster.cluster_name, other.cluster.cluster_name):
            given = spec.cluster.cluster_name
            yield rule.finding("cluster.cluster_name", f"is that of {file} too", given=given)


def _same(one: str | None, other: str | None) -> bool:
    return one is not None and one == other and not unresolved(one, other)


def _one_region(one: HyperPodSpec, other: HyperPodSpec) -> bool:
    """Whether both may go to one Region; the environment's is any."""
    regions = {one.region, other.region} - {None}
    return len(regions) < 2


TOGETHER_CHECKS: Sequence[Check[Beside]] = (names_apart,)
"""Every check of several configurations."""


def check_together(
    spec: HyperPodSpec, others: Mapping[str, HyperPodSpec], *, acknowledged: frozenset[str] = frozenset()
) -> list[Finding]:
    """What does not go with other configurations.

    Args:
        spec: what a user asks for; findings are about its paths.
        others: by the names of their files.
        acknowledged: codes of warnings that are not to be told, beside the spec's own.
    """
    silent = {*acknowledged, *spec.acknowledge}
    beside = Beside(spec=spec, others=others)
    return [found for one in TOGETHER_CHECKS for found in one(beside) if found.code not in silent]
