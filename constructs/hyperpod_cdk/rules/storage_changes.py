"""HP37x: what becomes of deployed file systems when the configuration changes."""

from collections.abc import Iterator
from typing import Any

from hyperpod_cdk.rules.change import SpecChange, told
from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import file_system_zones
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import fsx
from hyperpod_cdk.service.fsx_changes import CHANGES
from hyperpod_cdk.service.fsx_changes import Change as Fate
from hyperpod_cdk.spec import FileSystem, HyperPodSpec, LustreFileSystem, RemovalPolicy


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
    for path, field, was, now, one in changed(change, Fate.REPLACED):
        goes = (
            "is deleted with its data" if one.removal_policy == RemovalPolicy.DESTROY else "is kept beside it"
        )
        message = f"was {told(was)}; a new, empty file system takes its place, and the old one {goes}"
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
    for path, field, was, now, _ in changed(change, Fate.REFUSED):
        yield rule.finding(f"{path}.{field}", f"was {told(was)} when the file system was made", given=now)
    for path, field, was, now, _ in changed(change, Fate.GROWS):
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
            yield rule.finding(where, f"was {told(was)}, which EFA keeps for life", given=now)


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


def _both(change: SpecChange) -> Iterator[tuple[str, FileSystem, FileSystem]]:
    """Name and settings of file systems that were made here before and are to stay."""
    for name, after in change.after.storage.items():
        before = change.before.storage.get(name)
        made = before is not None and before.existing is None and after.existing is None
        if before is not None and made and type(before) is type(after):
            yield name, before, after


def changed(change: SpecChange, fate: Fate) -> Iterator[tuple[str, str, Any, Any, FileSystem]]:
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
