"""HP30x: FSx for Lustre, which settings go together."""

from collections.abc import Iterator
from typing import Any

from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.look import new_lustre
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import fsx
from hyperpod_cdk.spec import (
    HyperPodSpec,
    LustreDeploymentType,
    LustreFileSystem,
    LustreMetadataMode,
    LustreReadCacheSizingMode,
    LustreStorageType,
)

_TIERING = LustreStorageType.INTELLIGENT_TIERING


@checks(
    Rule(
        code="HP301",
        title="a Lustre capacity that does not exist",
        why="FSx sells capacity in steps, and the file system fails to be created",
        fix="use one of the nearest capacities",
        source=fsx.CAPACITY_SOURCE,
    )
)
def lustre_capacity(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        capacity, steps = lustre.capacity_gib, _capacity_steps(lustre)
        if capacity is not None and lustre.storage_type == _TIERING:
            message = "can not be set for INTELLIGENT_TIERING, which grows with its data"
            yield rule.finding(f"{path}.capacity_gib", message, given=capacity, fix="remove capacity_gib")
        if capacity is None or steps is None or unresolved(capacity) or capacity in steps:
            continue
        kind = f"{lustre.deployment_type} on {lustre.storage_type}"
        if lustre.efa_enabled or lustre.storage_type == LustreStorageType.HDD:
            with_efa = " with EFA" if lustre.efa_enabled else ""
            kind = f"{kind} at {_throughput(lustre)} MB/s per TiB{with_efa}"
        yield rule.finding(
            f"{path}.capacity_gib",
            f"is no capacity that {kind} comes in",
            given=capacity,
            allowed=f"{steps} GiB",
            nearest=steps.nearest(capacity),
        )


@checks(
    Rule(
        code="HP302",
        title="a Lustre storage type that the deployment type does not have",
        why="HDD exists for PERSISTENT_1 only, Intelligent-Tiering for PERSISTENT_2 only",
        fix="change storage_type or deployment_type",
        source=fsx.LUSTRE_SOURCE,
    )
)
def lustre_storage_type(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        deployment, storage = lustre.deployment_type, lustre.storage_type
        if unresolved(deployment, storage) or (deployment, storage) in fsx.LUSTRE_THROUGHPUT:
            continue
        allowed = [str(has) for one, has in fsx.LUSTRE_THROUGHPUT if one == deployment]
        yield rule.finding(
            f"{path}.storage_type",
            f"does not exist for {deployment}",
            given=storage,
            allowed=", ".join(allowed),
        )


@checks(
    Rule(
        code="HP303",
        title="a Lustre throughput for each TiB that does not exist",
        why="FSx offers a few tiers for each deployment and storage type, and none for some",
        fix="use one of the allowed tiers, or leave it out",
        source=fsx.LUSTRE_SOURCE,
    )
)
def lustre_throughput_per_tib(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        given = lustre.per_unit_storage_throughput
        tiers = fsx.LUSTRE_THROUGHPUT.get((lustre.deployment_type, lustre.storage_type))
        if given is None or tiers is None or unresolved(given) or given in tiers:
            continue
        kind = f"{lustre.deployment_type} on {lustre.storage_type}"
        yield rule.finding(
            f"{path}.per_unit_storage_throughput",
            f"is no tier of {kind}" if tiers else f"can not be set for {kind}",
            given=given,
            allowed=", ".join(map(str, tiers)) or "nothing",
            nearest=sorted(tiers, key=lambda tier: abs(tier - given))[:1],
        )


@checks(
    Rule(
        code="HP304",
        title="a throughput capacity that does not exist",
        why="Intelligent-Tiering comes in steps; others take their throughput from their capacity",
        fix="use a multiple of 4000 with INTELLIGENT_TIERING, and leave it out otherwise",
        source=fsx.LUSTRE_SOURCE,
    )
)
def lustre_throughput_capacity(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        given, steps = lustre.throughput_capacity, fsx.LUSTRE_TIERING_THROUGHPUT
        if given is None or unresolved(given, lustre.storage_type):
            continue
        if lustre.storage_type != _TIERING:
            message = f"is for INTELLIGENT_TIERING only, not {lustre.storage_type}"
            yield rule.finding(f"{path}.throughput_capacity", message, given=given)
        elif given not in steps:
            yield rule.finding(
                f"{path}.throughput_capacity",
                "is no throughput that Intelligent-Tiering comes in",
                given=given,
                allowed=f"{steps} MB/s",
                nearest=steps.nearest(given),
            )


@checks(
    Rule(
        code="HP305",
        title="metadata settings that do not exist",
        why="metadata performance can be set for PERSISTENT_2 on Lustre 2.15 only, and in steps",
        fix="change the setting, or remove metadata",
        source=f"{fsx.API_REFERENCE}API_CreateFileSystemLustreMetadataConfiguration.html",
    )
)
def lustre_metadata(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        if lustre.metadata is not None and not unresolved(*_kind(lustre), lustre.metadata.mode):
            for field, what in _metadata_faults(lustre):
                yield rule.finding(f"{path}.{field}", **what)


@checks(
    Rule(
        code="HP306",
        title="a read cache that can not be",
        why="only Intelligent-Tiering file systems have an SSD read cache; its size follows their throughput",
        fix="change the setting, or remove read_cache",
        source=f"{fsx.API_REFERENCE}API_LustreReadCacheConfiguration.html",
    )
)
def lustre_read_cache(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, lustre in new_lustre(spec):
        cache = lustre.read_cache
        if cache is None or unresolved(lustre.storage_type, cache.sizing_mode, cache.size_gib):
            continue
        if lustre.storage_type != _TIERING:
            yield rule.finding(f"{path}.read_cache", f"is for INTELLIGENT_TIERING, not {lustre.storage_type}")
        elif cache.sizing_mode != LustreReadCacheSizingMode.USER_PROVISIONED:
            if cache.size_gib is not None:
                message = f"follows from sizing_mode {cache.sizing_mode}"
                yield rule.finding(f"{path}.read_cache.size_gib", message, given=cache.size_gib)
        elif cache.size_gib is None:
            yield rule.finding(f"{path}.read_cache.size_gib", "is missing with sizing_mode USER_PROVISIONED")
        elif (found := _cache_size(lustre, cache.size_gib)) is not None:
            yield rule.finding(f"{path}.read_cache.size_gib", **found)


def _capacity_steps(lustre: LustreFileSystem) -> fsx.Steps | None:
    throughput = _throughput(lustre)
    if unresolved(*_kind(lustre), throughput, lustre.efa_enabled):
        return None
    if lustre.storage_type == LustreStorageType.HDD:
        return fsx.LUSTRE_HDD_CAPACITY.get(throughput or 0)
    if lustre.efa_enabled:
        return fsx.LUSTRE_EFA_CAPACITY.get(throughput or 0)
    return fsx.LUSTRE_CAPACITY.get((lustre.deployment_type, lustre.storage_type))


def _throughput(lustre: LustreFileSystem) -> int | None:
    tiers = fsx.LUSTRE_THROUGHPUT.get((lustre.deployment_type, lustre.storage_type)) or (None,)
    return lustre.per_unit_storage_throughput or tiers[0]


def _kind(lustre: LustreFileSystem) -> tuple[str, str, str]:
    return lustre.deployment_type, lustre.storage_type, lustre.file_system_type_version


def _metadata_faults(lustre: LustreFileSystem) -> Iterator[tuple[str, dict[str, Any]]]:
    assert lustre.metadata is not None
    mode, iops = lustre.metadata.mode, lustre.metadata.iops
    steps = fsx.LUSTRE_METADATA_IOPS.get(lustre.storage_type)
    if lustre.deployment_type != LustreDeploymentType.PERSISTENT_2 or steps is None:
        yield "metadata", {"message": f"can not be set for {lustre.deployment_type} on {lustre.storage_type}"}
    elif lustre.file_system_type_version != fsx.LUSTRE_METADATA_VERSION:
        message = f"needs Lustre {fsx.LUSTRE_METADATA_VERSION}"
        yield "file_system_type_version", {"message": message, "given": lustre.file_system_type_version}
    elif mode == LustreMetadataMode.AUTOMATIC:
        if iops is not None:
            yield "metadata.iops", {"message": "follows from the capacity in mode AUTOMATIC", "given": iops}
    elif iops is None:
        yield "metadata.iops", {"message": "is missing in mode USER_PROVISIONED", "allowed": str(steps)}
    elif not unresolved(iops) and iops not in steps:
        what = {"allowed": f"{steps}", "nearest": steps.nearest(iops)}
        yield "metadata.iops", {"message": "are no metadata IOPS on offer", "given": iops, **what}


def _cache_size(lustre: LustreFileSystem, size: int) -> dict[str, Any] | None:
    throughput = lustre.throughput_capacity or fsx.LUSTRE_TIERING_THROUGHPUT.step
    if unresolved(throughput):
        return None
    units = max(throughput // 1000, 1)
    low, high = (bound * units for bound in fsx.LUSTRE_READ_CACHE_GIB)
    if low <= size <= high:
        return None
    return {
        "message": f"is no cache size for {throughput} MB/s",
        "given": size,
        "allowed": f"{low} to {high} GiB",
        "nearest": (low if size < low else high,),
    }
