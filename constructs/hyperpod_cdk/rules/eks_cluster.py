"""HP503 to HP516, HP563, HP564: the control plane on Amazon EKS, and what goes with it."""

import ipaddress
import re
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches

from hyperpod_cdk.rules import helm_chart
from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import control_planes
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Check, Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import eks
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import EksOrchestrator, HelmChart, HyperPodSpec

_EKS = "cluster.orchestrator.eks"
_PREREQUISITES = f"{GUIDE}sagemaker-hyperpod-eks-prerequisites.html"
_OWNERS = ("public_access_cidrs", "access", "system_nodes", "helm_chart", "add_ons")
_ZONES = 2
# RFC 1918 and 6598
_PRIVATE = tuple(
    map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"))
)
_ROLE = re.compile(r"arn:aws[a-z-]*:iam::\d{12}:(role|user)/[\w+=,.@/-]+")


@checks(
    Rule(
        code="HP503",
        title="a Kubernetes version that HyperPod does not know",
        why="HyperPod makes no cluster on a control plane of another version",
        fix="use one of the supported versions",
        source=_PREREQUISITES,
    )
)
def kubernetes_version(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        given = plane.kubernetes_version
        if not unresolved(given) and given not in eks.KUBERNETES_VERSIONS:
            yield rule.finding(
                f"{_EKS}.kubernetes_version",
                "is not supported",
                given=given,
                allowed=", ".join(eks.KUBERNETES_VERSIONS),
                nearest=get_close_matches(given, eks.KUBERNETES_VERSIONS, n=1),
            )


@checks(
    Rule(
        code="HP504",
        title="a training operator on a Kubernetes version that it is not documented for",
        why="the operator's page names versions up to 1.33; on a newer one the add-on may have no version "
        "that fits, and the deployment stops there",
        fix="use 1.33, set training_operator: null, or acknowledge this when the add-on has learnt it since",
        source=f"{GUIDE}sagemaker-eks-operator-install.html",
        severity=Severity.WARNING,
    )
)
def operator_version(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        given = plane.kubernetes_version
        newer = given in eks.KUBERNETES_VERSIONS and given not in eks.TRAINING_OPERATOR_VERSIONS
        if plane.training_operator is not None and newer:
            allowed = ", ".join(eks.TRAINING_OPERATOR_VERSIONS)
            where = f"{_EKS}.kubernetes_version"
            yield rule.finding(where, "is newer than the operator's page", given=given, allowed=allowed)


@checks(
    Rule(
        code="HP505",
        title="a control plane in one zone",
        why="Amazon EKS makes no control plane without subnets in two zones",
        fix="name a second zone; nodes stay in the first",
        source="https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html",
    )
)
def two_zones(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    existing = spec.network.existing
    for plane in control_planes(spec):
        if plane.cluster_arn is not None:
            continue
        path = "network.existing.subnets" if existing else "network.availability_zone_ids"
        named = (
            [subnet.availability_zone_id or subnet.subnet_id for subnet in existing.subnets]
            if existing
            else list(spec.network.availability_zone_ids)
        )
        if not unresolved(*named) and len(set(named)) < _ZONES:
            yield rule.finding(path, "lies in one zone", given=", ".join(named), allowed="two zones or more")


@checks(
    Rule(
        code="HP506",
        title="a control plane without what HyperPod needs in it",
        why="the service makes no cluster before its health monitoring, job restart and device plugins are "
        "there",
        fix="get the chart of aws/sagemaker-hyperpod-cli with `hyperpod-cdk chart`, and name its folder in "
        "helm_chart.path",
        source=f"{GUIDE}sagemaker-hyperpod-eks-install-packages-using-helm-chart.html",
    )
)
def chart_needed(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        if plane.cluster_arn is None and plane.helm_chart is None:
            yield rule.finding(
                f"{_EKS}.helm_chart", "is missing", allowed="a chart by path, s3_uri or oci_uri"
            )


@checks(
    Rule(
        code="HP507",
        title="a setting of a control plane that is somebody else's",
        why="what an existing control plane is like, and who may use it, is said where it is made",
        fix="remove it, or remove cluster_arn to have a control plane made",
        source="hyperpod_cdk.spec.EksOrchestrator",
    )
)
def settings_of_owner(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    defaults = EksOrchestrator()
    for plane in control_planes(spec):
        for name in _OWNERS if plane.cluster_arn is not None else ():
            value = getattr(plane, name)
            if value != getattr(defaults, name) and not unresolved(value):
                yield rule.finding(f"{_EKS}.{name}", "is the owner's of the existing control plane")


@checks(
    Rule(
        code="HP508",
        title="an address range that is none, everybody, or nobody",
        why="whoever is in it reaches the Kubernetes API from outside, and may try to get in; Amazon EKS "
        "takes ranges of IPv4, and sees the addresses that requests have on the internet",
        fix="name the ranges of your offices and networks, or none for a private API",
        source="https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html",
    )
)
def public_ranges(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        for index, given in enumerate(plane.public_access_cidrs):
            message = None if unresolved(given) else _range_fault(given)
            if message:
                where = f"{_EKS}.public_access_cidrs[{index}]"
                yield rule.finding(where, message, given=given, allowed="such as 203.0.113.0/24")


@checks(
    Rule(
        code="HP509",
        title="an access entry that can not be made",
        why="Amazon EKS refuses two entries of one principal, and principals that are no role or user",
        fix="give each role or user one entry, by its ARN",
        source="https://docs.aws.amazon.com/eks/latest/userguide/access-entries.html",
    )
)
def access_entries(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    seen: dict[str, int] = {}
    for plane in control_planes(spec):
        for index, entry in enumerate(plane.access):
            path = f"{_EKS}.access[{index}]"
            arn = entry.principal_arn
            if not unresolved(arn) and not _ROLE.fullmatch(arn):
                allowed = "such as arn:aws:iam::111122223333:role/admin"
                yield rule.finding(f"{path}.principal_arn", "is no role or user", given=arn, allowed=allowed)
            elif not unresolved(arn) and seen.setdefault(arn, index) != index:
                message = f"has an entry already, access[{seen[arn]}]"
                yield rule.finding(f"{path}.principal_arn", message, given=arn)


@checks(
    Rule(
        code="HP513",
        title="system nodes that can not be had",
        why="DNS and certificates run on them, and their types are EC2's, without SageMaker's prefix",
        fix="use a type such as m6i.large, and at least one node",
        source="https://docs.aws.amazon.com/eks/latest/userguide/choosing-instance-type.html",
    )
)
def system_nodes(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        nodes, path = plane.system_nodes, f"{_EKS}.system_nodes"
        if not unresolved(nodes.count) and nodes.count < 1:
            yield rule.finding(
                f"{path}.count", "leaves DNS nowhere to run", given=nodes.count, allowed="1 or more"
            )
        if not unresolved(nodes.instance_type) and nodes.instance_type.startswith("ml."):
            given = nodes.instance_type
            nearest = [given.removeprefix("ml.")]
            yield rule.finding(f"{path}.instance_type", "is SageMaker's name", given=given, nearest=nearest)


@checks(
    Rule(
        code="HP514",
        title="a network plugin that is too old",
        why="HyperPod needs the VPC CNI in version 1.18.3 or later",
        fix="leave the version out, or name a later one",
        source=_PREREQUISITES,
    )
)
def network_plugin(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        chosen = plane.add_ons.get("vpc-cni")
        if chosen is None or chosen.version is None or unresolved(chosen.version):
            continue
        if _numbers(chosen.version) < eks.VPC_CNI_SINCE:
            where = join(f"{_EKS}.add_ons", "vpc-cni") + ".version"
            yield rule.finding(
                where, "is too old", given=chosen.version, allowed="v1.18.3-eksbuild.1 or later"
            )


@checks(
    Rule(
        code="HP515",
        title="the tag that the training operator looks for, with another value",
        why="the operator's role reads nodes only of clusters with the tag SageMaker=true, and finds none",
        fix="remove the tag, it is given by itself",
        source=f"{GUIDE}sagemaker-eks-operator-install.html",
    )
)
def operator_tag(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        for path, tags in (("tags", spec.tags), ("cluster.tags", spec.cluster.tags)):
            given = tags.get(eks.OPERATOR_TAG)
            if plane.training_operator is not None and given not in (None, "true") and not unresolved(given):
                yield rule.finding(
                    join(path, eks.OPERATOR_TAG), "hides the cluster", given=given, allowed="true"
                )


@checks(
    Rule(
        code="HP516",
        title="an access policy that is not among the known ones",
        why="a misspelt name is refused only in the deployment; a new one is fine",
        fix="correct the name, or acknowledge this when Amazon EKS has learnt it since",
        source="https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html",
        severity=Severity.WARNING,
    )
)
def access_policies(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        for index, entry in enumerate(plane.access):
            for number, policy in enumerate(entry.policies):
                if not unresolved(policy.name) and policy.name not in eks.ACCESS_POLICIES:
                    yield rule.finding(
                        f"{_EKS}.access[{index}].policies[{number}].name",
                        "is no access policy that is known",
                        given=policy.name,
                        allowed=", ".join(eks.ACCESS_POLICIES),
                        nearest=get_close_matches(policy.name, eks.ACCESS_POLICIES, n=2),
                    )


@checks(
    Rule(
        code="HP563",
        title="a control plane that is there already, and a network that is not",
        why="nodes lie in the VPC of their control plane, which a new network can not be",
        fix="name its subnets and security groups in network.existing",
        source=_PREREQUISITES,
    )
)
def network_of_owner(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        if plane.cluster_arn is not None and spec.network.existing is None:
            yield rule.finding(
                "network", "is a new one", allowed="network.existing, of the control plane's VPC"
            )


@checks(
    Rule(
        code="HP564",
        title="task governance that is too old for the training operator",
        why="the operator works with the add-on from v1.3.0 on, and its jobs are not queued before",
        fix="leave the version out, or name a later one",
        source=f"{GUIDE}sagemaker-eks-operator-install.html",
    )
)
def governance_version(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        version = plane.task_governance.add_on.version if plane.task_governance else None
        if plane.training_operator is None or version is None or unresolved(version):
            continue
        if _numbers(version) < eks.GOVERNANCE_SINCE:
            where, allowed = f"{_EKS}.task_governance.add_on.version", "v1.3.0-eksbuild.1 or later"
            yield rule.finding(where, "is too old for the operator", given=version, allowed=allowed)


def _of_spec(one: Check[HelmChart]) -> Check[HyperPodSpec]:
    def find(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
        for plane in control_planes(spec):
            for found in one.find(plane.helm_chart, rule) if plane.helm_chart else ():
                yield replace(found, path=f"{_EKS}.helm_chart.{found.path}".rstrip("."))

    return Check(rule=one.rule, find=find)


chart_place = _of_spec(helm_chart.place)
chart_parts = _of_spec(helm_chart.parts)
chart_whole = _of_spec(helm_chart.whole)


def _numbers(version: str) -> tuple[int, ...]:
    """Of an add-on's version; none at all of what is no version."""
    found = re.match(r"v(\d+)\.(\d+)\.(\d+)", version)
    return tuple(map(int, found.groups())) if found else ()


def _range_fault(text: str) -> str | None:
    try:
        found = ipaddress.ip_network(text)
    except ValueError:
        return "is no address range"
    if found.prefixlen == 0:
        return "is everybody"
    if found.version != 4:
        return "is of IPv6, and the cluster of IPv4"
    return "is in no address of the internet" if any(map(found.subnet_of, _PRIVATE)) else None
