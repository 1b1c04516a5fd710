"""All rules."""

from collections.abc import Iterable, Mapping
from functools import partial
from types import ModuleType

from hyperpod_cdk.rules import (
    accounting,
    accounting_database,
    accounting_records,
    acknowledgements,
    api_limits,
    bootstrap_guard,
    capacity,
    chart_parts,
    closed_network,
    cluster,
    deployment,
    directory,
    downloads,
    eks_cluster,
    eks_governance,
    eks_groups,
    eks_services,
    eks_volumes,
    groups,
    health_checks,
    helm_chart_release,
    kept_data,
    lifecycle,
    lifecycle_files,
    lustre,
    lustre_clients,
    lustre_doubts,
    lustre_options,
    mount_paths,
    mounts,
    names,
    network,
    node_numbers,
    node_places,
    node_software,
    openzfs,
    orchestrators,
    own_scripts,
    roles,
    slurm,
    slurm_conf,
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
from hyperpod_cdk.rules.look import orchestration
from hyperpod_cdk.rules.named import with_group
from hyperpod_cdk.rules.rule import Check, Rule
from hyperpod_cdk.rules.together import TOGETHER_CHECKS
from hyperpod_cdk.rules.training_jobs import JOB_CHECKS
from hyperpod_cdk.rules.typed import mistyped
from hyperpod_cdk.rules.unread import UnreadError, until_unread
from hyperpod_cdk.service.instance_types import Orchestration
from hyperpod_cdk.spec import HyperPodSpec

_ANY: tuple[ModuleType, ...] = (
    *(api_limits, cluster, deployment, groups, health_checks, capacity, volumes, software_updates),
    *(names, roles, network, closed_network, zones),
    *(lustre, lustre_options, openzfs, mounts, bootstrap_guard),
    *(lustre_clients, lustre_doubts, kept_data, mount_paths, acknowledgements),
    *(lifecycle_files, own_scripts, orchestrators),
)
_SLURM: tuple[ModuleType, ...] = (
    *(slurm, slurm_settings, slurm_conf, lifecycle, users, user_groups),
    *(accounting_database, accounting, accounting_records),
    *(node_numbers, node_software, node_places, directory, downloads),
)
_EKS: tuple[ModuleType, ...] = (
    *(eks_cluster, eks_groups, eks_governance, eks_volumes, eks_services),
    *(helm_chart_release, chart_parts),
)


def _checks(modules: Iterable[ModuleType]) -> tuple[Check[HyperPodSpec], ...]:
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Check))


CHECKS: tuple[Check[HyperPodSpec], ...] = _checks((*_ANY, *_SLURM, *_EKS))
"""Every check, in the order of their modules."""

_OF: Mapping[Orchestration, tuple[Check[HyperPodSpec], ...]] = {
    Orchestration.SLURM: _checks((*_ANY, *_SLURM)),
    Orchestration.EKS: _checks((*_ANY, *_EKS)),
}

APART: tuple[Rule, ...] = (
    *FORM,
    *(one.rule for one in JOB_CHECKS),
    *(one.rule for one in CHANGE_CHECKS),
    *(one.rule for one in TOGETHER_CHECKS),
)
"""Rules of what is looked at by itself: a file's form, a training job, a change, several files."""

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
        for one in _OF[orchestration(spec)]
        for finding in one(spec)
        if finding.severity is Severity.ERROR or finding.code not in silent
    )


def check_part(spec: HyperPodSpec) -> list[Finding]:
    """The errors that hold whatever stands in the fields of a spec that could not be read.

    Args:
        spec: with :func:`~hyperpod_cdk.rules.unread.with_unread` parts; of the right types elsewhere.
    """
    found = [
        finding
        for one in _checks_of(spec)
        if one.rule.severity is Severity.ERROR
        for finding in until_unread(partial(one.find, spec, one.rule))
    ]
    return ordered(_named(spec, finding) for finding in found)


def _checks_of(spec: HyperPodSpec) -> tuple[Check[HyperPodSpec], ...]:
    """Those of the spec's orchestrator; where that is not known, those of both."""
    try:
        return _OF[orchestration(spec)]
    except UnreadError:
        return _checks(_ANY)


def _named(spec: HyperPodSpec, finding: Finding) -> Finding:
    try:
        return with_group(spec, finding)
    except UnreadError:
        return finding
