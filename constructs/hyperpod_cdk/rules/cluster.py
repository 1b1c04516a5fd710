"""HP10x: names, tags and times that belong to no group."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.log_retention import RETENTION_DAYS
from hyperpod_cdk.service.regions import ALL, ALL_SOURCE
from hyperpod_cdk.service.shapes import shape
from hyperpod_cdk.service.sources import API
from hyperpod_cdk.spec import HyperPodSpec, Provisioning

_TAGS = 50
_OWN_TAGS = 5
_RESERVED = ("aws:", "hyperpod-cdk:")
_STACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,127}")
_REGION = re.compile(r"[a-z]{2,4}(-[a-z]+)+-\d+")


@checks(
    Rule(
        code="HP101",
        title="a stack name or a Region that can not be one",
        why="CloudFormation refuses the deployment",
        fix="use a valid name",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_CreateStack.html",
    )
)
def stack_name_and_region(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    rows = (
        ("stack_name", _STACK_NAME, "a letter, then up to 127 letters, digits and hyphens"),
        ("region", _REGION, "the name of a Region, such as us-west-2"),
    )
    for name, wanted, allowed in rows:
        value = getattr(spec, name)
        if value is not None and not unresolved(value) and not wanted.fullmatch(value):
            yield rule.finding(name, "has another form than it must", given=value, allowed=allowed)


@checks(
    Rule(
        code="HP107",
        title="a Region that is not among the known ones",
        why="a misspelt Region makes other findings say that the rest is of a wrong one; a new one is fine",
        fix="correct region, or acknowledge this when AWS has opened it since",
        source=ALL_SOURCE,
        severity=Severity.WARNING,
    )
)
def known_region(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    region = spec.region
    if region is not None and not unresolved(region) and region not in ALL:
        nearest = get_close_matches(region, ALL, n=2)
        allowed = f"one of {len(ALL)} Regions"
        yield rule.finding("region", "is not among them", given=region, allowed=allowed, nearest=nearest)


@checks(
    Rule(
        code="HP102",
        title="more tags than fit",
        why="a cluster has at most 50 tags, and five of them are our custom resource's own",
        fix="remove tags; those at the top and those of the cluster count together",
        source=f"{API}API_CreateCluster.html",
    )
)
def too_many_tags(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    count = len({**spec.tags, **spec.cluster.tags})
    native = spec.deployment.provisioning == Provisioning.CLOUDFORMATION
    most = _TAGS if native else _TAGS - _OWN_TAGS
    if count > most and not unresolved(spec.deployment.provisioning):
        path = "cluster.tags" if spec.cluster.tags else "tags"
        yield rule.finding(path, f"makes {count} tags in all", allowed=f"at most {most}")


@checks(
    Rule(
        code="HP103",
        title="a tag with characters or a length that are not allowed",
        why="the service refuses it; names that begin with aws: are its own, and those with hyperpod-cdk: "
        "tell our custom resource what belongs to it",
        fix="keep keys to 1-128 and values to 256 letters, digits, spaces and _.:/=+-@",
        source=f"{API}API_Tag.html",
    )
)
def tag_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for where, tags in (("tags", spec.tags), ("cluster.tags", spec.cluster.tags)):
        yield from _wrong_tags(where, tags, rule)


def _wrong_tags(where: str, tags: Mapping[str, str], rule: Rule) -> Iterator[Finding]:
    for key, value in tags.items():
        path = join(where, key)
        if not unresolved(key) and (key.lower().startswith(_RESERVED) or not _fits(key, "TagKey")):
            yield rule.finding(path, "is no tag key that you may set", given=key)
        if not unresolved(value) and not _fits(value, "TagValue"):
            yield rule.finding(path, "has a value that is not allowed", given=value)


def _fits(text: str, name: str) -> bool:
    limits = shape("sagemaker", name)
    assert limits.maximum is not None and limits.pattern is not None
    return (limits.minimum or 0) <= len(text) <= limits.maximum and bool(limits.pattern.fullmatch(text))


@checks(
    Rule(
        code="HP104",
        title="a retention that CloudWatch Logs does not know",
        why="it keeps events for fixed numbers of days only",
        fix="use one of the nearest values",
        source="https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html",
    )
)
def log_retention(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, days in (
        ("log_retention_days", spec.log_retention_days),
        ("network.flow_logs_retention_days", spec.network.flow_logs_retention_days),
    ):
        if unresolved(days) or days in RETENTION_DAYS:
            continue
        below = [known for known in RETENTION_DAYS if known < days][-1:]
        above = [known for known in RETENTION_DAYS if known > days][:1]
        yield rule.finding(
            path,
            "is no retention that CloudWatch Logs offers",
            given=days,
            allowed=", ".join(map(str, RETENTION_DAYS)),
            nearest=(*below, *above),
        )
