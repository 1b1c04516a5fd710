"""config.json: what the node scripts are told about the cluster. Its format: lifecycle_scripts/README.md."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.cluster.request import mount_path
from hyperpod_cdk.spec import Cluster, InstanceGroup, Lifecycle, LifecycleMode, User

_FORMAT = 1


def node_config(cluster: Cluster, lifecycle: Lifecycle, modes: Mapping[str, LifecycleMode]) -> dict[str, Any]:
    """The content of config.json.

    Args:
        cluster: the spec; mounts resolved, tokens allowed.
        lifecycle: users and their accounts.
        modes: lifecycle mode by group name.
    """
    return {
        "format": _FORMAT,
        "mode_by_group": {name: str(mode) for name, mode in modes.items()},
        "groups": {group.instance_group_name: _group(group) for group in cluster.instance_groups},
        "users": [_user(user) for user in lifecycle.users],
    }


def _group(group: InstanceGroup) -> dict[str, Any]:
    return {
        "node_type": str(group.slurm_config.node_type) if group.slurm_config else None,
        "mounts": [
            {
                "file_system_type": mount.file_system_type,
                "dns_name": mount.dns_name,
                "mount_name": mount.mount_name,
                "mount_path": mount_path(mount),
            }
            for mount in group.mounts
        ],
    }


def _user(user: User) -> dict[str, Any]:
    return {
        "name": user.name,
        "uid": user.uid,
        "gid": user.uid if user.gid is None else user.gid,
        "groups": list(user.groups),
        "ssh_public_keys": list(user.ssh_public_keys),
        "sudo": user.sudo,
    }
