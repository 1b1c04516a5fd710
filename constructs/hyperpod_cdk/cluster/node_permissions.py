"""What nodes may do for the software that is set up on them: what is declared, on exactly those things."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from hyperpod_cdk.access import ExecutionRole
from hyperpod_cdk.spec import InstanceGroup, Lifecycle, NodeType


def allow_software(role: ExecutionRole, group: InstanceGroup, lifecycle: Lifecycle) -> None:
    """Let the nodes of a group reach what their software needs.

    Args:
        role: of the group.
        group: whose Slurm node type may keep software away from it.
        lifecycle: what is set up.
    """
    if lifecycle.monitoring:
        role.grant_remote_write(lifecycle.monitoring.workspace_arn)
    directory = lifecycle.directory
    if directory and directory.bind_password_secret_arn and _on(group, directory.node_types):
        role.grant_read_secret_arn(directory.bind_password_secret_arn)
    for mount in lifecycle.bucket_mounts:
        if _on(group, mount.node_types):
            role.grant_mount_bucket(
                mount.bucket,
                prefix=mount.prefix,
                write=not mount.read_only,
                delete=mount.allow_delete and not mount.read_only,
                key_arn=mount.kms_key_arn,
            )
    if lifecycle.downloads.source:
        place = urlsplit(lifecycle.downloads.source)
        role.grant_read_objects(place.netloc, f"{place.path.strip('/')}/")


def services(lifecycle: Lifecycle) -> list[str]:
    """AWS services that nodes call for their software, as endpoints are named; S3 has a gateway always."""
    secret = lifecycle.directory and lifecycle.directory.bind_password_secret_arn
    return [
        *(["secretsmanager"] if secret else []),
        *(["aps-workspaces"] if lifecycle.monitoring else []),
    ]


def _on(group: InstanceGroup, node_types: Sequence[NodeType]) -> bool:
    # a group without a type here has one on the node, which decides
    return not node_types or group.slurm_config is None or group.slurm_config.node_type in node_types
