"""HP52x: task governance on Amazon EKS: teams, their quotas, and the policy."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, instance_types
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.governance import MAX_NAME, POLICY_REGIONS, instances
from hyperpod_cdk.service.instance_types import find
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import (
    ComputeQuotaResource,
    HyperPodSpec,
    ResourceSharingStrategy,
    TaskGovernance,
    Team,
)

_WHERE = "cluster.orchestrator.eks.task_governance"
_POLICIES = f"{GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-policies.html"
_ALLOCATION = f"{GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-policies-compute-allocation.html"
_SUBMITTING = f"{GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-cli.html"
_PARTS = ("accelerators", "vcpu", "memory_in_gib", "accelerator_partition")


@checks(
    Rule(
        code="HP520",
        title="a name of a team or priority class that is too long",
        why="jobs carry it in a label, with more before and behind it, and Kubernetes takes 63 characters",
        fix="shorten the name",
        source=_SUBMITTING,
    )
)
def names_fit(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, name in _names(spec):
        if not unresolved(name) and len(name) > MAX_NAME:
            what = f"is {len(name)} characters long"
            yield rule.finding(path, what, given=name, allowed=f"1 to {MAX_NAME} characters")


@checks(
    Rule(
        code="HP521",
        title="a team or priority class that is there twice",
        why="a team has one namespace and one quota, and a class one weight",
        fix="give each its own name, or make one of the two",
        source=f"{_POLICIES}, {API}API_CreateComputeQuota.html",
    )
)
def names_differ(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for path, name in _names(spec):
        kind = path.rpartition(".")[2]
        if not unresolved(name) and (kind, name) in seen:
            yield rule.finding(path, "is there already", given=name)
        seen.add((kind, name))


@checks(
    Rule(
        code="HP522",
        title="an allocation that gives nothing, or the same twice",
        why="the service wants an amount for each instance type, and one",
        fix="give count, accelerators, vcpu, memory_in_gib or accelerator_partition, each type once",
        source=f"{API}API_ComputeQuotaResourceConfig.html, {_ALLOCATION}",
    )
)
def amounts(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for _, entries in _lists(spec):
        seen: set[tuple[str, str]] = set()
        for path, entry in entries:
            partition = entry.accelerator_partition
            key = (entry.instance_type, partition.type if partition else "")
            if entry.count is None and all(getattr(entry, part) is None for part in _PARTS):
                yield rule.finding(path, "has no amount")
            elif not unresolved(*key) and key in seen:
                where = f"{path}.instance_type"
                yield rule.finding(where, "is there already", given=entry.instance_type)
            seen.add(key)


@checks(
    Rule(
        code="HP523",
        title="whole instances and parts in one allocation",
        why="the console allocates by instances or by parts; which of the two counts where both are given, "
        "no page tells",
        fix="give count alone, or the parts alone",
        source=_ALLOCATION,
        severity=Severity.WARNING,
    )
)
def whole_or_parts(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for _, entries in _lists(spec):
        for path, entry in entries:
            parts = [part for part in _PARTS if getattr(entry, part) is not None]
            if entry.count is not None and parts:
                yield rule.finding(f"{path}.count", f"stands beside {', '.join(parts)}", given=entry.count)


@checks(
    Rule(
        code="HP524",
        title="a quota of an instance type that the cluster has not",
        why="jobs that are admitted by it find no node, and wait for ever",
        fix="use a type of the cluster's instance groups",
        source=f"{API}API_ComputeQuotaResourceConfig.html",
    )
)
def types_are_there(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    there = {name for path, group in groups(spec) for _, name in instance_types(path, group)}
    if unresolved(spec.cluster.instance_groups, *there):
        return
    for path, _, entry in _quotas(spec):
        if not unresolved(entry.instance_type) and entry.instance_type not in there:
            yield rule.finding(
                f"{path}.instance_type",
                "is of no instance group",
                given=entry.instance_type,
                allowed=", ".join(sorted(there)),
            )


@checks(
    Rule(
        code="HP525",
        title="quotas of more than the cluster has",
        why="a guarantee that can not be kept lets jobs of one team wait although its quota is free",
        fix="give the teams together no more than the instance groups have, and let them borrow",
        source=_POLICIES,
        severity=Severity.WARNING,
    )
)
def together(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.cluster.auto_scaling is not None or unresolved(spec.cluster.instance_groups):
        return
    there: dict[str, float] = defaultdict(float)
    for path, group in groups(spec):
        for _, name in instance_types(path, group):
            there[name] += float("inf") if unresolved(group.instance_count) else group.instance_count
    wanted: dict[str, float] = defaultdict(float)
    for path, _, entry in _quotas(spec):
        amount = {name: getattr(entry, name) for name in ("count", *_PARTS[:3])}
        if unresolved(entry.instance_type, *amount.values()):
            continue
        before = wanted[entry.instance_type]
        wanted[entry.instance_type] = before + instances(entry.instance_type, **amount)
        most = there.get(entry.instance_type, float("inf"))
        if before <= most < wanted[entry.instance_type]:
            yield rule.finding(
                path,
                f"brings the quotas of {entry.instance_type} to {wanted[entry.instance_type]:g} instances",
                allowed=f"{most:g}, which the instance groups have",
            )


@checks(
    Rule(
        code="HP526",
        title="a quota of parts that the instance type has not",
        why="the service can not tell the share of an instance that is meant, and no job can have them",
        fix="allocate whole instances, or parts that the type has",
        source="EC2 DescribeInstanceTypes, GpuInfo and NeuronInfo",
    )
)
def parts_are_there(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for _, entries in _lists(spec):
        for path, entry in entries:
            known = None if unresolved(entry.instance_type) else find(entry.instance_type)
            if known is None or known.accelerators:
                continue
            for part in ("accelerators", "accelerator_partition"):
                given = getattr(entry, part)
                if given and not unresolved(given):
                    what = f"is not for {entry.instance_type}, which has no accelerators"
                    yield rule.finding(f"{path}.{part}", what)


@checks(
    Rule(
        code="HP527",
        title="a setting of task governance that has no effect",
        why="a team borrows with LendAndBorrow alone, and weights count with fair_share alone",
        fix="remove the setting, or let it have an effect",
        source=f"{API}API_ResourceSharingConfig.html, {API}API_ComputeQuotaTarget.html",
        severity=Severity.WARNING,
    )
)
def without_effect(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    governance = _governance(spec)
    for path, team in _teams(spec):
        sharing = team.resource_sharing_config
        if governance and not governance.fair_share and team.fair_share_weight is not None:
            yield rule.finding(f"{path}.fair_share_weight", "counts only with fair_share")
        if sharing is None or unresolved(sharing.strategy):
            continue
        borrows = sharing.strategy == ResourceSharingStrategy.LEND_AND_BORROW
        where = f"{path}.resource_sharing_config"
        for name in ("borrow_limit", "absolute_borrow_limits"):
            if not borrows and getattr(sharing, name):
                yield rule.finding(f"{where}.{name}", "is for who borrows", given=sharing.strategy)
        if borrows and sharing.borrow_limit == 0:
            yield rule.finding(f"{where}.borrow_limit", "lets the team borrow nothing: use Lend", given=0)


@checks(
    Rule(
        code="HP528",
        title="a borrow limit of an instance type that is not the team's",
        why="absolute limits are for instance types of the team's own quota",
        fix="add the type to the team's quota, or remove the limit",
        source=_POLICIES,
    )
)
def limits_of_the_quota(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, team in _teams(spec):
        own = {entry.instance_type for entry in team.compute_quota_resources}
        if unresolved(*own) or team.resource_sharing_config is None:
            continue
        for where, entry in _limits(path, team):
            if not unresolved(entry.instance_type) and entry.instance_type not in own:
                yield rule.finding(
                    f"{where}.instance_type",
                    "is not in the team's quota",
                    given=entry.instance_type,
                    allowed=", ".join(sorted(own)) or "none: the team has no quota of its own",
                )


@checks(
    Rule(
        code="HP529",
        title="task governance where CloudFormation is not known to have its policy's type",
        why="where CloudFormation lacks the type the deployment stops at it; lists of its types by Region "
        "lag behind",
        fix="look with `aws cloudformation describe-type --type RESOURCE --type-name "
        "AWS::SageMaker::ClusterSchedulerConfig`, and acknowledge this if it is there",
        source="CloudFormation's schemas by Region: AWS::SageMaker::ClusterSchedulerConfig (cfn-lint 1.58.0)",
        severity=Severity.WARNING,
    )
)
def policy_type(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    region = spec.region
    if _governance(spec) is None or region is None or unresolved(region):
        return
    if region not in POLICY_REGIONS:
        yield rule.finding(
            _WHERE,
            f"needs AWS::SageMaker::ClusterSchedulerConfig, which is not known to be in {region}",
            allowed=", ".join(sorted(POLICY_REGIONS)),
        )


def _governance(spec: HyperPodSpec) -> TaskGovernance | None:
    eks = spec.cluster.orchestrator.eks
    return eks.task_governance if eks else None


def _teams(spec: HyperPodSpec) -> Iterator[tuple[str, Team]]:
    governance = _governance(spec)
    if governance is None or unresolved(governance.teams):
        return
    for index, team in enumerate(governance.teams):
        yield join(f"{_WHERE}.teams", index), team


def _names(spec: HyperPodSpec) -> Iterator[tuple[str, str]]:
    """Path and name of every team and priority class."""
    governance = _governance(spec)
    if governance is None:
        return
    yield from ((f"{path}.team_name", team.team_name) for path, team in _teams(spec))
    if not unresolved(governance.priority_classes):
        for index, one in enumerate(governance.priority_classes):
            yield f"{join(f'{_WHERE}.priority_classes', index)}.name", one.name


_Entries = list[tuple[str, ComputeQuotaResource]]


def _quotas(spec: HyperPodSpec) -> Iterator[tuple[str, Team, ComputeQuotaResource]]:
    """Path, team and content of everything that is a team's own."""
    for path, team in _teams(spec):
        for where, entry in _entries(f"{path}.compute_quota_resources", team.compute_quota_resources):
            yield where, team, entry


def _limits(path: str, team: Team) -> _Entries:
    sharing = team.resource_sharing_config
    where = f"{path}.resource_sharing_config.absolute_borrow_limits"
    return _entries(where, sharing.absolute_borrow_limits) if sharing else []


def _lists(spec: HyperPodSpec) -> Iterator[tuple[Team, _Entries]]:
    """Every list of amounts: of what is a team's own, and of what it may borrow."""
    for path, team in _teams(spec):
        yield team, _entries(f"{path}.compute_quota_resources", team.compute_quota_resources)
        yield team, _limits(path, team)


def _entries(path: str, entries: Iterable[ComputeQuotaResource]) -> _Entries:
    if unresolved(entries):
        return []
    return [(join(path, index), entry) for index, entry in enumerate(entries)]
