"""What runs on the nodes."""

from collections.abc import Sequence
from dataclasses import dataclass

from hyperpod_cdk.spec.kinds import LifecycleMode, RemovalPolicy


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


@dataclass(frozen=True, kw_only=True)
class Lifecycle:
    """The node scripts and what goes with them."""

    mode: LifecycleMode = LifecycleMode.EXTENSION
    """Default of every group."""
    users: Sequence[User] = ()
    extra_files: str | None = None
    """Folder whose files are deployed beside the scripts under ``extra/``: ``before.d`` and ``after.d`` run.
    Relative to the YAML file."""
    bucket_removal_policy: RemovalPolicy = RemovalPolicy.RETAIN
    """Default: the bucket outlives the stack."""
