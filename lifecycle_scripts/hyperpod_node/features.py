"""The `software` member of config.json as typed data: what is set up beside Slurm. See README.md."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from hyperpod_node.reading import Reader

SCHEMAS = ("rfc2307", "rfc2307bis", "AD")
POSITIONS = ("before", "after")


class Artifact(NamedTuple):
    """Something that the image may lack.

    Args:
        file: its name.
        url: where its makers have it.
        sha256: what it must be.
    """

    file: str
    url: str
    sha256: str


class Downloads(NamedTuple):
    """Where artifacts come from.

    Args:
        artifacts: by name and processor, such as `prometheus-amd64`.
        sources: `s3://` prefixes that are asked first, in their order.
        internet: whether their makers are asked when no source has them.
    """

    artifacts: Mapping[str, Artifact] = MappingProxyType({})
    sources: tuple[str, ...] = ()
    internet: bool = True


class Containers(NamedTuple):
    """Docker, Enroot and Pyxis; an empty directory means the best that the node has."""

    docker: bool
    enroot: bool
    data_directory: str
    required: bool


class Directory(NamedTuple):
    """An LDAP directory for SSSD; empty texts where nothing is said."""

    domain: str
    uris: tuple[str, ...]
    search_base: str
    schema: str
    bind_dn: str
    secret_arn: str
    secret_key: str
    ca_certificate: str
    override_homedir: str
    allow_groups: tuple[str, ...]
    sudo_groups: tuple[str, ...]
    node_types: tuple[str, ...]
    required: bool


class BucketMount(NamedTuple):
    """An S3 bucket as files; no node types mean all."""

    bucket: str
    mount_path: str
    prefix: str
    read_only: bool
    allow_delete: bool
    cache_gib: int
    node_types: tuple[str, ...]
    required: bool


class LogRotation(NamedTuple):
    """How long Slurm's logs are kept."""

    max_size_mib: int
    keep: int


class Monitoring(NamedTuple):
    """Metrics and where they are written."""

    remote_write_url: str
    region: str
    interval_seconds: int
    exporters: tuple[str, ...]
    labels: Mapping[str, str]


class OwnStep(NamedTuple):
    """A script of the user's; no node types and no groups mean all."""

    name: str
    script: str
    when: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    node_types: tuple[str, ...]
    instance_groups: tuple[str, ...]
    required: bool
    time_limit_seconds: int
    attempts: int


class Features(NamedTuple):
    """All of it."""

    downloads: Downloads = Downloads()
    containers: Containers | None = None
    directory: Directory | None = None
    bucket_mounts: tuple[BucketMount, ...] = ()
    log_rotation: LogRotation | None = None
    monitoring: Monitoring | None = None
    steps: tuple[OwnStep, ...] = ()

    def buckets_of(self, node_type: str) -> list[BucketMount]:
        """The buckets that nodes of a type mount."""
        return [one for one in self.bucket_mounts if not one.node_types or node_type in one.node_types]


def parse(document: Reader) -> Features:
    """The `software` member of config.json; null reads as nothing."""
    parts = {name: document.get(name) for name in ("containers", "directory", "log_rotation", "monitoring")}
    return Features(
        downloads=_downloads(document.get("downloads")),
        containers=_containers(parts["containers"]) if parts["containers"].value is not None else None,
        directory=_directory(parts["directory"]) if parts["directory"].value is not None else None,
        bucket_mounts=tuple(_bucket_mount(entry) for entry in document.get("bucket_mounts").items()),
        log_rotation=_log_rotation(parts["log_rotation"])
        if parts["log_rotation"].value is not None
        else None,
        monitoring=_monitoring(parts["monitoring"]) if parts["monitoring"].value is not None else None,
        steps=tuple(_step(entry) for entry in document.get("steps").items()),
    )


def _texts(entry: Reader) -> tuple[str, ...]:
    return tuple(one.text() for one in entry.items())


def _mapping(entry: Reader) -> dict[str, str]:
    return {name: value.text() for name, value in entry.members()}


def _downloads(entry: Reader) -> Downloads:
    return Downloads(
        artifacts={
            name: Artifact(
                file=one.get("file").text(), url=one.get("url").text(), sha256=one.get("sha256").text()
            )
            for name, one in entry.get("artifacts").members()
        },
        sources=_texts(entry.get("sources")),
        internet=entry.get("internet").flag(default=True),
    )


def _containers(entry: Reader) -> Containers:
    return Containers(
        docker=entry.get("docker").flag(default=True),
        enroot=entry.get("enroot").flag(default=True),
        data_directory=entry.get("data_directory").text(""),
        required=entry.get("required").flag(),
    )


def _directory(entry: Reader) -> Directory:
    return Directory(
        domain=entry.get("domain").text(),
        uris=_texts(entry.get("uris")),
        search_base=entry.get("search_base").text(),
        schema=entry.get("schema").one_of(SCHEMAS),
        bind_dn=entry.get("bind_dn").text(""),
        secret_arn=entry.get("secret_arn").text(""),
        secret_key=entry.get("secret_key").text("password"),
        ca_certificate=entry.get("ca_certificate").text(""),
        override_homedir=entry.get("override_homedir").text(""),
        allow_groups=_texts(entry.get("allow_groups")),
        sudo_groups=_texts(entry.get("sudo_groups")),
        node_types=_texts(entry.get("node_types")),
        required=entry.get("required").flag(),
    )


def _bucket_mount(entry: Reader) -> BucketMount:
    return BucketMount(
        bucket=entry.get("bucket").text(),
        mount_path=entry.get("mount_path").text(),
        prefix=entry.get("prefix").text(""),
        read_only=entry.get("read_only").flag(default=True),
        allow_delete=entry.get("allow_delete").flag(),
        cache_gib=entry.get("cache_gib").number(lowest=0, highest=1_000_000),
        node_types=_texts(entry.get("node_types")),
        required=entry.get("required").flag(),
    )


def _log_rotation(entry: Reader) -> LogRotation:
    return LogRotation(
        max_size_mib=entry.get("max_size_mib").number(lowest=1, highest=10240),
        keep=entry.get("keep").number(lowest=1, highest=365),
    )


def _monitoring(entry: Reader) -> Monitoring:
    return Monitoring(
        remote_write_url=entry.get("remote_write_url").text(),
        region=entry.get("region").text(),
        interval_seconds=entry.get("interval_seconds").number(lowest=10, highest=300),
        exporters=_texts(entry.get("exporters")),
        labels=_mapping(entry.get("labels")),
    )


def _step(entry: Reader) -> OwnStep:
    return OwnStep(
        name=entry.get("name").text(),
        script=entry.get("script").text(),
        when=entry.get("when").one_of(POSITIONS),
        arguments=_texts(entry.get("arguments")),
        environment=_mapping(entry.get("environment")),
        node_types=_texts(entry.get("node_types")),
        instance_groups=_texts(entry.get("instance_groups")),
        required=entry.get("required").flag(default=True),
        time_limit_seconds=entry.get("time_limit_seconds").number(lowest=1, highest=3600),
        attempts=entry.get("attempts").number(lowest=1, highest=10),
    )
