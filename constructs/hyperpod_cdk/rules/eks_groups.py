"""HP517 to HP519, HP545 to HP549, HP561, HP562, HP570: instance groups and nodes on Amazon EKS."""

import re
from collections.abc import Iterator
from datetime import datetime

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, is_continuous, is_eks, needs_a_node
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.instance_types import Orchestration, find
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup, NodeRecovery, PatchingStrategy

_SERVICE_LABEL = re.compile(r"([a-z0-9-]+\.)*(sagemaker\.amazonaws\.com|kubernetes\.io|k8s\.io)/")
_MEMORY_PERCENT = range(20, 101)
_WITH_STRATEGIES = {
    "drain_policy": (PatchingStrategy.DRAIN_FIRST,),
    "idle_wait_window_in_seconds": (PatchingStrategy.WHEN_IDLE, PatchingStrategy.WHEN_ALL_IDLE),
}
"""Which settings of automatic patching go with which strategies."""
NOT_RESTRICTED = (
    "auto_patch_config",
    "capacity_requirements",
    "image_id",
    "image_release_version",
    "instance_requirements",
    "kubernetes_config",
    "life_cycle_config",
    "min_instance_count",
    "network_interface",
)
"""Settings that restricted groups do not have."""


@checks(
    Rule(
        code="HP517",
        title="labels of the service's own, or taints beside deep health checks",
        why="the service sets such labels itself, and deep health checks work with a taint of their own: the "
        "documentation wants no other beside it",
        fix="use a prefix of your own, and taint nodes in groups without deep health checks",
        source=f"{GUIDE}sagemaker-hyperpod-eks-resiliency-deep-health-checks.html, "
        f"{API}API_ClusterKubernetesConfig.html",
    )
)
def labels_and_taints(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        config = group.kubernetes_config
        if config is None:
            continue
        for key in config.labels if not unresolved(config.labels) else ():
            if not unresolved(key) and _SERVICE_LABEL.match(key):
                where = join(f"{path}.kubernetes_config.labels", key)
                yield rule.finding(where, "is a label of the service's own", given=key)
        if config.taints and group.on_start_deep_health_checks and not unresolved(config.taints):
            where = f"{path}.kubernetes_config.taints"
            yield rule.finding(where, "stand beside on_start_deep_health_checks")


@checks(
    Rule(
        code="HP518",
        title="several instance types where the service takes one",
        why="it chooses node by node, which is Continuous provisioning, and takes each type once",
        fix="use node_provisioning_mode: Continuous, and each type once",
        source=f"{GUIDE}sagemaker-hyperpod-release-notes.html (16 April 2026)",
    )
)
def flexible_types(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        if group.instance_requirements is None or unresolved(spec.cluster.node_provisioning_mode):
            continue
        where = f"{path}.instance_requirements"
        if not is_continuous(spec):
            yield rule.finding(where, "needs Continuous provisioning")
        names = list(group.instance_requirements.instance_types)
        for index, name in enumerate(names):
            if name in names[:index] and not unresolved(name):
                yield rule.finding(f"{where}.instance_types[{index}]", "stands there already", given=name)


@checks(
    Rule(
        code="HP519",
        title="autoscaling that can not be",
        why="the service takes it only with Continuous provisioning and automatic node recovery",
        fix="set node_provisioning_mode: Continuous and node_recovery: Automatic, or remove auto_scaling",
        source=f"{GUIDE}sagemaker-hyperpod-eks-autoscaling.html",
    )
)
def autoscaling(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    cluster = spec.cluster
    if cluster.auto_scaling is None:
        return
    mode, recovery = cluster.node_provisioning_mode, cluster.node_recovery
    if not unresolved(mode) and not is_continuous(spec):
        yield rule.finding("cluster.node_provisioning_mode", "does not go with auto_scaling", given=mode)
    if not unresolved(recovery) and recovery != NodeRecovery.AUTOMATIC:
        yield rule.finding("cluster.node_recovery", "does not go with auto_scaling", given=recovery)


@checks(
    Rule(
        code="HP545",
        title="a share of memory for checkpoints outside what is documented",
        why="the guide says 20 to 100 percent, the API's model 0 to 100; below 20 the service may refuse it",
        fix="give 20 to 100, or leave it to the service",
        source=f"{GUIDE}managed-tier-checkpointing-setup.html, {API}API_ClusterTieredStorageConfig.html",
    )
)
def memory_for_checkpoints(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    tiered = spec.cluster.tiered_storage_config
    given = tiered.instance_memory_allocation_percentage if tiered else None
    if given is not None and not unresolved(given) and given not in _MEMORY_PERCENT:
        where = "cluster.tiered_storage_config.instance_memory_allocation_percentage"
        nearest = [min(max(given, _MEMORY_PERCENT.start), _MEMORY_PERCENT.stop - 1)]
        yield rule.finding(where, "is out of range", given=given, allowed="20 to 100", nearest=nearest)


@checks(
    Rule(
        code="HP546",
        title="a restricted group with a setting that it can not have",
        why="nobody gets on its nodes: it runs no scripts and no image of yours",
        fix="remove the setting, or environment_config to have an ordinary group",
        source=f"{API}API_ClusterRestrictedInstanceGroupSpecification.html",
    )
)
def restricted_settings(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in _restricted(spec):
        for name in NOT_RESTRICTED:
            value = getattr(group, name)
            if value is not None and not unresolved(value):
                yield rule.finding(f"{path}.{name}", "is not for restricted groups")


@checks(
    Rule(
        code="HP547",
        title="restricted groups without a file system, or a file system without them",
        why="a restricted group works on a file system that the service makes, its own or the cluster's "
        "shared one, and its size has to be said",
        fix="give shared_environment_config on the cluster, or environment_config.fsx_lustre_config on each "
        "group",
        source=f"{GUIDE}nova-hp-cluster.html, {API}API_ClusterSharedEnvironmentConfig.html",
    )
)
def restricted_file_system(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    shared = spec.cluster.shared_environment_config is not None
    for path, group in _restricted(spec):
        if not shared and not _has_own_lustre(group):
            yield rule.finding(f"{path}.environment_config", "has no file system")
    if shared and not any(_restricted(spec)):
        yield rule.finding(
            "cluster.shared_environment_config", "is for restricted groups, of which there are none"
        )


@checks(
    Rule(
        code="HP570",
        title="a restricted group's own file system beside the shared one",
        why="no page says what such a group gets, or that it is refused; both file systems cost",
        fix="remove environment_config.fsx_lustre_config (leave environment_config: {}) or "
        "shared_environment_config; or acknowledge this",
        source=f"{API}API_EnvironmentConfig.html, {API}API_ClusterSharedEnvironmentConfig.html; for groups "
        '"that use cluster-level shared FSx Lustre storage": https://docs.aws.amazon.com/AWSCloudFormation/'
        "latest/TemplateReference/aws-properties-sagemaker-cluster-sharedenvironmentconfig.html",
        severity=Severity.WARNING,
    )
)
def two_file_systems(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    shared = spec.cluster.shared_environment_config is not None
    for path, group in _restricted(spec):
        if shared and _has_own_lustre(group):
            yield rule.finding(
                f"{path}.environment_config.fsx_lustre_config", "is there beside the shared one"
            )


@checks(
    Rule(
        code="HP548",
        title="automatic patching that is told two things",
        why="DrainFirst drains nodes and does not wait for them to be idle, the other strategies wait and do "
        "not drain, and a date has to be one",
        fix="use patching_strategy: DrainFirst with drain_policy, another with idle_wait_window_in_seconds, "
        "and a date such as 2026-12-31T03:00:00Z",
        source=f"{GUIDE}sagemaker-hyperpod-ami-auto-patching.html, {API}API_ClusterAutoPatchConfig.html "
        "(as in botocore 1.44.8)",
    )
)
def auto_patch(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        config, where = group.auto_patch_config, f"{path}.auto_patch_config"
        if config is None:
            continue
        strategy, date = config.patching_strategy, config.next_patch_date
        for name, strategies in _WITH_STRATEGIES.items() if not unresolved(strategy) else ():
            if getattr(config, name) is not None and strategy not in strategies:
                message = f"goes with {' and '.join(strategies)} only"
                yield rule.finding(f"{where}.{name}", message, given=strategy)
        if date is not None and not unresolved(date) and not _is_date(date):
            yield rule.finding(f"{where}.next_patch_date", "is no date and time", given=date)


@checks(
    Rule(
        code="HP549",
        title="scripts of your own that an EKS node does not run",
        why="HyperPod runs on_create on a node of Amazon EKS and nothing else, and makes no group without it",
        fix="name the script in on_create",
        source=f"{API}API_ClusterLifeCycleConfig.html, {GUIDE}sagemaker-hyperpod-eks-prerequisites.html",
    )
)
def on_create_needed(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec) if is_eks(spec) else ():
        config = group.life_cycle_config
        if config is not None and (config.on_create is None or config.on_init_complete is not None):
            yield rule.finding(f"{path}.life_cycle_config", "does not name on_create alone")


@checks(
    Rule(
        code="HP562",
        title="add-ons without a node to run on",
        why="the pods of the training operator, task governance, observability and inference run on the "
        "cluster's nodes; without any the add-on fails after 20 minutes, and the deployment with it",
        fix="give an ordinary group at least one node, or leave these out (training_operator: null)",
        source=f"{GUIDE}sagemaker-eks-operator-install.html",
    )
)
def node_needed(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    ordinary = [group for _, group in groups(spec) if group.environment_config is None]
    counts = [group.instance_count for group in ordinary]
    if needs_a_node(spec.cluster) and not unresolved(*counts) and not sum(counts):
        yield rule.finding("cluster.instance_groups", "have no node", given=0, allowed="1 or more")


@checks(
    Rule(
        code="HP561",
        title="deep health checks of nodes that have nothing to check",
        why="on Amazon EKS the checks load GPUs or Trainium, and are for nodes with one of them alone",
        fix="remove on_start_deep_health_checks from this group",
        source=f"{GUIDE}sagemaker-hyperpod-eks-resiliency-deep-health-checks.html",
    )
)
def deep_health_checks(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec) if is_eks(spec) else ():
        for name in group.instance_types if group.on_start_deep_health_checks else ():
            known = find(name)
            if known is not None and Orchestration.EKS not in known.deep_health_checks:
                where = f"{path}.on_start_deep_health_checks"
                yield rule.finding(where, f"checks GPUs or Trainium; {name} has none")


def _has_own_lustre(group: InstanceGroup) -> bool:
    lustre = group.environment_config.fsx_lustre_config if group.environment_config is not None else None
    return lustre is not None


def _restricted(spec: HyperPodSpec) -> Iterator[tuple[str, InstanceGroup]]:
    for path, group in groups(spec):
        if group.environment_config is not None:
            yield path, group


def _is_date(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
