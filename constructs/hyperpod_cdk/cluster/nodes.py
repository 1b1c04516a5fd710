"""config.json: what the node scripts are told about the cluster. Its format: lifecycle_scripts/README.md."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.cluster.node_accounting import accounting_config, accounting_settings
from hyperpod_cdk.cluster.node_software import software_config
from hyperpod_cdk.cluster.request import api_mounts, mount_path
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import slurm_scale
from hyperpod_cdk.spec import (
    Cluster,
    InstanceGroup,
    Lifecycle,
    LifecycleMode,
    Mount,
    NodeType,
    User,
    UserGroup,
)

_FORMAT = 1


def node_config(
    cluster: Cluster,
    lifecycle: Lifecycle,
    modes: Mapping[str, LifecycleMode],
    *,
    bucket_name: str | None = None,
) -> dict[str, Any]:
    """The content of config.json.

    Args:
        cluster: the spec; mounts resolved, tokens allowed.
        lifecycle: users and their accounts.
        modes: lifecycle mode by group name.
        bucket_name: the lifecycle bucket, where nodes look for what their image lacks. Default: none.
    """
    return {
        "format": _FORMAT,
        "mode_by_group": {name: str(mode) for name, mode in modes.items()},
        "groups": {group.instance_group_name: _group(group) for group in cluster.instance_groups},
        "users": [_user(user) for user in lifecycle.users],
        "user_groups": [_user_group(group) for group in lifecycle.user_groups],
        "removed_users": list(lifecycle.removed_users),
        "slurm": _slurm(lifecycle, cluster),
        "accounting": accounting_config(lifecycle, cluster.orchestrator.slurm.accounting_database),
        "software": software_config(lifecycle, bucket_name=bucket_name),
    }


def _group(group: InstanceGroup) -> dict[str, Any]:
    return {
        "node_type": str(group.slurm_config.node_type) if group.slurm_config else None,
        "mounts": [_mount(mount, by_service=mount in api_mounts(group)) for mount in group.mounts],
    }


def _mount(mount: Mount, *, by_service: bool) -> dict[str, Any]:
    return {
        "file_system_type": mount.file_system_type,
        "dns_name": mount.dns_name,
        "mount_name": mount.mount_name,
        "mount_path": mount_path(mount),
        "efa": mount.efa,
        # in extension mode; in the others the scripts mount all
        "by_service": by_service,
    }


def _slurm(lifecycle: Lifecycle, cluster: Cluster) -> dict[str, Any]:
    settings = lifecycle.slurm
    counts = [
        group.instance_count
        for group in cluster.instance_groups
        if group.slurm_config and group.slurm_config.node_type is NodeType.COMPUTE
    ]
    known = [count for count in counts if not unresolved(count)]
    return {
        "conf": {**accounting_settings(lifecycle.accounting), **settings.conf},
        "scale": dict(slurm_scale.for_nodes(sum(known))) if settings.size_profile else {},
        "epilog": settings.epilog,
        "pam_slurm_adopt": settings.pam_slurm_adopt,
    }


def _user_group(group: UserGroup) -> dict[str, Any]:
    return {"name": group.name, "gid": group.gid}


def _user(user: User) -> dict[str, Any]:
    return {
        "name": user.name,
        "uid": user.uid,
        "gid": user.uid if user.gid is None else user.gid,
        "groups": list(user.groups),
        "ssh_public_keys": list(user.ssh_public_keys),
        "sudo": user.sudo,
        "account": user.account,
    }
