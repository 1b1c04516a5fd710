"""What runs on the nodes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.spec.accounting import Accounting
from hyperpod_cdk.spec.guard import BootstrapGuard
from hyperpod_cdk.spec.kinds import LifecycleMode, RemovalPolicy
from hyperpod_cdk.spec.monitoring import Monitoring
from hyperpod_cdk.spec.slurm import SlurmSettings
from hyperpod_cdk.spec.software import (
    BucketMount,
    Containers,
    Directory,
    Downloads,
    LogRotation,
    OwnStep,
)


@dataclass(frozen=True, kw_only=True)
class User:
    """A person's account, the same on every node: files belong to numbers, not to names."""

    name: str
    """Lower-case letters, digits, ``-`` and ``_``, at most 32."""
    uid: int
    """2000-60000, never used twice."""
    gid: int | None = None
    """Default: the uid."""
    groups: Sequence[str] = ()
    """Further groups, added where they exist."""
    ssh_public_keys: Sequence[str] = ()
    sudo: bool = False
    """May become root without a password."""
    account: str | None = None
    """Account in Slurm. Default: none beside those that ``accounting`` gives."""


@dataclass(frozen=True, kw_only=True)
class UserGroup:
    """A group of users, the same on every node."""

    name: str
    """Lower-case letters, digits, ``-`` and ``_``, at most 32."""
    gid: int
    """2000-60000, never used twice."""


@dataclass(frozen=True, kw_only=True)
class Lifecycle:
    """The node scripts and what goes with them."""

    mode: LifecycleMode = LifecycleMode.EXTENSION
    """Default of every group."""
    users: Sequence[User] = ()
    user_groups: Sequence[UserGroup] = ()
    """Groups that are made; who is in them is said by users' ``groups``."""
    removed_users: Sequence[str] = ()
    """Names of former users: locked on every node, without keys, sudo and Slurm account. Their files and ids
    stay theirs."""
    slurm: SlurmSettings = field(default_factory=SlurmSettings)
    bootstrap_guard: BootstrapGuard | None = None
    """Stops a group whose nodes keep failing to start; Continuous provisioning only. Default: none, and the
    service tries again without end, at your cost."""
    extra_files: str | None = None
    """Folder whose files are deployed beside the scripts under ``extra/``: ``before.d`` and ``after.d`` run.
    Relative to the YAML file."""
    bucket_removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    """Default: the bucket outlives the stack."""
    accounting: Accounting | None = None
    """Accounts, shares and limits of Slurm. Default: jobs are recorded, and nobody is limited."""
    containers: Containers | None = field(default_factory=Containers)
    directory: Directory | None = None
    """Default: the users listed here alone."""
    bucket_mounts: Sequence[BucketMount] = ()
    log_rotation: LogRotation | None = field(default_factory=LogRotation)
    monitoring: Monitoring | None = None
    """Default: none beside the service's own metrics."""
    downloads: Downloads = field(default_factory=Downloads)
    steps: Sequence[OwnStep] = ()
    """Scripts of your own, in their order."""
