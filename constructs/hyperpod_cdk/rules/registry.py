"""All rules."""

from collections.abc import Iterable, Mapping
from types import ModuleType

from hyperpod_cdk.rules import (
    api_limits,
    cluster,
    deployment,
    groups,
    lifecycle,
    lustre,
    lustre_options,
    mounts,
    names,
    network,
    openzfs,
    slurm,
    users,
    volumes,
    zones,
)
from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.form import FORM
from hyperpod_cdk.rules.rule import Check, Rule
from hyperpod_cdk.spec import HyperPodSpec

_MODULES: tuple[ModuleType, ...] = (
    *(api_limits, cluster, deployment, groups, volumes, names, network, zones),
    *(lustre, lustre_options, openzfs, mounts, slurm, lifecycle, users),
)

CHECKS: tuple[Check, ...] = tuple(
    value for module in _MODULES for value in vars(module).values() if isinstance(value, Check)
)
"""Every check, in the order of their modules."""

RULES: Mapping[str, Rule] = {
    rule.code: rule for rule in sorted((*FORM, *(check.rule for check in CHECKS)), key=lambda rule: rule.code)
}
"""Every rule by its code, in order."""


def check(spec: HyperPodSpec, *, acknowledged: Iterable[str] = ()) -> list[Finding]:
    """Everything that is wrong or doubtful about a spec, errors first.

    Args:
        spec: what a user asks for; values that are tokens are passed over.
        acknowledged: codes of warnings that are not to be told again; errors can not be acknowledged.
    """
    silent = frozenset(acknowledged)
    findings = [
        finding
        for one in CHECKS
        for finding in one(spec)
        if finding.severity is Severity.ERROR or finding.code not in silent
    ]
    return sorted(findings, key=lambda finding: finding.severity is not Severity.ERROR)
