"""All rules."""

from collections.abc import Iterable, Mapping
from types import ModuleType

from hyperpod_cdk.rules import (
    accounting,
    accounting_database,
    acknowledgements,
    api_limits,
    bootstrap_guard,
    capacity,
    closed_network,
    cluster,
    deployment,
    downloads,
    groups,
    health_checks,
    kept_data,
    lifecycle,
    lifecycle_files,
    lustre,
    lustre_doubts,
    lustre_options,
    mount_paths,
    mounts,
    names,
    network,
    node_numbers,
    node_software,
    openzfs,
    own_scripts,
    roles,
    slurm,
    slurm_settings,
    software_updates,
    user_groups,
    users,
    volumes,
    zones,
)
from hyperpod_cdk.rules.changes import CHANGE_CHECKS
from hyperpod_cdk.rules.finding import Finding, Severity, ordered
from hyperpod_cdk.rules.form import FORM
from hyperpod_cdk.rules.helm_chart import CHART_CHECKS
from hyperpod_cdk.rules.named import with_group
from hyperpod_cdk.rules.rule import Check, Rule
from hyperpod_cdk.rules.training_jobs import JOB_CHECKS
from hyperpod_cdk.rules.typed import mistyped
from hyperpod_cdk.spec import HyperPodSpec

_MODULES: tuple[ModuleType, ...] = (
    *(api_limits, cluster, deployment, groups, health_checks, capacity, volumes, software_updates),
    *(names, roles, network, closed_network, zones),
    *(
        lustre,
        lustre_options,
        openzfs,
        mounts,
        slurm,
        slurm_settings,
        lifecycle,
        bootstrap_guard,
        users,
        user_groups,
    ),
    *(lustre_doubts, kept_data, mount_paths, acknowledgements),
    *(lifecycle_files, own_scripts, accounting_database),
    *(accounting, node_numbers, node_software, downloads),
)

CHECKS: tuple[Check[HyperPodSpec], ...] = tuple(
    value for module in _MODULES for value in vars(module).values() if isinstance(value, Check)
)
"""Every check, in the order of their modules."""

APART: tuple[Rule, ...] = (
    *FORM,
    *(one.rule for one in JOB_CHECKS),
    *(one.rule for one in CHART_CHECKS),
    *(one.rule for one in CHANGE_CHECKS),
)
"""Rules of what is looked at by itself: a file's form, a training job, a chart, a change."""

RULES: Mapping[str, Rule] = {
    rule.code: rule for rule in sorted((*APART, *(one.rule for one in CHECKS)), key=lambda rule: rule.code)
}
"""Every rule by its code, in order."""


def check(spec: HyperPodSpec, *, acknowledged: Iterable[str] = ()) -> list[Finding]:
    """Everything that is wrong or doubtful about a spec, errors first.

    Args:
        spec: what a user asks for; values that are tokens are passed over.
        acknowledged: codes of warnings that are not to be told again, beside those that the spec itself
            acknowledges; errors can not be acknowledged.
    """
    mistakes = list(mistyped(spec))
    if mistakes:
        return ordered(mistakes)
    silent = {*acknowledged, *spec.acknowledge}
    return ordered(
        with_group(spec, finding)
        for one in CHECKS
        for finding in one(spec)
        if finding.severity is Severity.ERROR or finding.code not in silent
    )
