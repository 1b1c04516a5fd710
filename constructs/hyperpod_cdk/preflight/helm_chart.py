"""HP988: HyperPod's chart, where AWS keeps it."""

import io
import re
import zipfile
from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, eks_plan
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.rules.helm_chart import dependencies
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HelmChart, HyperPodSpec

_PATH = f"{eks_plan.PATH}.helm_chart"
_MOST = 4 << 20
"""Bytes that are read; the chart with its dependencies has about a tenth."""
_REGISTRY = re.compile(
    r"oci://(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/(?P<name>.+)"
)


def _chart(spec: HyperPodSpec) -> HelmChart | None:
    made = eks_plan.new(spec)
    chart = made.helm_chart if made else None
    return None if chart is None or unresolved(chart.s3_uri, chart.oci_uri, chart.version) else chart


def _zip_call(uri: str) -> Call:
    bucket, _, key = uri.removeprefix("s3://").partition("/")
    return apis.GET_OBJECT(Bucket=bucket, Key=key, Range=f"bytes=0-{_MOST - 1}")


def _image_call(look: Look, chart: HelmChart) -> Call | None:
    """What finds a chart in Amazon ECR; None where it is in another registry or Region."""
    found = _REGISTRY.fullmatch(chart.oci_uri or "")
    if found is None or found["region"] != look.aws.region:
        return None
    return apis.DESCRIBE_CHARTS(
        registryId=found["account"], repositoryName=found["name"], imageIds=[{"imageTag": chart.version}]
    )


def _calls(look: Look) -> list[Call]:
    chart = _chart(look.spec)
    if chart is None:
        return []
    image = _image_call(look, chart)
    return [*([_zip_call(chart.s3_uri)] if chart.s3_uri else []), *([image] if image else [])]


def _there(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    chart = _chart(look.spec)
    if chart is not None and chart.s3_uri:
        yield from _in_s3(look, rule, chart.s3_uri)
    elif chart is not None and chart.oci_uri:
        yield from _in_registry(look, rule, chart)


def _in_s3(look: Look, rule: Rule, uri: str) -> Iterator[Finding | Unchecked]:
    path = f"{_PATH}.s3_uri"
    # of an empty object there is no first byte
    answer = look.ask(_zip_call(uri), absent=["NoSuchBucket", "NoSuchKey", "404", "InvalidRange"])
    if answer is None:
        yield rule.finding(path, "is not there, or empty", given=uri)
        return
    body: bytes = answer["Body"]
    if len(body) >= _MOST:
        yield Unchecked(path=path, reason=f"has more than {_MOST >> 20} MiB, which are not read")
        return
    fault = _fault(body)
    if fault:
        yield rule.finding(path, fault, given=uri)


def _fault(body: bytes) -> str | None:
    """What is wrong with the zip of a chart."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            names = archive.namelist()
            if "Chart.yaml" not in names:
                inner = next((one for one in names if one.endswith("/Chart.yaml")), None)
                return f"has its Chart.yaml in a folder: {inner}" if inner else "holds no Chart.yaml"
            wanted = dependencies(archive.read("Chart.yaml").decode(errors="replace"))
    except zipfile.BadZipFile:
        return "is no zip"
    present = {one.split("/")[1] for one in names if one.startswith("charts/")}
    missing = [
        name for name in wanted if not any(entry == name or entry.startswith(f"{name}-") for entry in present)
    ]
    return f"lacks {', '.join(missing)} under charts/" if missing else None


def _in_registry(look: Look, rule: Rule, chart: HelmChart) -> Iterator[Finding | Unchecked]:
    path, call = f"{_PATH}.oci_uri", _image_call(look, chart)
    if call is None:
        reason = f"only private registries of Amazon ECR in {look.aws.region} are asked: try helm pull"
        yield Unchecked(path=path, reason=reason)
    elif look.ask(call, absent=["RepositoryNotFoundException", "ImageNotFoundException"]) is None:
        yield rule.finding(path, f"has no chart of version {chart.version}", given=chart.oci_uri)


def _needed(spec: HyperPodSpec) -> bool:
    chart = _chart(spec)
    return chart is not None and bool(chart.s3_uri or chart.oci_uri)


CHECKS = (
    Check(
        name="helm-chart",
        rule=Rule(
            code="HP988",
            title="a chart that is not there, or not whole",
            why="helm stops after the control plane is made, and the stack rolls back",
            fix="zip the content of the chart's folder, after `helm dependency update` in it, and upload it",
            source=f"{GUIDE}sagemaker-hyperpod-eks-install-packages-using-helm-chart.html",
        ),
        apis=(apis.GET_OBJECT, apis.DESCRIBE_CHARTS),
        asks=_calls,
        needed=_needed,
        find=_there,
    ),
)
