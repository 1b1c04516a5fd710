"""Why a step has nothing to do on a node, from the configuration alone.

In a module of their own, so that nothing else of such a step is read: reading all of them took a third of the
processor time of a second run (measured).
"""

from __future__ import annotations

from pathlib import Path

from hyperpod_node.context import Context

# Objects in a bucket have no execute bit, so each kind is handed to its interpreter.
INTERPRETERS = {".sh": "bash", ".py": "python3"}


def own_scripts(context: Context, folder: str) -> list[Path]:
    """The user's own scripts in a folder of `extra`, in the order in which they run."""
    directory = context.directory / "extra" / folder
    return sorted(path for path in directory.glob("*") if path.suffix in INTERPRETERS)


def nothing_before(context: Context) -> str:
    """Whether extra/before.d is empty."""
    return "" if own_scripts(context, "before.d") else "nothing in extra/before.d"


def nothing_after(context: Context) -> str:
    """Whether extra/after.d is empty."""
    return "" if own_scripts(context, "after.d") else "nothing in extra/after.d"


def no_efa_asked_for(context: Context) -> str:
    """Whether no file system of the group has EFA."""
    return "" if any(mount.efa for mount in context.node.mounts) else "no file system with EFA"


def none_by_service(context: Context) -> str:
    """Whether the service mounts nothing."""
    return "" if context.node.mounts_by_service else "no file systems by the service"


def none_by_scripts(context: Context) -> str:
    """Whether there is nothing to mount."""
    return "" if context.node.mounts_by_scripts else "no file systems to mount"


def no_users(context: Context) -> str:
    """Whether neither users nor groups are listed."""
    return "" if context.config.users or context.config.user_groups else "no users listed"


def nobody_removed(context: Context) -> str:
    """Whether the deployment names no former users."""
    return "" if context.config.removed_users else "no former users listed"


def no_docker(context: Context) -> str:
    """Whether the deployment leaves Docker alone."""
    wanted = context.config.features.containers
    return "" if wanted and wanted.docker else "lifecycle.containers.docker is off"


def no_enroot(context: Context) -> str:
    """Whether the deployment leaves Enroot and Pyxis alone."""
    wanted = context.config.features.containers
    return "" if wanted and wanted.enroot else "lifecycle.containers.enroot is off"


def no_directory(context: Context) -> str:
    """Whether the deployment names no directory for this node."""
    wanted = context.config.features.directory
    if wanted is None:
        return "no lifecycle.directory"
    if wanted.node_types and context.node.node_type not in wanted.node_types:
        return f"not on a {context.node.node_type.lower()} node"
    return ""


def no_buckets(context: Context) -> str:
    """Whether this node mounts none."""
    wanted = context.config.features.buckets_of(context.node.node_type)
    return "" if wanted else "no bucket to mount on this node"


def no_rotation(context: Context) -> str:
    """Whether the deployment leaves the logs alone."""
    return "" if context.config.features.log_rotation else "lifecycle.log_rotation is off"


def no_monitoring(context: Context) -> str:
    """Whether the deployment asks for no metrics."""
    return "" if context.config.features.monitoring else "no lifecycle.monitoring"


def single_head(context: Context) -> str:
    """Whether there is one controller only."""
    return "" if context.node.multi_head else "one controller"


def no_epilog(context: Context) -> str:
    """Whether the deployment wants none."""
    return "" if context.config.slurm.epilog else "lifecycle.slurm.epilog is off"


def no_adoption(context: Context) -> str:
    """Whether the deployment leaves logins alone."""
    return "" if context.config.slurm.pam_slurm_adopt else "lifecycle.slurm.pam_slurm_adopt is off"


def nothing_declared(context: Context) -> str:
    """Whether there is nothing to bring to the accounting database."""
    return "" if context.config.accounting.anything else "no accounts and no QOS declared"


def nothing_to_purge(context: Context) -> str:
    """Whether nothing is said of purging."""
    return "" if context.config.accounting.purge else "no purge declared"
