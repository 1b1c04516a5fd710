"""HP34x: FSx for Lustre, what works and is seldom what was meant."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, new_lustre
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import fsx
from hyperpod_cdk.service.instance_types import find
from hyperpod_cdk.spec import (
    HyperPodSpec,
    LustreDeploymentType,
    LustreFileSystem,
    LustreMetadataMode,
    LustreStorageType,
)

_TIERING = LustreStorageType.INTELLIGENT_TIERING
_TRN2 = "ml.trn2."
_EFA_KIND = (LustreDeploymentType.PERSISTENT_2, LustreStorageType.SSD, fsx.LUSTRE_METADATA_VERSION)


@checks(
    Rule(
        code="HP340",
        title="an Intelligent-Tiering setting that only the newest pages know",
        why="the API's description has it, older pages and its own lower bound have not: it may be refused",
        fix="use a multiple of 4000 MB/s, and 6000 or 12000 metadata IOPS, or acknowledge this",
        source=f"{fsx.API_REFERENCE}API_CreateFileSystemLustreConfiguration.html against "
        "the FSx model of botocore 1.44.8",
        severity=Severity.WARNING,
    )
)
def tiering_of_the_newest_pages(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        throughput, metadata = lustre.throughput_capacity, lustre.metadata
        if lustre.storage_type != _TIERING:
            continue
        if throughput in fsx.LUSTRE_TIERING_THROUGHPUT.singles:
            where = f"{path}.throughput_capacity"
            yield rule.finding(where, "is not on every page", given=throughput, nearest=(4000,))
        if metadata is None or unresolved(metadata.mode, metadata.iops):
            continue
        if metadata.mode == LustreMetadataMode.AUTOMATIC:
            yield rule.finding(f"{path}.metadata.mode", "is not on every page", given=metadata.mode)
        elif metadata.iops is not None and metadata.iops not in fsx.LUSTRE_TIERING_IOPS:
            nearest = fsx.LUSTRE_TIERING_IOPS
            yield rule.finding(
                f"{path}.metadata.iops", "are not on every page", given=metadata.iops, nearest=nearest
            )


@checks(
    Rule(
        code="HP341",
        title="fewer metadata IOPS than the capacity brings by itself",
        why="FSx provisions no fewer than mode AUTOMATIC would, and refuses the file system",
        fix="raise iops, or use mode AUTOMATIC",
        source=f"{fsx.LUSTRE_GUIDE}managing-metadata-performance.html",
        severity=Severity.WARNING,
    )
)
def fewer_iops_than_automatic(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        iops, capacity = lustre.metadata.iops if lustre.metadata else None, lustre.capacity_gib
        if iops is None or capacity is None or unresolved(iops, capacity, lustre.storage_type):
            continue
        least = fsx.automatic_metadata_iops(capacity)
        if lustre.storage_type == LustreStorageType.SSD and iops < least:
            message = f"are below what {capacity} GiB bring"
            yield rule.finding(
                f"{path}.metadata.iops", message, given=iops, allowed=f"at least {least}", nearest=(least,)
            )


@checks(
    Rule(
        code="HP342",
        title="EFA whose throughput nobody chose",
        why="with EFA neither efa_enabled nor the throughput for each TiB can be changed later: in place by "
        "CloudFormation's pages, refused by FSx",
        fix="set per_unit_storage_throughput to what the file system shall have for its life",
        source=f"{fsx.LUSTRE_GUIDE}efa-file-systems.html",
        severity=Severity.WARNING,
    )
)
def efa_throughput_for_life(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        if unresolved(lustre.efa_enabled, lustre.storage_type) or not lustre.efa_enabled:
            continue
        if lustre.storage_type == LustreStorageType.SSD and lustre.per_unit_storage_throughput is None:
            where = f"{path}.per_unit_storage_throughput"
            yield rule.finding(
                where, "is left at 125 for the file system's life", allowed="125, 250, 500, 1000"
            )


@checks(
    Rule(
        code="HP343",
        title="an EFA file system that no node reaches by EFA",
        why="its minimum size is a multiple of others', and nodes without EFA mount it over TCP all the same",
        fix="remove efa_enabled, or mount it from a group with EFA, such as of ml.p5.48xlarge",
        source=f"{fsx.LUSTRE_GUIDE}efa-file-systems.html",
        severity=Severity.WARNING,
    )
)
def efa_for_nobody(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name, lustre in spec.storage.items():
        if not isinstance(lustre, LustreFileSystem) or lustre.existing or not lustre.efa_enabled:
            continue
        types = _client_types(spec, name)
        if types and not unresolved(lustre.efa_enabled, types) and not any(map(_may_have_efa, types)):
            message = "is mounted by nodes without EFA alone"
            yield rule.finding(join("storage", name), message, given=", ".join(dict.fromkeys(types)))


@checks(
    Rule(
        code="HP344",
        title="an old Lustre version",
        why="metadata settings and EFA can never be added to it, and the image's client is made for 2.15",
        fix="use file_system_type_version 2.15, the default",
        source=f"{fsx.LUSTRE_GUIDE}managing-metadata-performance.html, lustre-client-matrix.html",
        severity=Severity.WARNING,
    )
)
def old_lustre_version(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        version = lustre.file_system_type_version
        if not unresolved(version) and version != fsx.LUSTRE_METADATA_VERSION:
            where = f"{path}.file_system_type_version"
            yield rule.finding(where, "is old", given=version, nearest=(fsx.LUSTRE_METADATA_VERSION,))


@checks(
    Rule(
        code="HP345",
        title="a Lustre option that the Region does not have",
        why="the file system fails to be created",
        fix="use another option, or another Region",
        source=f"{fsx.LUSTRE_GUIDE}using-fsx-lustre.html",
        severity=Severity.WARNING,
    )
)
def lustre_in_region(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    region = spec.region
    if region is None or unresolved(region):
        return
    tiers = fsx.LUSTRE_FEW_TIERS.get(region)
    for path, lustre in new_lustre(spec):
        throughput = lustre.per_unit_storage_throughput
        if lustre.deployment_type == LustreDeploymentType.PERSISTENT_2:
            if region in fsx.LUSTRE_NOT_PERSISTENT_2:
                where = f"{path}.deployment_type"
                yield rule.finding(where, f"is not to be had in {region}", given=lustre.deployment_type)
            elif tiers and throughput is not None and not unresolved(throughput) and throughput not in tiers:
                where, allowed = f"{path}.per_unit_storage_throughput", ", ".join(map(str, tiers))
                yield rule.finding(where, f"is not to be had in {region}", given=throughput, allowed=allowed)
            elif tiers and lustre.efa_enabled and not unresolved(lustre.efa_enabled):
                yield rule.finding(f"{path}.efa_enabled", f"is not to be had in {region}", given=True)


@checks(
    Rule(
        code="HP346",
        title="EFA that could be had without a larger file system, and can never be added",
        why="efa_enabled is fixed at creation; size and throughput allow it, and nodes with EFA mount it",
        fix="set efa_enabled: true, or acknowledge this",
        source=f"{fsx.LUSTRE_GUIDE}efa-file-systems.html",
        severity=Severity.WARNING,
    )
)
def efa_never_again(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for name, lustre in spec.storage.items():
        if not isinstance(lustre, LustreFileSystem) or lustre.existing or lustre.efa_enabled:
            continue
        kind = (lustre.deployment_type, lustre.storage_type, lustre.file_system_type_version)
        units = fsx.LUSTRE_EFA_CAPACITY.get(lustre.per_unit_storage_throughput or 0)
        capacity = lustre.capacity_gib
        if kind != _EFA_KIND or units is None or capacity is None or unresolved(capacity):
            continue
        efa = [one for one in _client_types(spec, name) if not unresolved(one) and _has_efa(one)]
        if capacity in units and efa:
            message = f"could serve {efa[0]} over EFA"
            yield rule.finding(f"{join('storage', name)}.efa_enabled", message, given=False)


def _client_types(spec: HyperPodSpec, name: str) -> list[str]:
    """Instance types of the groups that mount a file system, or may do so."""
    return [
        name_of_type
        for _, group in groups(spec)
        for name_of_type in group.instance_types
        if any(mount.storage in (None, name) or unresolved(mount.storage) for mount in group.mounts)
    ]


def _has_efa(name: str) -> bool:
    known = find(name)
    return known is not None and bool(known.efa_interfaces) and _may_have_efa(name)


def _may_have_efa(name: str) -> bool:
    known = find(name)
    if name.startswith(_TRN2):
        # EFA of its own, but no client of file systems over it
        return False
    return known is None or known.efa_interfaces != 0
