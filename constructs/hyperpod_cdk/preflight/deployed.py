"""HP906, HP945, HP946: what the spec changes of a stack that is there already."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.preflight import apis
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.look import file_systems, groups, is_legacy
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.fsx_changes import CHANGES, Change
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import FileSystem, HyperPodSpec

_FSX_TYPE = "AWS::FSx::FileSystem"
_HASH = 8
"""Digits that CDK adds to the path in a logical id."""
_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "capacity_gib": ("StorageCapacity",),
    "copy_tags_to_backups": ("Configuration", "CopyTagsToBackups"),
    "deployment_type": ("Configuration", "DeploymentType"),
    "drive_cache_type": ("Configuration", "DriveCacheType"),
    "efa_enabled": ("Configuration", "EfaEnabled"),
    "endpoint_ip_address_range": ("Configuration", "EndpointIpAddressRange"),
    "file_system_type_version": ("FileSystemTypeVersion",),
    "kms_key_arn": ("KmsKeyId",),
    "storage_type": ("StorageType",),
    "throughput_capacity": ("Configuration", "ThroughputCapacity"),
}
"""Where DescribeFileSystems shows a field of the spec."""
_CONFIGURATIONS = {"LUSTRE": "LustreConfiguration", "OPENZFS": "OpenZFSConfiguration"}


@dataclass(frozen=True, kw_only=True)
class _Changed:
    """A field that is to be another than it is."""

    path: str
    field: str
    change: Change
    wanted: Any
    live: Any

    @property
    def shrinks(self) -> bool:
        """Whether it is to be less, by number or by version."""
        return bool(_size(self.wanted) < _size(self.live))


def _size(value: Any) -> list[int]:
    return [int(part) for part in str(value).split(".")]


def _calls(look: Look) -> list[Call]:
    # all of the Region: which are the stack's is another answer
    return [look.stack_call(), apis.DESCRIBE_FILE_SYSTEMS()]


def _live(look: Look) -> dict[str, Item]:
    """The stack's file systems by their logical ids."""
    ids = {one["LogicalResourceId"]: one["PhysicalResourceId"] for one in look.stack_resources(_FSX_TYPE)}
    if not ids:
        return {}
    known = {one["FileSystemId"]: one for one in look.aws.answer(apis.DESCRIBE_FILE_SYSTEMS())}
    return {logical: known[physical] for logical, physical in ids.items() if physical in known}


def _changed(look: Look) -> Iterator[_Changed]:
    live = _live(look)
    for (path, wanted), name in zip(file_systems(look.spec), look.spec.storage, strict=True):
        beginning = f"Storage{''.join(filter(str.isalnum, name))}"
        found = next(
            (
                one
                for logical, one in live.items()
                if logical[:-_HASH] == beginning and one["FileSystemType"] == wanted.file_system_type
            ),
            None,
        )
        if found is not None and wanted.existing is None:
            yield from _fields(look.spec, path, wanted, found)


def _fields(spec: HyperPodSpec, path: str, wanted: FileSystem, live: Item) -> Iterator[_Changed]:
    for field, change in CHANGES[type(wanted)].items():
        if field not in _MEMBERS:
            continue
        asked = getattr(wanted, field)
        if field == "kms_key_arn":
            asked = asked or spec.kms_key_arn
        shown = _shown(live, _MEMBERS[field])
        if asked is None or shown is None or unresolved(asked) or str(asked) == str(shown):
            continue
        yield _Changed(path=f"{path}.{field}", field=field, change=change, wanted=asked, live=shown)


def _shown(live: Item, members: tuple[str, ...]) -> Any:
    value: Any = live
    for member in members:
        name = _CONFIGURATIONS[live["FileSystemType"]] if member == "Configuration" else member
        value = value.get(name, {} if member == "Configuration" else None)
    return value


def _refused(look: Look, rule: Rule) -> Iterator[Finding]:
    for one in _changed(look):
        if one.change is Change.REFUSED or (one.change is Change.GROWS and one.shrinks):
            allowed = str(one.live) if one.change is Change.REFUSED else f"{one.live} or more"
            yield rule.finding(one.path, f"is {one.live} now", given=one.wanted, allowed=allowed)


def _replaced(look: Look, rule: Rule) -> Iterator[Finding]:
    for one in _changed(look):
        if one.change is Change.REPLACED:
            yield rule.finding(one.path, f"is {one.live} now", given=one.wanted, allowed=str(one.live))


def _new_legacy_groups(look: Look, rule: Rule) -> Iterator[Finding]:
    for cluster in look.own_clusters():
        known = {group["InstanceGroupName"] for group in cluster.get("InstanceGroups", ())}
        for path, group in groups(look.spec):
            if group.instance_group_name not in known:
                yield rule.finding(
                    f"{path}.instance_group_name",
                    f"is new to the cluster {cluster['ClusterName']}",
                    given=group.instance_group_name,
                )


def _makes_file_systems(spec: HyperPodSpec) -> bool:
    return any(one.existing is None for _, one in file_systems(spec))


CHECKS = (
    Check(
        name="legacy-groups",
        rule=Rule(
            code="HP906",
            title="a new group of a cluster whose Slurm is described by a file",
            why="provisioning_parameters.json is read at creation alone, so that the group's nodes are in "
            "the partition dev and no other",
            fix="move to the API's configuration, which goes one way only, or edit slurm.conf on the "
            "controller",
            source=f"{GUIDE}sagemaker-hyperpod-slurm-api-config-migration.html",
            severity=Severity.WARNING,
        ),
        apis=(apis.LIST_CLUSTERS, apis.DESCRIBE_CLUSTER, apis.LIST_STACK_RESOURCES),
        asks=lambda look: [apis.LIST_CLUSTERS(), look.stack_call()],
        needed=is_legacy,
        find=_new_legacy_groups,
    ),
    Check(
        name="file-system-changes",
        rule=Rule(
            code="HP945",
            title="a change of a file system that FSx refuses",
            why="the update fails and rolls back",
            fix="leave the setting as it is, or give the file system another name in storage, which makes a "
            "new one",
            source="https://docs.aws.amazon.com/fsx/latest/APIReference/API_UpdateFileSystem.html",
        ),
        apis=(apis.LIST_STACK_RESOURCES, apis.DESCRIBE_FILE_SYSTEMS),
        asks=_calls,
        needed=_makes_file_systems,
        find=_refused,
    ),
    Check(
        name="file-system-replaced",
        rule=Rule(
            code="HP946",
            title="a change that makes a file system anew",
            why="the nodes mount a new, empty one; what the old one holds stays or goes by its "
            "removal_policy",
            fix="leave the setting as it is, or copy the data first",
            source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
            "aws-resource-fsx-filesystem.html",
            severity=Severity.WARNING,
        ),
        apis=(apis.LIST_STACK_RESOURCES, apis.DESCRIBE_FILE_SYSTEMS),
        asks=_calls,
        needed=_makes_file_systems,
        find=_replaced,
    ),
)
