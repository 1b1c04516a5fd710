"""HP15x: how nodes are bought, and what their network interfaces carry."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, is_continuous, node_type
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.instance_types import find
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import CapacityType, HyperPodSpec, InstanceGroup, NodeType

_SPOT = f"{GUIDE}sagemaker-hyperpod-spot.html"


@checks(
    Rule(
        code="HP150",
        title="Spot capacity without Continuous provisioning",
        why="Spot nodes come and go, which a cluster that is brought up as a whole does not survive",
        fix="use node_provisioning_mode: Continuous, or remove capacity_requirements",
        source=_SPOT,
    )
)
def spot_needs_continuous(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if unresolved(spec.cluster.node_provisioning_mode) or is_continuous(spec):
        return
    for path, _ in _spot_groups(spec):
        where = f"{path}.capacity_requirements"
        yield rule.finding(where, "needs Continuous provisioning", given=CapacityType.SPOT)


@checks(
    Rule(
        code="HP151",
        title="Spot capacity under Slurm",
        why="the service's page on Spot shows clusters on Amazon EKS only; what becomes of a Slurm job on a "
        "node that is taken back is not documented",
        fix="try it with jobs that can be requeued, and acknowledge this; or remove capacity_requirements",
        source=_SPOT,
        severity=Severity.WARNING,
    )
)
def spot_under_slurm(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in _spot_groups(spec):
        if node_type(group) == NodeType.COMPUTE:
            yield rule.finding(f"{path}.capacity_requirements", "is not documented for Slurm", given="Spot")


@checks(
    Rule(
        code="HP152",
        title="a controller or login node that can be taken back",
        why="a Spot node goes at two minutes' notice: without the controller no job starts, and without the "
        "login node nobody gets in",
        fix="use Spot for compute groups only",
        source=_SPOT,
        severity=Severity.WARNING,
    )
)
def spot_controller(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in _spot_groups(spec):
        kind = node_type(group)
        if kind in (NodeType.CONTROLLER, NodeType.LOGIN):
            where = f"{path}.capacity_requirements"
            yield rule.finding(where, f"makes the {str(kind).lower()} node one of Spot", given="Spot")


@checks(
    Rule(
        code="HP153",
        title="Spot capacity and a training plan",
        why="the plan's capacity is paid for already, and Spot asks for other capacity beside it",
        fix="remove capacity_requirements or training_plan_arn",
        source=f"{GUIDE}training-plan-utilization-for-hyperpod.html",
        severity=Severity.WARNING,
    )
)
def spot_and_plan(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in _spot_groups(spec):
        if group.training_plan_arn is not None:
            yield rule.finding(
                f"{path}.capacity_requirements", "leaves the training plan unused", given="Spot"
            )


@checks(
    Rule(
        code="HP154",
        title="EFA interfaces on a type without EFA",
        why="the nodes can not be launched",
        fix="remove network_interface, or use a type with EFA",
        source=f"{API}API_ClusterNetworkInterface.html; EC2 DescribeInstanceTypes, NetworkInfo.EfaSupported",
    )
)
def interface_without_efa(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        for name in group.instance_types if group.network_interface is not None else ():
            known = find(name)
            if known is not None and known.efa_interfaces == 0:
                yield rule.finding(
                    f"{path}.network_interface",
                    f"is not for {name}, which has no EFA",
                    given=group.network_interface,
                )


def _spot_groups(spec: HyperPodSpec) -> Iterator[tuple[str, InstanceGroup]]:
    for path, group in groups(spec):
        if group.capacity_requirements == CapacityType.SPOT:
            yield path, group
