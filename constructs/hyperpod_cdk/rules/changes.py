"""HP17x and HP37x: what becomes of a deployed cluster when its configuration changes."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.rules.finding import Finding, Severity, ordered
from hyperpod_cdk.rules.look import file_system_zones, groups_of
from hyperpod_cdk.rules.named import with_group
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Check, Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import fsx
from hyperpod_cdk.service.fsx_changes import CHANGES
from hyperpod_cdk.service.fsx_changes import Change as Fate
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import (
    CapacityType,
    FileSystem,
    HyperPodSpec,
    InstanceGroup,
    LustreFileSystem,
    NodeType,
    RemovalPolicy,
)

GROUP_FIELDS: Mapping[str, Any] = {
    "instance_type": None,
    "threads_per_core": 1,
    "override_vpc_config": None,
    "execution_role_arn": None,
    "capacity_requirements": CapacityType.ON_DEMAND,
    "network_interface": None,
}
"""Fixed for a group's life (API_UpdateCluster), with the service's defaults; beside its node type and the
keys of its disks."""


@dataclass(frozen=True, kw_only=True)
class SpecChange:
    """A spec that is deployed, and the one that is to follow."""

    before: HyperPodSpec
    after: HyperPodSpec


@checks(
    Rule(
        code="HP170",
        title="a change of what is fixed for a group's life",
        why="the service refuses it, and so does our custom resource before anything is changed",
        fix="add a group of another name with the new value, move the work, and remove the old group",
        source=f"{API}API_UpdateCluster.html",
    )
)
def group_is_fixed(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    old = {group.instance_group_name: group for group in change.before.cluster.instance_groups}
    for index, group in enumerate(change.after.cluster.instance_groups):
        before = old.get(group.instance_group_name)
        for field, was in _fixed(before).items() if before is not None else ():
            now = _fixed(group)[field]
            if was != now and not unresolved(was, now):
                path = f"cluster.instance_groups[{index}].{field}"
                yield rule.finding(path, f"was {_told(was)} when the group was made", given=now)


@checks(
    Rule(
        code="HP171",
        title="a controller group that goes, or changes its name",
        why="the service keeps the controller for the cluster's life; a rename is a removal and a new group",
        fix="keep the group's name, or deploy a cluster of another name beside this one",
        source=f"{API}API_UpdateCluster.html",
    )
)
def controller_stays(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    names = [group.instance_group_name for _, group in groups_of(change.after, NodeType.CONTROLLER)]
    for _, group in groups_of(change.before, NodeType.CONTROLLER):
        if names and not unresolved(names) and group.instance_group_name not in names:
            message = f"lack the controller group {group.instance_group_name}"
            yield rule.finding("cluster.instance_groups", message)


@checks(
    Rule(
        code="HP172",
        title="mounts that running nodes do not get",
        why="the service mounts file systems when it sets a node up; nodes that run keep what they have",
        fix="scale the group to 0 and up again, or replace its nodes one by one",
        source=f"{GUIDE}sagemaker-hyperpod-ref.html",
        severity=Severity.WARNING,
    )
)
def mounts_of_new_nodes(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    old = {group.instance_group_name: group for group in change.before.cluster.instance_groups}
    for index, group in enumerate(change.after.cluster.instance_groups):
        before = old.get(group.instance_group_name)
        runs = before is not None and before.instance_count != 0 and group.instance_count != 0
        if before is not None and runs and list(before.mounts) != list(group.mounts):
            yield rule.finding(
                f"cluster.instance_groups[{index}].mounts", "differ from those of running nodes"
            )


@checks(
    Rule(
        code="HP370",
        title="a change that makes a file system anew, and empty",
        why="CloudFormation replaces the file system; nothing copies the data over",
        fix="copy the data first: add a second file system, mount both, and remove the old one afterwards",
        source=f"{fsx.CAPACITY_SOURCE}, {fsx.LUSTRE_SOURCE}, {fsx.OPENZFS_SOURCE}",
        severity=Severity.WARNING,
    )
)
def replaced(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    for path, field, was, now, one in _changed(change, Fate.REPLACED):
        goes = (
            "is deleted with its data" if one.removal_policy == RemovalPolicy.DESTROY else "is kept beside it"
        )
        message = f"was {_told(was)}; a new, empty file system takes its place, and the old one {goes}"
        yield rule.finding(f"{path}.{field}", message, given=now)


@checks(
    Rule(
        code="HP371",
        title="a change that FSx refuses",
        why="the update of the stack fails and is rolled back",
        fix="take the change back, or add a second file system of the new kind",
        source=f"{fsx.API_REFERENCE}API_UpdateFileSystem.html",
    )
)
def refused(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    for path, field, was, now, _ in _changed(change, Fate.REFUSED):
        yield rule.finding(f"{path}.{field}", f"was {_told(was)} when the file system was made", given=now)
    for path, field, was, now, _ in _changed(change, Fate.GROWS):
        if was is not None and now is not None and _size(now) < _size(was):
            message = "is less than before, and can only grow"
            yield rule.finding(
                f"{path}.{field}", message, given=now, allowed=f"at least {was}", nearest=(was,)
            )
    for path, before, after in _both(change):
        field = "per_unit_storage_throughput"
        was, now = (
            _values(change.before, path, before).get(field),
            _values(change.after, path, after).get(field),
        )
        if (
            isinstance(before, LustreFileSystem)
            and before.efa_enabled
            and was != now
            and not unresolved(was, now)
        ):
            where = f"{join('storage', path)}.{field}"
            yield rule.finding(where, f"was {_told(was)}, which EFA keeps for life", given=now)


@checks(
    Rule(
        code="HP372",
        title="a file system that leaves the stack",
        why="groups can not mount it any more; what happens to the data, its removal_policy says",
        fix="keep it under the same name; a rename is a new, empty file system",
        source="hyperpod_cdk.spec.HyperPodSpec",
        severity=Severity.WARNING,
    )
)
def removed(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    for name, one in change.before.storage.items():
        if name in change.after.storage or one.existing is not None or unresolved(*change.after.storage):
            continue
        goes = (
            "is deleted with its data"
            if one.removal_policy == RemovalPolicy.DESTROY
            else "is kept, and billed"
        )
        yield rule.finding("storage", f"lacks {name}, which {goes}")


CHANGE_CHECKS: tuple[Check[SpecChange], ...] = (
    *(group_is_fixed, controller_stays, mounts_of_new_nodes),
    *(replaced, refused, removed),
)
"""Every check of a change."""


def check_change(
    before: HyperPodSpec, after: HyperPodSpec, *, acknowledged: Iterable[str] = ()
) -> list[Finding]:
    """What a change of a deployed spec replaces, and what of it is refused; errors first.

    Args:
        before: the spec that is deployed.
        after: the spec that is to be deployed; findings are about its paths.
        acknowledged: codes of warnings that are not to be told again, beside the spec's own.
    """
    silent = {*acknowledged, *after.acknowledge}
    change = SpecChange(before=before, after=after)
    return ordered(
        with_group(after, finding)
        for one in CHANGE_CHECKS
        for finding in one(change)
        if finding.severity is Severity.ERROR or finding.code not in silent
    )


def _fixed(group: InstanceGroup) -> Mapping[str, Any]:
    """What can not change, by its path below the group."""
    keys = {
        f"{name}.volume_kms_key_id": volume.volume_kms_key_id
        for name in ("root_volume", "secondary_volume")
        if (volume := getattr(group, name)) is not None
    }
    return {
        **{field: getattr(group, field) or default for field, default in GROUP_FIELDS.items()},
        "slurm_config.node_type": group.slurm_config.node_type if group.slurm_config else None,
        "root_volume.volume_kms_key_id": None,
        "secondary_volume.volume_kms_key_id": None,
        **keys,
    }


def _both(change: SpecChange) -> Iterator[tuple[str, FileSystem, FileSystem]]:
    """Name and settings of file systems that were made here before and are to stay."""
    for name, after in change.after.storage.items():
        before = change.before.storage.get(name)
        made = before is not None and before.existing is None and after.existing is None
        if before is not None and made and type(before) is type(after):
            yield name, before, after


def _changed(change: SpecChange, fate: Fate) -> Iterator[tuple[str, str, Any, Any, FileSystem]]:
    """Path, field, old and new value of each change of a fate, and the old file system."""
    for name, before, after in _both(change):
        old, new = _values(change.before, name, before), _values(change.after, name, after)
        for field, what in CHANGES[type(before)].items():
            if what is fate and old[field] != new[field] and not unresolved(old[field], new[field]):
                yield join("storage", name), field, old[field], new[field], before


def _values(spec: HyperPodSpec, name: str, one: FileSystem) -> dict[str, Any]:
    """A file system's values as they are deployed, with what is left out filled in."""
    values = {
        field: getattr(one, field)
        for field in (*CHANGES[type(one)], "per_unit_storage_throughput")
        if hasattr(one, field)
    }
    values["kms_key_arn"] = one.kms_key_arn or spec.kms_key_arn
    zones = file_system_zones(spec).get(name, ())
    if isinstance(one, LustreFileSystem):
        values["availability_zone_id"] = next(iter(zones), None)
        tiers = fsx.LUSTRE_THROUGHPUT.get((one.deployment_type, one.storage_type)) or (None,)
        values["per_unit_storage_throughput"] = one.per_unit_storage_throughput or tiers[0]
    else:
        values["availability_zone_ids"] = list(zones)
    return values


def _size(value: Any) -> tuple[int, ...]:
    """A number, or a version, to be compared."""
    return tuple(int(part) for part in str(value).split("."))


def _told(value: Any) -> str:
    return "not given" if value in (None, [], ()) else str(value)
