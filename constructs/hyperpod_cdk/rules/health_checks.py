"""HP116 to HP119: checks that nodes pass before their first job."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, is_eks, node_type
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.service.instance_types import Orchestration, find
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import DeepHealthCheck, HyperPodSpec, NodeRecovery, NodeType

_DEEP_HEALTH_CHECKS = f"{GUIDE}sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html"


@checks(
    Rule(
        code="HP116",
        title="deep health checks on nodes that have nothing to check",
        why="on Slurm the checks load the GPUs of compute nodes and the network between them; they leave out "
        "controller and login nodes, and nodes with other accelerators or none",
        fix="remove on_start_deep_health_checks from this group",
        source=_DEEP_HEALTH_CHECKS,
        severity=Severity.WARNING,
    )
)
def deep_health_check_of_nothing(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        if not group.on_start_deep_health_checks or is_eks(spec):
            continue
        kind, where = node_type(group), f"{path}.on_start_deep_health_checks"
        if kind in (NodeType.CONTROLLER, NodeType.LOGIN):
            yield rule.finding(where, f"checks nothing on a {str(kind).lower()} node")
            continue
        for name in group.instance_types:
            known = find(name)
            if known is not None and Orchestration.SLURM not in known.deep_health_checks:
                yield rule.finding(where, f"checks GPUs; {name} has none")


@checks(
    Rule(
        code="HP118",
        title="a deep health check that finds nothing to connect",
        why="the check of connectivity runs NCCL between nodes over EFA, and only on types that have it; the "
        "service's page on Slurm knows InstanceStress and InstanceConnectivity alone",
        fix="keep InstanceStress, and remove the other",
        source=_DEEP_HEALTH_CHECKS,
        severity=Severity.WARNING,
    )
)
def deep_health_check_of_connections(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        without = [
            name for name in group.instance_types if (known := find(name)) and known.efa_interfaces == 0
        ]
        for index, check in enumerate(group.on_start_deep_health_checks):
            where = f"{path}.on_start_deep_health_checks[{index}]"
            if check == DeepHealthCheck.MULTI_NODE_TRAINING_VALIDATION and not is_eks(spec):
                yield rule.finding(where, "is not documented for Slurm", given=check)
            elif check == DeepHealthCheck.INSTANCE_CONNECTIVITY and without:
                message = f"needs EFA, which {without[0]} does not have"
                yield rule.finding(where, message, given=check)


@checks(
    Rule(
        code="HP119",
        title="deep health checks whose findings nobody acts on",
        why="a node that fails stays shut away until it is replaced, which the service does only with node "
        "recovery",
        fix="set node_recovery: Automatic",
        source=f"{_DEEP_HEALTH_CHECKS}, {API}API_CreateCluster.html",
        severity=Severity.WARNING,
    )
)
def deep_health_check_without_recovery(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    checked = any(group.on_start_deep_health_checks for _, group in groups(spec))
    if checked and spec.cluster.node_recovery == NodeRecovery.NONE:
        message = "leaves nodes that fail a deep health check unusable"
        yield rule.finding("cluster.node_recovery", message, given=NodeRecovery.NONE)
