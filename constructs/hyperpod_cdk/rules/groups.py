"""HP11x: instance groups, their types and counts."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, instance_types, is_continuous, node_type
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.instance_types import catalogue, find
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec, NodeType

_TYPE = re.compile(r"ml\.[a-z0-9-]+\.(nano|micro|small|medium|large|\d*xlarge|metal(-\d+xl)?)")
"""Sizes as EC2 names them (https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html)."""
_MANY_GROUPS = 20


@checks(
    Rule(
        code="HP110",
        title="two instance groups of one name",
        why="the name is all that tells groups apart, in updates too",
        fix="give each group a name of its own",
        source=f"{API}API_ClusterInstanceGroupSpecification.html",
    )
)
def duplicate_group_name(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    first: dict[str, str] = {}
    for path, group in groups(spec):
        name = group.instance_group_name
        if unresolved(name):
            continue
        if name in first:
            yield rule.finding(f"{path}.instance_group_name", f"is the name of {first[name]} too", given=name)
        first.setdefault(name, path)


def _types(spec: HyperPodSpec) -> Iterator[tuple[str, str]]:
    for path, group in groups(spec):
        yield from instance_types(path, group)


@checks(
    Rule(
        code="HP105",
        title="not exactly one of instance_type and instance_requirements",
        why="a group is of one type, or of several that the service chooses from; which of the two is fixed "
        "for the group's life",
        fix="give instance_type, or on Amazon EKS instance_requirements",
        source=f"{API}API_ClusterInstanceGroupSpecification.html",
    )
)
def one_kind_of_type(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        if group.instance_type is None and group.instance_requirements is None:
            yield rule.finding(f"{path}.instance_type", "is missing", allowed="such as ml.p5.48xlarge")
        elif group.instance_type is not None and group.instance_requirements is not None:
            yield rule.finding(
                f"{path}.instance_requirements",
                "excludes instance_type, which is given too",
                given=list(group.instance_requirements.instance_types),
            )


@checks(
    Rule(
        code="HP108",
        title="an instance type that is no name of one",
        why="the service names types as SageMaker does, ml. in front of EC2's name, in lower case",
        fix="write the type's name in full, such as ml.p5.48xlarge",
        source=f"{API}API_ClusterInstanceGroupSpecification.html",
    )
)
def form_of_instance_type(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, name in _types(spec):
        if unresolved(name) or _TYPE.fullmatch(name):
            continue
        meant = name.strip().lower()
        nearest = get_close_matches(meant if meant.startswith("ml.") else f"ml.{meant}", catalogue(), n=3)
        yield rule.finding(
            path,
            "is no instance type's name",
            given=name,
            allowed="ml.<family>.<size>, of which the size is such as large, xlarge or 48xlarge",
            nearest=nearest,
        )


@checks(
    Rule(
        code="HP111",
        title="an instance type that is not in the catalogue",
        why="a misspelt type is refused only when the cluster is created; a new one is fine",
        fix="correct the type, or acknowledge this when HyperPod has learnt it since",
        source="botocore's model of the SageMaker API, ClusterInstanceType",
        severity=Severity.WARNING,
    )
)
def unknown_instance_type(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, name in _types(spec):
        if unresolved(name) or find(name) or not _TYPE.fullmatch(name):
            continue
        nearest = get_close_matches(name, catalogue(), n=3)
        yield rule.finding(
            path,
            "is not among the known instance types",
            given=name,
            allowed=f"one of {len(catalogue())} types such as ml.p5.48xlarge or ml.c5.xlarge",
            nearest=nearest,
        )


@checks(
    Rule(
        code="HP112",
        title="threads per core that the instance type does not have",
        why="the nodes can not be launched",
        fix="leave threads_per_core out, or set what the type has",
        source="EC2 DescribeInstanceTypes, VCpuInfo.ValidThreadsPerCore",
    )
)
def impossible_threads(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        threads = group.threads_per_core
        for name in group.instance_types if threads in (1, 2) else ():
            known = find(name)
            if known and known.threads_per_core is not None and threads not in known.threads_per_core:
                yield rule.finding(
                    f"{path}.threads_per_core",
                    f"is more than {name} has",
                    given=threads,
                    allowed=", ".join(map(str, known.threads_per_core)),
                )


@checks(
    Rule(
        code="HP113",
        title="a minimum above the count",
        why="the group could never come into service",
        fix="lower min_instance_count, or raise instance_count",
        source=f"{API}API_ClusterInstanceGroupSpecification.html",
    )
)
def minimum_above_count(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        minimum, count = group.min_instance_count, group.instance_count
        if minimum is not None and not unresolved(minimum, count) and minimum > count:
            yield rule.finding(
                f"{path}.min_instance_count",
                "is above the group's instance_count",
                given=minimum,
                allowed=f"0 to {count}",
                nearest=(count,),
            )


@checks(
    Rule(
        code="HP114",
        title="a minimum without Continuous provisioning",
        why="AllAtOnce brings up every node or none; the service refuses a minimum there",
        fix="remove min_instance_count, or use node_provisioning_mode: Continuous",
        source=f"{GUIDE}sagemaker-hyperpod-scaling-slurm.html",
    )
)
def minimum_needs_continuous(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if unresolved(spec.cluster.node_provisioning_mode) or is_continuous(spec):
        return
    for path, group in groups(spec):
        if group.min_instance_count is not None:
            yield rule.finding(
                f"{path}.min_instance_count", "needs Continuous provisioning", given=group.min_instance_count
            )


@checks(
    Rule(
        code="HP115",
        title="a training plan on the controller",
        why="reserved capacity is for compute; the service refuses it for the controller group",
        fix="move training_plan_arn to a compute group",
        source=f"{GUIDE}training-plan-utilization-for-hyperpod.html",
    )
)
def training_plan_on_controller(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        if group.training_plan_arn is not None and node_type(group) == NodeType.CONTROLLER:
            yield rule.finding(
                f"{path}.training_plan_arn", "stands on the controller group", given=group.training_plan_arn
            )


@checks(
    Rule(
        code="HP117",
        title="more groups than the developer guide allows",
        why="the guide says at most 20 groups, the API 100; an account may meet the lower limit",
        fix="merge groups of one type and purpose, or ask AWS Support for the limit of your account",
        source=f"{GUIDE}smcluster-getting-started-slurm-cli.html",
        severity=Severity.WARNING,
    )
)
def many_groups(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    count = len(spec.cluster.instance_groups)
    if count > _MANY_GROUPS:
        yield rule.finding(
            "cluster.instance_groups", f"has {count} groups", allowed=f"up to {_MANY_GROUPS} to be safe"
        )
