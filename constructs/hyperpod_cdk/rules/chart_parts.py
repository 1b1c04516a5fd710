"""HP565, HP567: parts of HyperPod's chart, and where their images come from."""

from collections.abc import Iterator, Mapping
from typing import Any

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import control_planes, groups, instance_types, is_closed
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS, NodesOf
from hyperpod_cdk.service.instance_types import find
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec
from hyperpod_cdk.spec.eks import HelmChart

_CHART = "cluster.orchestrator.eks.helm_chart"
_GPU_OPERATOR = "gpu-operator"


@checks(
    Rule(
        code="HP565",
        title="images that nodes without internet do not reach",
        why="parts of HyperPod's chart come from registries on the internet: their pods never start, and "
        "without device plugins no pod gets a GPU",
        fix="copy the images to Amazon ECR of the cluster's Region and name them in helm_chart.values, or in "
        "the chart itself, and acknowledge this; leave parts off with helm_chart.sub_charts; or use "
        "nat_gateways: one",
        source="https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html, "
        "aws/sagemaker-hyperpod-cli, helm_chart/HyperPodHelmChart",
        severity=Severity.WARNING,
    )
)
def images_without_internet(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    kinds = set(_kinds_of_nodes(spec))
    for chart in _charts(spec) if is_closed(spec) else ():
        lacking = [
            f"{name} ({part.registry})"
            for name, part in SUB_CHARTS.items()
            if part.registry and part.registry != spec.region and part.nodes in kinds
            if chart.sub_charts.get(name, part.enabled) and not _names_an_image(chart.values.get(name))
        ]
        if lacking:
            yield rule.finding(_CHART, f"installs {', '.join(lacking)}")


def _kinds_of_nodes(spec: HyperPodSpec) -> Iterator[NodesOf | None]:
    """The nodes that parts of the chart may be for; every kind, where a type is not known."""
    yield None
    for path, group in groups(spec):
        for _, name in instance_types(path, group):
            known = find(name)
            if known is None:
                yield from NodesOf
                continue
            if known.efa_interfaces != 0:
                yield NodesOf.EFA
            if known.accelerator is not None:
                yield NodesOf.NEURON if known.accelerator.startswith("AWS ") else NodesOf.NVIDIA


def _names_an_image(values: Any) -> bool:
    """Whether values of a part say anywhere which image it runs."""
    if not isinstance(values, Mapping):
        return False
    return any("image" in str(key).lower() or _names_an_image(value) for key, value in values.items())


@checks(
    Rule(
        code="HP567",
        title="a part of the chart that HyperPod counts on, turned off",
        why="the guide calls the agent and the permissions for checks and restarts required: the cluster is "
        "not made, or does not mend itself; and pods get no accelerator without its device plugin",
        fix="leave the part on; or acknowledge this where you install the same in another way",
        source=f"{GUIDE}sagemaker-hyperpod-eks-install-packages-using-helm-chart.html",
        severity=Severity.WARNING,
    )
)
def parts_that_count(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    kinds = set(_kinds_of_nodes(spec))
    for chart in _charts(spec):
        for name, wanted in chart.sub_charts.items():
            part = SUB_CHARTS.get(name)
            if part is None or wanted or not part.required or part.nodes not in kinds:
                continue
            if part.nodes is not NodesOf.NVIDIA or not chart.sub_charts.get(_GPU_OPERATOR):
                what = f"nodes with {part.nodes} need" if part.nodes else "the service looks for"
                yield rule.finding(join(f"{_CHART}.sub_charts", name), f"turns off what {what}", given=wanted)


def _charts(spec: HyperPodSpec) -> Iterator[HelmChart]:
    """The chart that is installed here, if any."""
    for plane in control_planes(spec):
        if plane.cluster_arn is None and plane.helm_chart is not None:
            yield plane.helm_chart
