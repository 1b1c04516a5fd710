"""HP49x: what nodes download, and from where."""

import re
from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.needed_downloads import missing, missing_enroot, names
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.downloads import NAMES, PROCESSORS
from hyperpod_cdk.spec import HyperPodSpec, NatGateways

_PATH = "lifecycle.downloads"
_SOURCE = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[^/]+)*/?")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@checks(
    Rule(
        code="HP490",
        title="a download without a source",
        why="nodes without internet find it nowhere, and go without what it is for",
        fix="fill a folder with `hyperpod-cdk bundle` and name it in lifecycle.downloads.folder, or a bucket "
        "and lifecycle.downloads.source; or use nat_gateways: one",
        source="hyperpod_cdk.spec.Downloads",
    )
)
def download_without_source(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    downloads = spec.lifecycle.downloads
    if downloads.folder is not None or downloads.source is not None:
        return
    if (_is_closed(spec) or not downloads.internet) and names(spec.lifecycle):
        wanted = ", ".join(names(spec.lifecycle))
        yield rule.finding(_PATH, f"has no source of {wanted} that nodes without internet reach")


@checks(
    Rule(
        code="HP491",
        title="a download whose content is not known",
        why="nodes take nothing that has no checksum, and this has none for the processor of some of them",
        fix="give its url and sha256 in lifecycle.downloads.overrides",
        source="hyperpod_cdk.service.downloads",
    )
)
def download_without_checksum(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name in missing(spec.lifecycle, spec.cluster):
        yield rule.finding(join(f"{_PATH}.overrides", name), "is missing")


@checks(
    Rule(
        code="HP494",
        title="containers that are required, and Enroot only of the image",
        why="Enroot publishes no checksums, so that it is downloaded only with one of yours: with an image "
        "that lacks it, each node fails",
        fix="give url and sha256 of enroot and enroot-caps for the nodes' processor in "
        "lifecycle.downloads.overrides, or acknowledge this where the image has Enroot",
        source="hyperpod_cdk.service.downloads",
        severity=Severity.WARNING,
    )
)
def enroot_of_the_image_alone(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name in missing_enroot(spec.lifecycle, spec.cluster):
        yield rule.finding(join(f"{_PATH}.overrides", name), "is missing")


@checks(
    Rule(
        code="HP492",
        title="a source of downloads that can not be",
        why="nodes would look for it in vain, or refuse what they find",
        fix="use s3://bucket/prefix, https:// addresses, 64 lower-case hexadecimal digits, and our names",
        source="hyperpod_cdk.spec.Downloads",
    )
)
def download_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    downloads = spec.lifecycle.downloads
    known = [f"{name}-{processor}" for name in NAMES for processor in PROCESSORS]
    if downloads.source and not unresolved(downloads.source) and not _SOURCE.fullmatch(downloads.source):
        yield rule.finding(f"{_PATH}.source", "is no s3:// prefix", given=downloads.source)
    for name, one in downloads.overrides.items():
        path = join(f"{_PATH}.overrides", name)
        if not unresolved(name) and name not in known:
            yield rule.finding(path, "is nothing that nodes ask for", given=name, allowed=", ".join(known))
        if not unresolved(one.url) and not one.url.startswith("https://"):
            yield rule.finding(f"{path}.url", "is no https:// address", given=one.url)
        if not unresolved(one.sha256) and not _DIGEST.fullmatch(one.sha256):
            yield rule.finding(f"{path}.sha256", "is no SHA-256 digest", given=one.sha256)


@checks(
    Rule(
        code="HP493",
        title="packages of the distribution on nodes without internet",
        why="SSSD is installed from the distribution's own servers where the image lacks it; nobody of the "
        "directory could log in",
        fix="use an image with sssd-ldap, libnss-sss and libpam-sss; or use nat_gateways: one",
        source="hyperpod_cdk.spec.Directory",
        severity=Severity.WARNING,
    )
)
def packages_without_internet(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.lifecycle.directory is not None and _is_closed(spec):
        yield rule.finding("lifecycle.directory", "needs packages that nodes can not reach")


def _is_closed(spec: HyperPodSpec) -> bool:
    return spec.network.existing is None and spec.network.nat_gateways == NatGateways.NONE
