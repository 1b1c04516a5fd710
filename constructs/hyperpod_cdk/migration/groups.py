"""Instance groups of a request as those of a configuration."""

from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.migration.filling import fill
from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.migration.part import Part
from hyperpod_cdk.migration.storage import FileSystems
from hyperpod_cdk.spec import LifecycleMode

_NEEDED = {
    "instance_group_name": "InstanceGroupName",
    "instance_type": "InstanceType",
    "instance_count": "InstanceCount",
}


@dataclass(kw_only=True)
class Group:
    """A group under way: its settings in our words, its mode, and which source it came from."""

    part: Part
    settings: dict[str, Any]
    mode: LifecycleMode
    mounts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Of the group."""
        return str(self.settings["instance_group_name"])


def read_group(part: Part, file_systems: FileSystems, notes: list[Note], *, legacy: bool) -> Group:
    """One entry of InstanceGroups.

    Args:
        part: the entry; what can be carried over is taken of it.
        file_systems: where the file systems that it mounts are kept.
        notes: where what needs saying goes.
        legacy: Slurm is described by provisioning_parameters.json.
    """
    settings: dict[str, Any] = {
        "instance_group_name": part.take("InstanceGroupName"),
        "instance_type": _instance_type(part, notes),
        "instance_count": part.take("InstanceCount"),
        "min_instance_count": part.take("MinInstanceCount"),
        "slurm_config": _slurm(part.below("SlurmConfig")),
        "threads_per_core": part.take("ThreadsPerCore"),
    }
    mounts = [] if legacy else _mounts(part, file_systems, notes)
    _volumes(part, settings, notes)
    life_cycle, mode = _life_cycle(part.below("LifeCycleConfig"), notes, legacy=legacy)
    settings |= {
        "override_vpc_config": _place(part.below("OverrideVpcConfig")),
        "training_plan_arn": part.take("TrainingPlanArn"),
        "on_start_deep_health_checks": part.take("OnStartDeepHealthChecks"),
        "capacity_requirements": _capacity(part),
        "network_interface": part.below("NetworkInterface").take("InterfaceType"),
        "scheduled_update_config": _scheduled(part.below("ScheduledUpdateConfig"), notes),
        "image_id": part.take("ImageId"),
        "image_release_version": part.take("ImageReleaseVersion"),
        "life_cycle_config": life_cycle,
        "execution_role_arn": part.take("ExecutionRole"),
    }
    fill(settings, part, _NEEDED, notes)
    if settings["execution_role_arn"] is None:
        text = "none is given, so that one is made for the group"
        notes.append(Note(kind=Kind.CHANGED, path=f"{part.path}.ExecutionRole", text=text))
    if legacy and not life_cycle:
        text = "none is given, so that the scripts of this library are deployed"
        notes.append(Note(kind=Kind.CHANGED, path=f"{part.path}.LifeCycleConfig", text=text))
    kept = {key: value for key, value in settings.items() if value not in (None, [], {})}
    return Group(part=part, settings=kept, mode=mode, mounts=mounts)


def _instance_type(part: Part, notes: list[Note]) -> Any:
    named = part.take("InstanceType")
    several = part.below("InstanceRequirements").items("InstanceTypes")
    if named or not several:
        return named
    first = several[0]
    first.taken.add(first.path)
    text = f"a group has one type here: {first.value}, the first; make groups of their own for the others"
    notes.append(Note(kind=Kind.CHANGED, path=f"{part.path}.InstanceType", text=text))
    return first.value


def _slurm(part: Part) -> dict[str, Any] | None:
    if not part.has("NodeType"):
        return None
    config: dict[str, Any] = {"node_type": part.take("NodeType")}
    partitions = part.take("PartitionNames")
    return {**config, "partition_names": partitions} if partitions else config


def _mounts(part: Part, file_systems: FileSystems, notes: list[Note]) -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = []
    kinds: set[str] = set()
    entries = part.items("InstanceStorageConfigs")
    for number, entry in enumerate(entries):
        if any(entry.value == before.value for before in entries[:number]):
            # what stands twice is left, and told
            continue
        for member, kind in (("FsxLustreConfig", "LUSTRE"), ("FsxOpenZfsConfig", "OPENZFS")):
            config = entry.below(member)
            if config.value:
                mounts.append(file_systems.mount(config, kind))
                if kind in kinds:
                    text = "the service mounts one of a kind in a group; our scripts mount it"
                    notes.append(Note(kind=Kind.CHANGED, path=config.path, text=text))
                kinds.add(kind)
    return mounts


def _volumes(part: Part, settings: dict[str, Any], notes: list[Note]) -> None:
    for entry in part.items("InstanceStorageConfigs"):
        config = entry.below("EbsVolumeConfig")
        key = "root_volume" if config.has("RootVolume") and config.value["RootVolume"] else "secondary_volume"
        if not config.value or key in settings:
            # a second one is left, and told
            continue
        config.take("RootVolume")
        volume = {
            "volume_size_in_gb": config.take("VolumeSizeInGB"),
            "volume_kms_key_id": config.take("VolumeKmsKeyId"),
        }
        if key == "root_volume":
            fill(volume, config, {"volume_kms_key_id": "VolumeKmsKeyId"}, notes)
        settings[key] = {name: value for name, value in volume.items() if value is not None}


def _life_cycle(
    part: Part, notes: list[Note], *, legacy: bool
) -> tuple[dict[str, Any] | None, LifecycleMode]:
    if not part.value:
        return None, LifecycleMode.LEGACY if legacy else LifecycleMode.AMI
    config = {
        "source_s3_uri": part.take("SourceS3Uri"),
        "on_create": part.take("OnCreate"),
        "on_init_complete": part.take("OnInitComplete"),
    }
    fill(config, part, {"source_s3_uri": "SourceS3Uri"}, notes)
    mode = LifecycleMode.LEGACY if legacy else LifecycleMode.CUSTOM
    if config["on_init_complete"] and not config["on_create"]:
        mode = LifecycleMode.EXTENSION
    return {key: value for key, value in config.items() if value is not None}, mode


def _place(part: Part) -> dict[str, Any] | None:
    place = {"subnet_ids": part.take("Subnets"), "security_group_ids": part.take("SecurityGroupIds")}
    return {key: value for key, value in place.items() if value} or None


def _capacity(part: Part) -> str | None:
    capacity = part.below("CapacityRequirements")
    kinds = list(capacity.value) if isinstance(capacity.value, dict) else []
    if len(kinds) != 1 or capacity.value[kinds[0]]:
        # none, or one that we do not know
        return None
    part.take("CapacityRequirements")
    return str(kinds[0])


def _scheduled(part: Part, notes: list[Note]) -> dict[str, Any] | None:
    if not part.has("ScheduleExpression"):
        # without a time it means nothing, and is told as left
        return None
    config: dict[str, Any] = {"schedule_expression": part.take("ScheduleExpression")}
    deployment = _deployment(part.below("DeploymentConfig"), notes)
    return {**config, "deployment_config": deployment} if deployment else config


def _deployment(part: Part, notes: list[Note]) -> dict[str, Any]:
    policy = part.below("RollingUpdatePolicy")
    sizes = {
        "maximum_batch_size": _batch(policy.below("MaximumBatchSize"), notes),
        "rollback_maximum_batch_size": _batch(policy.below("RollbackMaximumBatchSize"), notes),
    }
    if policy.value and sizes["maximum_batch_size"] is None:
        sizes["maximum_batch_size"] = _batch(Part({"": ""}, f"{policy.path}.MaximumBatchSize"), notes)
    alarms = [alarm.take("AlarmName") for alarm in part.items("AutoRollbackConfiguration")]
    config = {
        "rolling_update_policy": {key: size for key, size in sizes.items() if size},
        "wait_interval_in_seconds": part.take("WaitIntervalInSeconds"),
        "auto_rollback_alarm_names": [alarm for alarm in alarms if alarm],
    }
    return {key: value for key, value in config.items() if value not in (None, [], {})}


def _batch(part: Part, notes: list[Note]) -> dict[str, Any] | None:
    if not part.value:
        return None
    size = {"type": part.take("Type"), "value": part.take("Value")}
    fill(size, part, {"type": "Type", "value": "Value"}, notes)
    return size
