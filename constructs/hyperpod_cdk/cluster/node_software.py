"""What is set up beside Slurm, as node scripts are told of it. Its format: lifecycle_scripts/README.md."""

from typing import Any

from aws_cdk import Aws, Fn, Token

from hyperpod_cdk.lifecycle.bundle import PREFIX
from hyperpod_cdk.rules import needed_downloads
from hyperpod_cdk.spec import (
    BucketMount,
    Containers,
    Directory,
    Downloads,
    Lifecycle,
    LogRotation,
    Monitoring,
    OwnStep,
)

_EXPORTERS = ("node", "gpu", "efa", "slurm")


def software_config(lifecycle: Lifecycle, *, bucket_name: str | None) -> dict[str, Any]:
    """The ``software`` member of config.json.

    Args:
        lifecycle: what is asked for.
        bucket_name: the lifecycle bucket; None when there is none.
    """
    return {
        "downloads": _downloads(lifecycle, bucket_name),
        "containers": lifecycle.containers and _containers(lifecycle.containers),
        "directory": lifecycle.directory and _directory(lifecycle.directory),
        "bucket_mounts": [_bucket_mount(mount) for mount in lifecycle.bucket_mounts],
        "log_rotation": lifecycle.log_rotation and _log_rotation(lifecycle.log_rotation),
        "monitoring": lifecycle.monitoring and _monitoring(lifecycle.monitoring),
        "steps": [_step(step) for step in lifecycle.steps],
    }


def sources(downloads: Downloads, bucket_name: str | None) -> list[str]:
    """The ``s3://`` prefixes that nodes ask first, in their order."""
    return [
        *([downloads.source] if downloads.source else []),
        *([f"s3://{bucket_name}/{PREFIX}"] if bucket_name else []),
    ]


def _downloads(lifecycle: Lifecycle, bucket_name: str | None) -> dict[str, Any]:
    return {
        "artifacts": {
            name: {"file": one.file, "url": one.url, "sha256": one.sha256}
            for name, one in needed_downloads.artifacts(lifecycle).items()
        },
        "sources": sources(lifecycle.downloads, bucket_name),
        "internet": lifecycle.downloads.internet,
    }


def _containers(containers: Containers) -> dict[str, Any]:
    return {
        "docker": containers.docker,
        "enroot": containers.enroot,
        "data_directory": containers.data_directory,
        "required": containers.required,
    }


def _directory(directory: Directory) -> dict[str, Any]:
    return {
        "domain": directory.domain,
        "uris": list(directory.uris),
        "search_base": directory.search_base,
        "schema": str(directory.schema),
        "bind_dn": directory.bind_dn,
        # the password itself is in no file of the bucket: nodes read it
        "secret_arn": directory.bind_password_secret_arn,
        "secret_key": directory.bind_password_key,
        "ca_certificate": directory.ca_certificate,
        "override_homedir": directory.override_homedir,
        "allow_groups": list(directory.allow_groups),
        "sudo_groups": list(directory.sudo_groups),
        "node_types": [str(one) for one in directory.node_types],
        "required": directory.required,
    }


def _bucket_mount(mount: BucketMount) -> dict[str, Any]:
    return {
        "bucket": mount.bucket,
        "mount_path": mount.mount_path,
        "prefix": mount.prefix or None,
        "read_only": mount.read_only,
        "allow_delete": mount.allow_delete,
        "cache_gib": mount.cache_gib,
        "node_types": [str(one) for one in mount.node_types],
        "required": mount.required,
    }


def _log_rotation(rotation: LogRotation) -> dict[str, Any]:
    return {"max_size_mib": rotation.max_size_mib, "keep": rotation.keep}


def _monitoring(monitoring: Monitoring) -> dict[str, Any]:
    arn = monitoring.workspace_arn
    region = Fn.select(3, Fn.split(":", arn)) if Token.is_unresolved(arn) else arn.split(":")[3]
    workspace = Fn.select(1, Fn.split("/", arn)) if Token.is_unresolved(arn) else arn.split("/")[1]
    return {
        "remote_write_url": (
            f"https://aps-workspaces.{region}.{Aws.URL_SUFFIX}/workspaces/{workspace}/api/v1/remote_write"
        ),
        "region": region,
        "interval_seconds": monitoring.interval_seconds,
        "exporters": [name for name in _EXPORTERS if getattr(monitoring, name)],
        "labels": dict(monitoring.labels),
    }


def _step(step: OwnStep) -> dict[str, Any]:
    return {
        "name": step.name,
        "script": step.script,
        "when": str(step.when),
        "arguments": list(step.arguments),
        "environment": dict(step.environment),
        "node_types": [str(one) for one in step.node_types],
        "instance_groups": list(step.instance_groups),
        "required": step.required,
        "time_limit_seconds": step.time_limit_seconds,
        "attempts": step.attempts,
    }
