"""HP536 to HP544: add-ons on Amazon EKS beside the training operator's own."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import control_planes, groups, instance_types
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import eks_add_ons as service
from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import AddOn, EksOrchestrator, HyperPodSpec, LustreFileSystem

_EKS = "cluster.orchestrator.eks"
_VERSION = re.compile(r"v(\d+)\.(\d+)\.(\d+)-eksbuild\.(\d+)")
_BUCKET = re.compile(rf"{service.TLS_BUCKET_PREFIX}[a-z0-9.-]*[a-z0-9]")
_MAX_BUCKET = 63
_PROMETHEUS = re.compile(r"arn:aws[a-z-]*:aps:[a-z0-9-]+:\d{12}:workspace/ws-[\w-]+")
_GRAFANA = re.compile(r"arn:aws[a-z-]*:grafana:[a-z0-9-]+:\d{12}:/workspaces/g-\w+")
_SIZE = re.compile(r"\.(\d*)xlarge$")
INSTALLED = ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", "cert-manager")
"""Add-ons of every control plane that is made, the last with an operator."""
_OWN_SETTINGS = {
    "amazon-sagemaker-hyperpod-training-operator": "training_operator",
    "amazon-sagemaker-hyperpod-taskgovernance": "task_governance.add_on",
    service.OBSERVABILITY: "observability.add_on",
    service.INFERENCE: "inference.add_on",
}


@checks(
    Rule(
        code="HP536",
        title="a version of an add-on that is none",
        why="Amazon EKS refuses it, minutes into the deployment",
        fix="leave it out, or take one of aws eks describe-addon-versions",
        source="https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAddon.html",
    )
)
def versions(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        for path, add_on in _add_ons(plane):
            given = add_on.version
            if given is not None and not unresolved(given) and not _VERSION.fullmatch(given):
                allowed = "such as v1.3.0-eksbuild.1"
                yield rule.finding(
                    f"{path}.version", "is no version of an add-on", given=given, allowed=allowed
                )


@checks(
    Rule(
        code="HP537",
        title="settings of an add-on that nothing installs from there",
        why="they would count for nothing",
        fix="correct the name, or use the setting that installs it",
        source="hyperpod_cdk.eks",
    )
)
def unused_settings(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        used = _from_add_ons(spec, plane)
        for name in plane.add_ons:
            if unresolved(name) or name in used:
                continue
            path, own = join(f"{_EKS}.add_ons", name), _OWN_SETTINGS.get(name)
            nearest = get_close_matches(name, used, n=1)
            if own is not None:
                yield rule.finding(path, f"is set by {own}", given=name)
            else:
                allowed = ", ".join(used)
                yield rule.finding(path, "is not installed", given=name, allowed=allowed, nearest=nearest)


@checks(
    Rule(
        code="HP538",
        title="an add-on that is too old for inference",
        why="the inference add-on looks for least versions of what it stands on, and fails to install; its "
        "gateway came with its second version",
        fix="leave the version out, or name a later one",
        source=f"{service.INFERENCE_SOURCE}, "
        f"{GUIDE}sagemaker-hyperpod-model-deployment-inference-gateway.html",
    )
)
def inference_versions(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        if plane.inference is None:
            continue
        least = {
            join(f"{_EKS}.add_ons", name): (plane.add_ons.get(name), version)
            for name, version in service.INFERENCE_MINIMUM_VERSIONS.items()
        }
        if plane.inference.gateway is True:
            least[f"{_EKS}.inference.add_on"] = (plane.inference.add_on, service.GATEWAY_SINCE)
        for path, (add_on, version) in least.items():
            if add_on is not None and _older(add_on.version, version):
                given = add_on.version
                allowed = f"{version} or later"
                yield rule.finding(f"{path}.version", "is too old", given=given, allowed=allowed)


@checks(
    Rule(
        code="HP539",
        title="a bucket for certificates that the inference operator may not use",
        why="its managed policy names buckets that begin with hyperpod-tls, and no others",
        fix="use a bucket with such a name, or leave it out to have one made",
        source="https://docs.aws.amazon.com/aws-managed-policy/latest/reference/"
        "AmazonSageMakerHyperPodInferenceAccess.html",
    )
)
def tls_bucket(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        name = plane.inference.tls_bucket_name if plane.inference is not None else None
        if name is None or unresolved(name):
            continue
        if not _BUCKET.fullmatch(name) or len(name) > _MAX_BUCKET:
            allowed = f"{service.TLS_BUCKET_PREFIX}…, at most {_MAX_BUCKET} characters"
            where = f"{_EKS}.inference.tls_bucket_name"
            yield rule.finding(where, "is no name that it may use", given=name, allowed=allowed)


@checks(
    Rule(
        code="HP540",
        title="the same thing from the chart and from an add-on",
        why="of two copies one fails on what the other owns; a chart's values switch parts too",
        fix="leave the part of the chart off",
        source="https://github.com/aws/sagemaker-hyperpod-cli, helm_chart/HyperPodHelmChart",
    )
)
def installed_twice(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        values = plane.helm_chart.values if plane.helm_chart is not None else {}
        for part in SUB_CHARTS.values():
            if part.add_on is not None and _at(values, part.condition) is True:
                path = f"{_EKS}.helm_chart.values"
                for step in part.condition.split("."):
                    path = join(path, step)
                yield rule.finding(path, f"comes with the add-on {part.add_on} already", given=True)


@checks(
    Rule(
        code="HP541",
        title="a workspace that is named by half, or that is none",
        why="the add-on is told both name and ARN of Grafana, and the ARN of Prometheus",
        fix="give both name and arn of a workspace that is there, or no arn to have one made",
        source=service.OBSERVABILITY_SOURCE,
    )
)
def workspaces(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        settings, path = plane.observability, f"{_EKS}.observability"
        if settings is None:
            continue
        arn = settings.prometheus_workspace_arn
        if arn is not None and not unresolved(arn) and not _PROMETHEUS.fullmatch(arn):
            allowed = "arn:aws:aps:<region>:<account>:workspace/ws-…"
            where = f"{path}.prometheus_workspace_arn"
            yield rule.finding(where, "is no workspace", given=arn, allowed=allowed)
        grafana = settings.grafana
        if grafana is None or grafana.arn is None or unresolved(grafana.arn):
            continue
        if grafana.name is None:
            yield rule.finding(f"{path}.grafana.name", "is missing beside arn")
        if not _GRAFANA.fullmatch(grafana.arn):
            allowed = "arn:aws:grafana:<region>:<account>:/workspaces/g-…"
            yield rule.finding(f"{path}.grafana.arn", "is no workspace", given=grafana.arn, allowed=allowed)


@checks(
    Rule(
        code="HP542",
        title="a new Grafana in a Region that is not known to have it",
        why="a workspace can not be made in other Regions, and the deployment stops there",
        fix="leave grafana out, and let a workspace of another Region read the metrics; or acknowledge this "
        "when the Region has it since",
        source="https://docs.aws.amazon.com/grafana/latest/userguide/"
        "what-is-Amazon-Managed-Service-Grafana.html",
        severity=Severity.WARNING,
    )
)
def grafana_region(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    region = spec.region
    if region is None or unresolved(region) or region in service.GRAFANA_REGIONS:
        return
    for plane in control_planes(spec):
        settings = plane.observability
        if settings is not None and settings.grafana is not None and settings.grafana.arn is None:
            allowed = ", ".join(sorted(service.GRAFANA_REGIONS))
            yield rule.finding(f"{_EKS}.observability.grafana", "has no place", given=region, allowed=allowed)


@checks(
    Rule(
        code="HP543",
        title="an interval between metrics that is none",
        why="the add-on refuses it",
        fix="use 1 second or more; 30 is usual",
        source=service.OBSERVABILITY_SOURCE,
    )
)
def scrape_interval(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        if plane.observability is None:
            continue
        given = plane.observability.metrics.scrape_interval_seconds
        if not unresolved(given) and given < 1:
            where = f"{_EKS}.observability.metrics.scrape_interval_seconds"
            yield rule.finding(where, "is none", given=given, allowed="1 or more", nearest=[1])


@checks(
    Rule(
        code="HP544",
        title="no node with room for an add-on's pods",
        why="observability and inference need a node of size 4xlarge or larger, and stay pending without",
        fix="add a group of such a type, or enlarge one",
        source=f"{service.OBSERVABILITY_SOURCE}, "
        f"{GUIDE}sagemaker-hyperpod-model-deployment-ts-console-cfn-failures.html",
        severity=Severity.WARNING,
    )
)
def room_for_pods(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    types = [(group, name) for path, group in groups(spec) for _, name in instance_types(path, group)]
    if any(unresolved(name, group.instance_count) for group, name in types):
        return
    largest = max((_size(name) for group, name in types if group.instance_count > 0), default=0)
    for plane in control_planes(spec):
        for field in ("observability", "inference"):
            if getattr(plane, field) is not None and largest < service.LEAST_SIZE:
                allowed = f"a group of {service.LEAST_SIZE}xlarge or larger"
                yield rule.finding(f"{_EKS}.{field}", "finds no node large enough", allowed=allowed)


def _add_ons(plane: EksOrchestrator) -> Iterator[tuple[str, AddOn]]:
    """Path and settings of every add-on that is named."""
    for name, add_on in plane.add_ons.items():
        yield join(f"{_EKS}.add_ons", name), add_on
    if plane.training_operator is not None:
        yield f"{_EKS}.training_operator", plane.training_operator
    for field in ("task_governance", "observability", "inference"):
        settings = getattr(plane, field)
        if settings is not None and not unresolved(settings):
            yield f"{_EKS}.{field}.add_on", settings.add_on


def _from_add_ons(spec: HyperPodSpec, plane: EksOrchestrator) -> tuple[str, ...]:
    """Names whose settings are read from ``add_ons``."""
    drivers = set()
    for volume in plane.volumes.values():
        if volume.bucket is not None:
            drivers.add(service.MOUNTPOINT_S3)
        elif isinstance(spec.storage.get(volume.storage or ""), LustreFileSystem):
            drivers.add(service.FSX_LUSTRE)
    if plane.inference is not None:
        drivers |= {service.MOUNTPOINT_S3, service.FSX_LUSTRE, service.METRICS_SERVER}
    return (*INSTALLED, *sorted(drivers))


def _older(given: str | None, least: str) -> bool:
    if given is None or unresolved(given):
        return False
    found, needed = _VERSION.fullmatch(given), _VERSION.fullmatch(least)
    if found is None or needed is None:
        return False
    return tuple(map(int, found.groups())) < tuple(map(int, needed.groups()))


def _at(values: Mapping[str, Any], condition: str) -> Any:
    found: Any = values
    for step in condition.split("."):
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def _size(instance_type: str) -> int:
    """The multiple of ``xlarge``; types of other sizes are taken as large if they are metal."""
    found = _SIZE.search(instance_type)
    if found is None:
        return service.LEAST_SIZE if ".metal" in instance_type else 0
    return int(found[1] or 1)
