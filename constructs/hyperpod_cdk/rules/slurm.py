"""HP40x: what a Slurm cluster is made of."""

import re
from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, groups_of, is_continuous, is_legacy, node_type
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec, NodeType

_REFERENCE = f"{GUIDE}sagemaker-hyperpod-ref.html"
_SCALING = f"{GUIDE}sagemaker-hyperpod-scaling-slurm.html"
_PARTITION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_TAKEN_PARTITIONS = ("dev", "hyperpod-system-maintenance")
_STRATEGY = "cluster.orchestrator.slurm.slurm_config_strategy"


@checks(
    Rule(
        code="HP400",
        title="a group that is nothing in Slurm",
        why="the service refuses a Slurm cluster with a group of no node type",
        fix="add slurm_config with node_type: Controller, Login or Compute",
        source=_REFERENCE,
    )
)
def slurm_config_needed(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        if group.slurm_config is None:
            allowed = ", ".join(NodeType)
            yield rule.finding(f"{path}.slurm_config", "is missing", allowed=f"a node_type of {allowed}")


@checks(
    Rule(
        code="HP401",
        title="not exactly one controller group",
        why="Slurm's controller runs in exactly one group; the service refuses none and two",
        fix="give one group, and no other, node_type: Controller",
        source=_REFERENCE,
    )
)
def one_controller_group(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if unresolved(*_node_types(spec)):
        return
    controllers = groups_of(spec, NodeType.CONTROLLER)
    if not controllers and spec.cluster.instance_groups:
        yield rule.finding("cluster.instance_groups", "has no controller group")
    for path, _ in controllers[1:]:
        message = f"is the second controller group, after {controllers[0][0]}"
        yield rule.finding(f"{path}.slurm_config.node_type", message, given=NodeType.CONTROLLER)


@checks(
    Rule(
        code="HP402",
        title="a controller group of the wrong size",
        why="a controller group has one node; several controllers need the multi_head settings, and those "
        "several controllers",
        fix="set instance_count to 1, or to 2 or more with multi_head",
        source=f"{GUIDE}sagemaker-hyperpod-multihead-slurm.html",
    )
)
def controller_count(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    multi_head = spec.cluster.orchestrator.slurm.multi_head is not None
    for path, group in groups_of(spec, NodeType.CONTROLLER):
        count = group.instance_count
        if unresolved(count) or (count >= 2 if multi_head else count == 1):
            continue
        yield rule.finding(
            f"{path}.instance_count",
            "is no number of controllers with multi_head" if multi_head else "is no number of controllers",
            given=count,
            allowed="2 or more" if multi_head else "1",
            nearest=(2 if multi_head else 1,),
        )


@checks(
    Rule(
        code="HP403",
        title="a second login group",
        why="the service takes at most one",
        fix="raise the first login group's instance_count instead",
        source=_REFERENCE,
    )
)
def one_login_group(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, _ in groups_of(spec, NodeType.LOGIN)[1:]:
        yield rule.finding(
            f"{path}.slurm_config.node_type", "is the second login group", given=NodeType.LOGIN
        )


@checks(
    Rule(
        code="HP404",
        title="a compute group without a partition, or another group with one",
        why="jobs reach nodes through partitions, and only compute nodes run jobs",
        fix="give each compute group exactly one partition, and no other group any",
        source=_REFERENCE,
    )
)
def partitions(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        config = group.slurm_config
        if config is None or unresolved(config.node_type, config.partition_names):
            continue
        where = f"{path}.slurm_config.partition_names"
        if config.node_type == NodeType.COMPUTE and not config.partition_names:
            yield rule.finding(where, "names no partition of this compute group", allowed="exactly one name")
        elif config.node_type != NodeType.COMPUTE and config.partition_names:
            given = list(config.partition_names)
            yield rule.finding(where, f"does not belong on a {config.node_type} group", given=given)


@checks(
    Rule(
        code="HP405",
        title="a partition of a name that means something else",
        why="every node is in `dev` too, deep health checks use a partition of their own, and in slurm.conf "
        "DEFAULT is no partition but the defaults of those that follow",
        fix="use another name",
        source=f"{_REFERENCE}, slurm.conf(5), "
        f"{GUIDE}sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html",
        severity=Severity.WARNING,
    )
)
def partition_name_taken(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        for index, name in enumerate(group.slurm_config.partition_names if group.slurm_config else ()):
            if name in _TAKEN_PARTITIONS or name.upper() == "DEFAULT":
                where = f"{path}.slurm_config.partition_names[{index}]"
                yield rule.finding(where, "has a meaning already", given=name)


@checks(
    Rule(
        code="HP409",
        title="a partition name that slurm.conf can not have",
        why="in legacy mode the name is written into slurm.conf as it is, and slurmctld does not start",
        fix="use letters, digits, dots, hyphens and underscores",
        source="slurm.conf(5)",
    )
)
def legacy_partition_name(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec) if is_legacy(spec) else ():
        for index, name in enumerate(group.slurm_config.partition_names if group.slurm_config else ()):
            if not unresolved(name) and not _PARTITION.fullmatch(name):
                where = f"{path}.slurm_config.partition_names[{index}]"
                yield rule.finding(where, "is no name of a partition", given=name)


@checks(
    Rule(
        code="HP406",
        title="a strategy with Continuous provisioning",
        why="there the service always merges, and refuses any strategy",
        fix="remove slurm_config_strategy, or use node_provisioning_mode: AllAtOnce",
        source=_SCALING,
    )
)
def strategy_with_continuous(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    strategy = spec.cluster.orchestrator.slurm.slurm_config_strategy
    if strategy is not None and is_continuous(spec):
        yield rule.finding(_STRATEGY, "can not be given with Continuous provisioning", given=strategy)


@checks(
    Rule(
        code="HP407",
        title="no strategy with AllAtOnce provisioning",
        why="the service's pages name two different defaults, so that the choice has to be yours",
        fix="set Managed (the API owns the partitions), Overwrite (by force) or Merge (both)",
        source=f"{_REFERENCE}, {GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html",
    )
)
def strategy_needed(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    strategy = spec.cluster.orchestrator.slurm.slurm_config_strategy
    if unresolved(spec.cluster.node_provisioning_mode) or is_continuous(spec) or is_legacy(spec):
        return
    if strategy is None:
        yield rule.finding(_STRATEGY, "is missing", allowed="Managed, Overwrite, Merge")


@checks(
    Rule(
        code="HP408",
        title="an external accounting database without Continuous provisioning",
        why="the service takes one only there",
        fix="use node_provisioning_mode: Continuous, or remove accounting_database",
        source="https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-external-accounting-db-slurm.html",
    )
)
def accounting_needs_continuous(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if unresolved(spec.cluster.node_provisioning_mode) or is_continuous(spec):
        return
    if spec.cluster.orchestrator.slurm.accounting_database is not None:
        yield rule.finding("cluster.orchestrator.slurm.accounting_database", "needs Continuous provisioning")


def _node_types(spec: HyperPodSpec) -> list[NodeType | None]:
    return [node_type(group) for _, group in groups(spec)]
