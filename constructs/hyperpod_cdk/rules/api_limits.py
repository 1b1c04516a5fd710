"""HP100: the API's own limits, read from the service models and never typed here."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any

from hyperpod_cdk import spec as s
from hyperpod_cdk.rules.defaults import is_default
from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.look import is_legacy
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.rules.unread import class_of, has_unread, readable
from hyperpod_cdk.service.shapes import Shape, shape

# spec classes and the structure that each becomes; a field finds its member by name
_STRUCTURES: Mapping[type, str] = {
    s.Cluster: "CreateClusterRequest",
    s.InstanceGroup: "ClusterInstanceGroupSpecification",
    s.SlurmConfig: "ClusterSlurmConfig",
    s.LifeCycleConfig: "ClusterLifeCycleConfig",
    s.EbsVolume: "ClusterEbsVolumeConfig",
    s.OverrideVpcConfig: "VpcConfig",
    s.ExistingNetwork: "VpcConfig",
    s.SlurmOrchestrator: "ClusterOrchestratorSlurmConfig",
    s.AccountingDatabase: "ClusterAccountingDatabase",
    s.Mount: "ClusterFsxLustreConfig",
    s.ExistingFileSystem: "ClusterFsxLustreConfig",
    s.ScheduledUpdateConfig: "ScheduledUpdateConfig",
    s.UpdateDeploymentConfig: "DeploymentConfiguration",
    s.BatchSize: "CapacitySizeConfig",
    s.InstanceRequirements: "ClusterInstanceRequirements",
    s.KubernetesConfig: "ClusterKubernetesConfig",
    s.Taint: "ClusterKubernetesTaint",
    s.AutoPatchConfig: "ClusterAutoPatchConfig",
    s.DrainPolicy: "ClusterDrainPolicy",
    s.SharedLustre: "FSxLustreConfig",
    s.TieredStorageConfig: "ClusterTieredStorageConfig",
    s.EksOrchestrator: "ClusterOrchestratorEksConfig",
    s.TaskGovernance: "SchedulerConfig",
    s.PriorityClass: "PriorityClass",
    s.Team: "ComputeQuotaTarget",
    s.ComputeQuotaResource: "ComputeQuotaResourceConfig",
    s.AcceleratorPartition: "AcceleratorPartitionConfig",
    s.ResourceSharingConfig: "ResourceSharingConfig",
}
# fields with another name than their member, or whose structure is not the class's
_FIELDS: Mapping[tuple[type, str], tuple[str, str] | None] = {
    # a mapping here, a list there: HP102 and HP103 look at them
    (s.Cluster, "tags"): None,
    (s.InstanceGroup, "execution_role_arn"): ("sagemaker", "RoleArn"),
    (s.AutoScaling, "cluster_role_arn"): ("sagemaker", "RoleArn"),
    # timestamps are HP548's
    (s.AutoPatchConfig, "next_patch_date"): None,
    (s.InstanceGroup, "network_interface"): ("sagemaker", "ClusterInterfaceType"),
    (s.UpdateDeploymentConfig, "auto_rollback_alarm_names"): ("sagemaker", "AutoRollbackAlarms"),
    (s.OverrideVpcConfig, "subnet_ids"): ("sagemaker", "Subnets"),
    (s.AccountingDatabase, "security_group_id"): ("sagemaker", "SecurityGroupId"),
    (s.ExistingSubnet, "subnet_id"): ("sagemaker", "SubnetId"),
    (s.Team, "description"): ("sagemaker", "EntityDescription"),
    (s.Team, "compute_quota_resources"): ("sagemaker", "ComputeQuotaResourceConfigList"),
    (s.Team, "preempt_team_tasks"): ("sagemaker", "PreemptTeamTasks"),
    (s.Team, "tags"): None,
    (s.DataRepositoryAssociation, "data_repository_path"): ("fsx", "ArchivePath"),
    (s.DataRepositoryAssociation, "file_system_path"): ("fsx", "Namespace"),
    (s.DataRepositoryAssociation, "imported_file_chunk_size_mib"): ("fsx", "Megabytes"),
    **{
        (cls, name): ("fsx", shape_name)
        for cls in (s.LustreFileSystem, s.OpenZfsFileSystem)
        for name, shape_name in {
            "automatic_backup_retention_days": "AutomaticBackupRetentionDays",
            "daily_automatic_backup_start_time": "DailyTime",
            "weekly_maintenance_start_time": "WeeklyTime",
        }.items()
    },
}
_Fault = tuple[str, dict[str, Any]]

# sets that grow, or that the spec has more members of than the API; other rules look at these
_OPEN = ("ClusterInstanceType", "ClusterNodeProvisioningMode")
_IN_WORDS = {
    "[a-zA-Z0-9](-*[a-zA-Z0-9])*": "letters, digits and inner hyphens",
    "[0-9]+\\.[0-9]+\\.[0-9]+": "three numbers with dots, such as 1.2.3",
    "/[a-zA-Z0-9._/-]+": "an absolute path of letters, digits, '.', '_', '-' and '/'",
    "((fs|fc)i?-[0-9a-f]{8,}\\..{4,253})": "a file system's DNS name, fs-….fsx.<region>.amazonaws.com",
    "^([01]\\d|2[0-3]):?([0-5]\\d)$": "HH:MM in UTC",
    "^[1-7]:([01]\\d|2[0-3]):?([0-5]\\d)$": "d:HH:MM in UTC, Monday is 1",
}

_FIXES: Mapping[str, str] = {
    "partition_names": "keep one name: every node is in dev too, and groups may share a partition",
}
"""What to do where a list is too long, better than in general."""


@checks(
    Rule(
        code="HP100",
        title="a value outside the API's limits",
        why="the service refuses the request once everything round the cluster is there already",
        fix="write a value within the limits",
        source="botocore's models of the SageMaker and FSx APIs",
    )
)
def api_limits(spec: s.HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    legacy = is_legacy(spec)
    for cls, name, value, path in _values(spec, ""):
        limits = _shape_of(cls, name)
        if limits is None:
            continue
        for where, what in _outside(value, limits, path):
            # in legacy mode the names go to slurm.conf and not to the API
            if not (legacy and name == "partition_names" and where != path):
                yield rule.finding(where, **what, fix=_FIXES.get(name) if where == path else None)


def _values(part: Any, path: str) -> Iterator[tuple[type, str, Any, str]]:
    """Every field below a part of the spec that differs from its default."""
    if is_dataclass(part):
        for field, value in readable(part):
            if has_unread(value) or not is_default(value, field):
                below = join(path, field.name)
                yield class_of(part), field.name, value, below
                yield from _values(value, below)
    elif isinstance(part, Mapping):
        for key, value in part.items():
            yield from _values(value, join(path, key))
    elif isinstance(part, Sequence) and not isinstance(part, str):
        for index, value in enumerate(part):
            yield from _values(value, join(path, index))


@cache
def _shape_of(cls: type, name: str) -> Shape | None:
    if (cls, name) in _FIELDS:
        place = _FIELDS[cls, name]
        return shape(*place) if place else None
    if cls not in _STRUCTURES:
        return None
    members = shape("sagemaker", _STRUCTURES[cls]).members
    found = {member.lower(): member_shape for member, member_shape in members.items()}
    wanted = found.get(name.replace("_", ""))
    return shape("sagemaker", wanted) if wanted else None


def _outside(value: Any, limits: Shape, path: str) -> Iterator[_Fault]:
    if unresolved(value):
        return
    if limits.kind == "list" and isinstance(value, list | tuple):
        yield from _wrong_list(value, limits, path)
    elif limits.kind == "map" and isinstance(value, Mapping):
        yield from _wrong_mapping(value, limits, path)
    elif limits.kind == "string" and isinstance(value, str):
        yield from _wrong_text(value, limits, path)
    elif limits.kind in ("integer", "float") and isinstance(value, int | float):
        yield from _outside_range(value, limits, path, "")


def _wrong_list(values: Sequence[Any], limits: Shape, path: str) -> Iterator[_Fault]:
    item_limits = shape(limits.service, limits.item or "")
    if len(item_limits.members) == 1:
        # an item of one member is given by that member
        item_limits = shape(limits.service, *item_limits.members.values())
    yield from _outside_range(len(values), limits, path, "items")
    for index, item in enumerate(values):
        yield from _outside(item, item_limits, join(path, index))


def _wrong_mapping(values: Mapping[str, Any], limits: Shape, path: str) -> Iterator[_Fault]:
    yield from _outside_range(len(values), limits, path, "entries")
    key_limits, value_limits = (shape(limits.service, name) for name in limits.entry or ())
    for key, value in values.items():
        below = join(path, key)
        yield from _outside(key, key_limits, below)
        yield from _outside(value, value_limits, below)


def _outside_range(number: float, limits: Shape, path: str, unit: str) -> Iterator[_Fault]:
    low, high = limits.minimum, limits.maximum
    if (low is None or number >= low) and (high is None or number <= high):
        return
    nearest = low if low is not None and number < low else high
    allowed = f"{low} to {high} {unit}" if high is not None else f"at least {low} {unit}"
    message = f"has {number} {unit}" if unit else "is out of range"
    given = None if unit else number
    offered = () if unit else (nearest,)
    yield path, {"message": message, "given": given, "allowed": allowed.strip(), "nearest": offered}


def _wrong_text(text: str, limits: Shape, path: str) -> Iterator[_Fault]:
    if limits.values:
        if text not in limits.values and limits.name not in _OPEN:
            yield path, {"message": "is not known", "given": text, "allowed": ", ".join(limits.values)}
        return
    low, high = limits.minimum or 0, limits.maximum
    wanted = limits.pattern
    if wanted and not wanted.fullmatch(text) and (text or not low):
        allowed = _IN_WORDS.get(wanted.pattern, f"text that matches {wanted.pattern}")
        message = "has characters or a form that is not allowed"
        yield path, {"message": message, "given": text, "allowed": allowed, "nearest": _mended(text, wanted)}
    elif len(text) < low or (high is not None and len(text) > high):
        message = f"is {len(text)} characters long"
        yield path, {"message": message, "given": text, "allowed": f"{low} to {high} characters"}


def _mended(text: str, wanted: re.Pattern[str]) -> tuple[str, ...]:
    """The text with what is wrong made hyphens, where that is enough."""
    mended = re.sub(r"[^A-Za-z0-9]+", "-", text).strip("-")
    return (mended,) if mended and wanted.fullmatch(mended) else ()
