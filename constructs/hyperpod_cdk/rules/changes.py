"""Every check of a change: what becomes of what is deployed."""

from collections.abc import Iterable

from hyperpod_cdk.rules import cluster_changes, eks_changes, storage_changes
from hyperpod_cdk.rules.change import SpecChange
from hyperpod_cdk.rules.finding import Finding, Severity, ordered
from hyperpod_cdk.rules.named import with_group
from hyperpod_cdk.rules.rule import Check
from hyperpod_cdk.spec import HyperPodSpec

CHANGE_CHECKS: tuple[Check[SpecChange], ...] = tuple(
    value
    for module in (cluster_changes, storage_changes, eks_changes)
    for value in vars(module).values()
    if isinstance(value, Check)
)
"""Every check of a change."""


def check_change(
    before: HyperPodSpec, after: HyperPodSpec, *, acknowledged: Iterable[str] = ()
) -> list[Finding]:
    """What a change of a deployed spec replaces, and what of it is refused; errors first.

    Args:
        before: the spec that is deployed.
        after: the spec that is to be deployed; findings are about its paths.
        acknowledged: codes of warnings that are not to be told again, beside the spec's own.
    """
    silent = {*acknowledged, *after.acknowledge}
    change = SpecChange(before=before, after=after)
    return ordered(
        with_group(after, finding)
        for one in CHANGE_CHECKS
        for finding in one(change)
        if finding.severity is Severity.ERROR or finding.code not in silent
    )
