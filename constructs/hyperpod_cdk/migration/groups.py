"""Instance groups of a request as those of a configuration."""

from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.migration import kubernetes
from hyperpod_cdk.migration.filling import fill
from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.migration.part import Part
from hyperpod_cdk.migration.storage import FileSystems
from hyperpod_cdk.migration.updates import scheduled
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
    """One entry of InstanceGroups, in a cluster on Slurm.

    Args:
        part: the entry; what can be carried over is taken of it.
        file_systems: where the file systems that it mounts are kept.
        notes: where what needs saying goes.
        legacy: Slurm is described by provisioning_parameters.json.
    """
    settings: dict[str, Any] = {
        **_identity(part, _instance_type(part, notes)),
        "slurm_config": _slurm(part.below("SlurmConfig")),
    }
    mounts = [] if legacy else _mounts(part, file_systems, notes)
    life_cycle, mode = _life_cycle(part.below("LifeCycleConfig"), notes, legacy=legacy)
    settings |= {**_common(part, notes), "life_cycle_config": life_cycle}
    fill(settings, part, _NEEDED, notes)
    if legacy and not life_cycle:
        _told_new_scripts(part, notes)
    return Group(part=part, settings=_kept(settings), mode=mode, mounts=mounts)


def read_eks_group(part: Part, notes: list[Note], *, restricted: bool) -> Group:
    """One entry of InstanceGroups or RestrictedInstanceGroups, in a cluster on Amazon EKS.

    Args:
        part: the entry; what can be carried over is taken of it.
        notes: where what needs saying goes.
        restricted: which of the two.
    """
    settings = {
        **_identity(part, part.take("InstanceType")),
        **kubernetes.read_group(part, notes),
        **_common(part, notes),
        "life_cycle_config": _life_cycle(part.below("LifeCycleConfig"), notes, legacy=False)[0],
    }
    one_type = settings["instance_requirements"] is None
    needed = {key: name for key, name in _NEEDED.items() if one_type or key != "instance_type"}
    fill(settings, part, needed, notes)
    if not settings["life_cycle_config"] and not restricted:
        _told_new_scripts(part, notes)
    kept = _kept(settings)
    if restricted:
        # an empty one says it, too
        kept["environment_config"] = kubernetes.read_environment(part, notes)
    return Group(part=part, settings=kept, mode=LifecycleMode.CUSTOM)


def _identity(part: Part, instance_type: Any) -> dict[str, Any]:
    return {
        "instance_group_name": part.take("InstanceGroupName"),
        "instance_type": instance_type,
        "instance_count": part.take("InstanceCount"),
        "min_instance_count": part.take("MinInstanceCount"),
    }


def _common(part: Part, notes: list[Note]) -> dict[str, Any]:
    """What groups of both orchestrators have."""
    settings: dict[str, Any] = {"threads_per_core": part.take("ThreadsPerCore")}
    _volumes(part, settings, notes)
    settings |= {
        "override_vpc_config": _place(part.below("OverrideVpcConfig")),
        "training_plan_arn": part.take("TrainingPlanArn"),
        "on_start_deep_health_checks": part.take("OnStartDeepHealthChecks"),
        "capacity_requirements": _capacity(part),
        "network_interface": part.below("NetworkInterface").take("InterfaceType"),
        "scheduled_update_config": scheduled(part.below("ScheduledUpdateConfig"), notes),
        "image_id": part.take("ImageId"),
        "image_release_version": part.take("ImageReleaseVersion"),
        "execution_role_arn": part.take("ExecutionRole"),
    }
    if settings["execution_role_arn"] is None:
        text = "none is given, so that one is made for the group"
        notes.append(Note(kind=Kind.CHANGED, path=f"{part.path}.ExecutionRole", text=text))
    return settings


def _kept(settings: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if value not in (None, [], {})}


def _told_new_scripts(part: Part, notes: list[Note]) -> None:
    text = "none is given, so that the scripts of this library are deployed"
    notes.append(Note(kind=Kind.CHANGED, path=f"{part.path}.LifeCycleConfig", text=text))


def _instance_type(part: Part, notes: list[Note]) -> Any:
    named = part.take("InstanceType")
    several = part.below("InstanceRequirements").items("InstanceTypes")
    if named or not several:
        return named
    first = several[0]
    first.taken.add(first.path)
    text = f"a group has one type on Slurm: {first.value}, the first; make groups of their own for the others"
    for member in ("InstanceType", "InstanceRequirements"):
        notes.append(Note(kind=Kind.CHANGED, path=f"{part.path}.{member}", text=text))
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
