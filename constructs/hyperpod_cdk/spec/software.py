"""What is set up on the nodes beside Slurm."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.spec.kinds import LdapSchema, NodeType, StepPosition


@dataclass(frozen=True, kw_only=True)
class Containers:
    """Docker, Enroot and Pyxis in CUSTOM and LEGACY lifecycle mode; else the service sets them up.

    What the image has set up already is left alone, but for data that would fill the root volume.
    """

    docker: bool = True
    enroot: bool = True
    """And Pyxis, Slurm's plugin for it."""
    data_directory: str | None = None
    """Default: on the instance's NVMe disks, else on the secondary volume, else on the root volume."""
    required: bool = False
    """A node without them fails. Default: a warning."""


@dataclass(frozen=True, kw_only=True)
class Directory:
    """People from an LDAP directory or Active Directory, by SSSD."""

    domain: str
    """Such as ``example.com``."""
    uris: Sequence[str]
    """``ldaps://…`` in the order in which they are tried; ``ldap://`` is used with StartTLS."""
    search_base: str
    """Such as ``dc=example,dc=com``."""
    schema: LdapSchema = LdapSchema.RFC2307
    bind_dn: str | None = None
    """Default: an anonymous bind."""
    bind_password_secret_arn: str | None = None
    """Secrets Manager secret with the password, read by the nodes; needed with ``bind_dn``."""
    bind_password_key: str = "password"
    """Its place in the secret's JSON."""
    ca_certificate: str | None = None
    """File under ``lifecycle.extra_files`` with the authority of the directory's certificate. Default: the
    system's authorities."""
    override_homedir: str | None = None
    """Such as ``/fsx/home/%u``. Default: the directory's."""
    allow_groups: Sequence[str] = ()
    """Who may log in. Default: everybody in the directory."""
    sudo_groups: Sequence[str] = ()
    """Who may become root."""
    node_types: Sequence[NodeType] = ()
    """Default: all nodes."""
    required: bool = False
    """A node that can not reach the directory fails. Default: a warning, and Slurm starts."""


@dataclass(frozen=True, kw_only=True)
class BucketMount:
    """An S3 bucket mounted as files, by Mountpoint for Amazon S3."""

    bucket: str
    mount_path: str
    prefix: str = ""
    """Only keys that begin so; ends in ``/``."""
    read_only: bool = True
    allow_delete: bool = False
    """And overwriting."""
    cache_gib: int = 0
    """Cache on the nodes' largest local disk, in GiB; 0: none."""
    kms_key_arn: str | None = None
    """The bucket's customer-managed key, which the nodes then may use."""
    node_types: Sequence[NodeType] = ()
    """Default: all nodes."""
    required: bool = False
    """A node without the mount fails. Default: a warning."""


@dataclass(frozen=True, kw_only=True)
class LogRotation:
    """How long Slurm's logs are kept on the nodes."""

    max_size_mib: int = 100
    """A log that is larger is rotated, 1-10240."""
    keep: int = 7
    """Rotated logs, 1-365."""


@dataclass(frozen=True, kw_only=True)
class Download:
    """Another place, and another version, of something that nodes download."""

    url: str
    """``https://…``."""
    sha256: str
    """64 hexadecimal digits."""


@dataclass(frozen=True, kw_only=True)
class Downloads:
    """Where nodes get what the image lacks. ``hyperpod-cdk bundle`` fills a folder or a bucket with it."""

    folder: str | None = None
    """Folder made by ``hyperpod-cdk bundle``, deployed with the stack. Relative to the YAML file."""
    source: str | None = None
    """``s3://bucket/prefix`` filled by ``hyperpod-cdk bundle``. Default: ``bundle/`` of the lifecycle
    bucket."""
    internet: bool = True
    """Ask the makers' own servers when the source has not got something."""
    overrides: Mapping[str, Download] = field(default_factory=dict)
    """By name and processor, such as ``prometheus-amd64``."""


@dataclass(frozen=True, kw_only=True)
class OwnStep:
    """A script of your own that runs on the nodes."""

    name: str
    """Lower-case letters, digits and hyphens; names the step in logs."""
    script: str
    """``.sh`` or ``.py`` file under ``lifecycle.extra_files``."""
    when: StepPosition = StepPosition.AFTER
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    node_types: Sequence[NodeType] = ()
    """Default: all nodes."""
    instance_groups: Sequence[str] = ()
    """Default: all groups."""
    required: bool = True
    """A node on which it fails fails. Else: a warning."""
    time_limit_seconds: int = 900
    """For each attempt, 1-3600."""
    attempts: int = 1
    """1-10."""
