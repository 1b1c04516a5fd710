"""HP12x: disks and images of the nodes."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, is_continuous
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_VOLUME = f"{API}API_ClusterEbsVolumeConfig.html"


@checks(
    Rule(
        code="HP120",
        title="a root volume with a size, or without a key",
        why="the API takes a root volume only to encrypt it: a key is required and a size refused",
        fix="give root_volume a volume_kms_key_id and nothing else; use secondary_volume for space",
        source=_VOLUME,
    )
)
def root_volume(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        volume = group.root_volume
        if volume is None:
            continue
        if volume.volume_size_in_gb is not None:
            size = volume.volume_size_in_gb
            yield rule.finding(
                f"{path}.root_volume.volume_size_in_gb", "can not be set on a root volume", given=size
            )
        if volume.volume_kms_key_id is None:
            yield rule.finding(f"{path}.root_volume.volume_kms_key_id", "is missing")


@checks(
    Rule(
        code="HP121",
        title="a secondary volume without a size",
        why="the service can not make a disk of no size",
        fix="set volume_size_in_gb, 1 to 16384",
        source=_VOLUME,
    )
)
def secondary_volume(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        volume = group.secondary_volume
        if volume is not None and volume.volume_size_in_gb is None:
            yield rule.finding(f"{path}.secondary_volume.volume_size_in_gb", "is missing")


@checks(
    Rule(
        code="HP122",
        title="a volume key without Continuous provisioning",
        why="customer-managed keys for volumes exist only there",
        fix="remove volume_kms_key_id, or use node_provisioning_mode: Continuous",
        source=f"{GUIDE}smcluster-cmk.html",
    )
)
def volume_key_needs_continuous(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if unresolved(spec.cluster.node_provisioning_mode) or is_continuous(spec):
        return
    for path, group in groups(spec):
        for name in ("root_volume", "secondary_volume"):
            volume = getattr(group, name)
            if volume is not None and volume.volume_kms_key_id is not None:
                yield rule.finding(
                    f"{path}.{name}.volume_kms_key_id",
                    "needs Continuous provisioning",
                    given=volume.volume_kms_key_id,
                )


@checks(
    Rule(
        code="HP123",
        title="an image and a release of another image",
        why="image_release_version picks a release of HyperPod's own image, image_id one of yours; which of "
        "the two counts is not documented",
        fix="keep one of image_id and image_release_version",
        source=f"{API}API_ClusterInstanceGroupSpecification.html",
        severity=Severity.WARNING,
    )
)
def image_or_release(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        if group.image_id not in (None, "default") and group.image_release_version is not None:
            yield rule.finding(
                f"{path}.image_release_version",
                "excludes image_id, which is given too",
                given=group.image_release_version,
            )


@checks(
    Rule(
        code="HP124",
        title="a volume key named by its alias",
        why="the role that is made for the nodes is allowed the key, and IAM knows keys by their ids alone",
        fix="give the key's id or ARN",
        source=f"{GUIDE}smcluster-cmk.html",
    )
)
def volume_key_alias(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group in groups(spec):
        for name in ("root_volume", "secondary_volume"):
            volume = getattr(group, name)
            key = volume.volume_kms_key_id if volume is not None else None
            if key is None or group.execution_role_arn is not None or unresolved(key):
                continue
            if key.startswith("alias/") or ":alias/" in key:
                yield rule.finding(f"{path}.{name}.volume_kms_key_id", "is an alias", given=key)
