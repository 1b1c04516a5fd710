"""HP51x: the chart of what HyperPod needs in Kubernetes, looked at by itself."""

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Check, Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.hyperpod_chart import SUB_CHARTS
from hyperpod_cdk.spec.eks import HelmChart

_INSTALL = "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-install-packages-using-helm-chart.html"
_CHART = "aws/sagemaker-hyperpod-cli, helm_chart/HyperPodHelmChart"
_PLACES = ("path", "s3_uri", "oci_uri")


@checks(
    Rule(
        code="HP510",
        title="a chart whose place is unclear",
        why="HyperPod makes no cluster on a control plane without the chart, or makes one that does not work",
        fix="name one of path, s3_uri and oci_uri, and a version with oci_uri",
        source=_INSTALL,
    )
)
def place(chart: HelmChart, rule: Rule) -> Iterator[Finding]:
    named = [name for name in _PLACES if getattr(chart, name)]
    if len(named) != 1:
        yield rule.finding("", "needs one place", given=", ".join(named) or None, allowed=", ".join(_PLACES))
    if bool(chart.oci_uri) != bool(chart.version):
        yield rule.finding("version", "goes with oci_uri, and only with it", given=chart.version)
    for name, start in (("s3_uri", "s3://"), ("oci_uri", "oci://")):
        uri = getattr(chart, name)
        if uri and not unresolved(uri) and not uri.startswith(start):
            yield rule.finding(name, "is no such address", given=uri, allowed=f"{start}…")


@checks(
    Rule(
        code="HP511",
        title="a part of the chart that is none, or comes twice",
        why="helm passes over a switch that no part has; of two copies one fails on what the other owns",
        fix="use the names of the chart's parts, and leave off what an add-on brings",
        source=_CHART,
    )
)
def parts(chart: HelmChart, rule: Rule) -> Iterator[Finding]:
    for name, wanted in chart.sub_charts.items():
        part = SUB_CHARTS.get(name)
        path = join("sub_charts", name)
        if part is None:
            yield rule.finding(
                path,
                "is no part of the chart",
                given=name,
                allowed=", ".join(SUB_CHARTS),
                nearest=get_close_matches(name, SUB_CHARTS, n=1),
            )
        elif wanted and part.add_on:
            yield rule.finding(path, f"comes with the add-on {part.add_on} already", given=wanted)


@checks(
    Rule(
        code="HP512",
        title="a chart that is not whole",
        why="the function that installs it fetches nothing, and helm stops at a dependency that is missing",
        fix="get it whole with `hyperpod-cdk chart`, or run `helm dependency update` in its folder",
        source=f"{_CHART}; helm dependency update --help",
    )
)
def whole(chart: HelmChart, rule: Rule) -> Iterator[Finding]:
    if not chart.path or unresolved(chart.path):
        return
    folder = Path(chart.path)
    definition = folder / "Chart.yaml"
    if not definition.is_file():
        yield rule.finding("path", "holds no Chart.yaml", given=chart.path)
        return
    present = [entry.name for entry in folder.glob("charts/*")]
    missing = [
        name
        for name in dependencies(definition.read_text(encoding="utf-8"))
        if not any(entry == name or entry.startswith(f"{name}-") for entry in present)
    ]
    if missing:
        yield rule.finding("path", f"lacks {', '.join(missing)} under charts/", given=chart.path)


CHART_CHECKS: Sequence[Check[HelmChart]] = (place, parts, whole)
"""Every check of a chart."""


def check_chart(chart: HelmChart) -> list[Finding]:
    """Everything that is wrong with a chart; paths begin at the chart."""
    return [finding for one in CHART_CHECKS for finding in one(chart)]


def dependencies(definition: str) -> list[str]:
    """Names under ``dependencies:`` of a Chart.yaml, read line by line: rules load no YAML library."""
    names, inside = [], False
    for line in definition.splitlines():
        word = line.strip().removeprefix("- ").lstrip()
        if line and not line[0].isspace() and not line.startswith(("-", "#")):
            inside = line.startswith("dependencies:")
        elif inside and word.startswith("name:"):
            names.append(word.removeprefix("name:").split("#")[0].strip().strip("\"'"))
    return names
