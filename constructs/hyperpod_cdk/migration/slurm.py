"""What provisioning_parameters.json says of Slurm, given to the groups.

Its keys: https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html
"""

from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_cdk.migration.filling import fill, placeholder
from hyperpod_cdk.migration.groups import Group
from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.migration.part import Part
from hyperpod_cdk.migration.storage import FileSystems
from hyperpod_cdk.spec import LifecycleMode

ROOT = "provisioning_parameters"
"""What paths into the file begin with."""

_VERSION = "1.0.0"
_CONTROLLER = "Controller"
_MULTI_HEAD = (
    "slurm_database_secret_arn",
    "slurm_database_endpoint",
    "slurm_shared_directory",
    "slurm_database_user",
    "slurm_sns_arn",
)


def apply(
    part: Part, groups: list[Group], file_systems: FileSystems, notes: list[Note]
) -> dict[str, Any] | None:
    """Give the groups their roles and mounts; without a request, the groups of this file are added.

    Args:
        part: the file's content.
        groups: of the request, in their order; none when there is no request.
        file_systems: where its file systems go.
        notes: where what needs saying goes.

    Returns:
        The settings of several controllers, None where there is one.
    """
    _head(part, notes)
    complete = bool(groups)
    for name, slurm, path in _roles(part, notes):
        group = next((one for one in groups if one.name == name), None)
        if group is None and complete and slurm["node_type"] != _CONTROLLER:
            notes.append(_left_out(name, path))
            continue
        if group is None:
            group = _unknown(name, path, notes)
            groups.append(group)
        group.settings["slurm_config"] = slurm
    for group in groups:
        if "slurm_config" not in group.settings:
            text = "is named nowhere in provisioning_parameters.json: say its slurm_config"
            notes.append(Note(kind=Kind.MISSING, path=group.part.path, text=text))
    mounts = list(_mounts(part, file_systems, notes))
    for group in groups:
        group.mounts = [dict(mount) for mount in mounts]
    heads = part.below("slurm_configurations")
    if not heads.value:
        return None
    multi_head = {key: heads.take(key) for key in _MULTI_HEAD}
    fill(multi_head, heads, {key: key for key in _MULTI_HEAD}, notes)
    return multi_head


def _head(part: Part, notes: list[Note]) -> None:
    version, manager = part.take("version"), part.take("workload_manager")
    if version != _VERSION:
        text = f"{_VERSION} is written, the only version there is, instead of {version or 'none'}"
        notes.append(Note(kind=Kind.CHANGED, path=f"{ROOT}.version", text=text))
    if manager != "slurm":
        text = f"slurm is written, instead of {manager or 'none'}"
        notes.append(Note(kind=Kind.CHANGED, path=f"{ROOT}.workload_manager", text=text))


def _roles(part: Part, notes: list[Note]) -> Sequence[tuple[str, dict[str, Any], str]]:
    """Group, its part in Slurm, and where that is said."""
    roles: list[tuple[str, dict[str, Any], str]] = []
    for key, node_type in (("controller_group", _CONTROLLER), ("login_group", "Login")):
        name = part.take(key)
        if name:
            roles.append((str(name), {"node_type": node_type}, f"{ROOT}.{key}"))
    for worker in part.items("worker_groups"):
        name, partition = worker.take("instance_group_name"), worker.take("partition_name")
        if name is None:
            continue
        slurm: dict[str, Any] = {"node_type": "Compute"}
        if partition:
            slurm["partition_names"] = [partition]
        else:
            text = "every compute group needs a partition"
            notes.append(Note(kind=Kind.MISSING, path=f"{worker.path}.partition_name", text=text))
        roles.append((str(name), slurm, worker.path))
    return roles


def _left_out(name: str, path: str) -> Note:
    """The samples of AWS name a login group that few clusters have; their scripts look for no such nodes."""
    return Note(kind=Kind.CHANGED, path=path, text=f"the request has no group {name}: it is left out")


def _unknown(name: str, path: str, notes: list[Note]) -> Group:
    text = f"no request has the group {name}: say its instance_type and instance_count"
    notes.append(Note(kind=Kind.MISSING, path=path, text=text))
    beside = "not in provisioning_parameters.json"
    settings = {
        "instance_group_name": name,
        "instance_type": placeholder(beside),
        "instance_count": placeholder(beside),
    }
    return Group(part=Part({}, path), settings=settings, mode=LifecycleMode.LEGACY)


def _mounts(part: Part, file_systems: FileSystems, notes: list[Note]) -> Sequence[Mapping[str, Any]]:
    mounts = []
    if part.has("fsx_dns_name"):
        dns_name, mount_name = part.take("fsx_dns_name"), part.take("fsx_mountname")
        if mount_name is None:
            text = "Lustre is mounted by its mount name, too: see `aws fsx describe-file-systems`"
            notes.append(Note(kind=Kind.MISSING, path=f"{ROOT}.fsx_mountname", text=text))
        mounts.append({"storage": file_systems.add("LUSTRE", dns_name, mount_name)})
    if part.has("fsx_openzfs_dns_name"):
        mounts.append({"storage": file_systems.add("OPENZFS", part.take("fsx_openzfs_dns_name"), None)})
        text = "a key of the sample scripts alone, which our provisioning_parameters.json has not"
        notes.append(Note(kind=Kind.CHANGED, path=f"{ROOT}.fsx_openzfs_dns_name", text=text))
    return mounts
