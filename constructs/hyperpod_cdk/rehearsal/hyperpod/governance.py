"""Task governance as the emulated service knows it: compute quotas and cluster policies.

They share their states, versions and ways to fail (API: SchedulerResourceStatus); what differs is data.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from hyperpod_cdk.rehearsal.hyperpod.state import Spec


class GovernedStatus(StrEnum):
    """SchedulerResourceStatus of the API."""

    CREATING = "Creating"
    CREATE_FAILED = "CreateFailed"
    CREATE_ROLLBACK_FAILED = "CreateRollbackFailed"
    CREATED = "Created"
    UPDATING = "Updating"
    UPDATE_FAILED = "UpdateFailed"
    UPDATE_ROLLBACK_FAILED = "UpdateRollbackFailed"
    UPDATED = "Updated"
    DELETING = "Deleting"
    DELETE_FAILED = "DeleteFailed"
    DELETE_ROLLBACK_FAILED = "DeleteRollbackFailed"
    DELETED = "Deleted"


BUSY = frozenset({GovernedStatus.CREATING, GovernedStatus.UPDATING, GovernedStatus.DELETING})
"""Something is at work."""

UPDATABLE = frozenset(
    {
        GovernedStatus.CREATED,
        GovernedStatus.UPDATED,
        GovernedStatus.UPDATE_FAILED,
        GovernedStatus.UPDATE_ROLLBACK_FAILED,
    }
)
"""Takes an update. No page says of which states this is true; what was never made takes none here."""


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What tells a compute quota from a cluster policy.

    Args:
        word: in the names of operations and members.
        resource: in ARNs.
        noun: for people.
        members: of a request that say what it is, beside its name and cluster.
    """

    word: str
    resource: str
    noun: str
    members: tuple[str, ...]

    @property
    def id_member(self) -> str:
        """Member that holds the id."""
        return f"{self.word}Id"

    @property
    def arn_member(self) -> str:
        """Member that holds the ARN."""
        return f"{self.word}Arn"

    @property
    def version_member(self) -> str:
        """Member that holds the version."""
        return f"{self.word}Version"


QUOTA = Kind(
    word="ComputeQuota",
    resource="compute-quota",
    noun="compute quota",
    members=("Description", "ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState"),
)
POLICY = Kind(
    word="ClusterSchedulerConfig",
    resource="cluster-scheduler-config",
    noun="cluster policy",
    members=("Description", "SchedulerConfig"),
)
KINDS: Mapping[str, Kind] = {kind.resource: kind for kind in (QUOTA, POLICY)}
"""By the word in their ARNs."""


@dataclass(kw_only=True, eq=False)
class Governed:
    """A compute quota or a cluster policy.

    Args:
        content: what it is, as it holds now.
        history: the content of each version.
        failure_reason: of the last operation; empty when it did not fail.
    """

    kind: Kind
    id: str
    arn: str
    name: str
    cluster_arn: str
    created_at: datetime
    modified_at: datetime
    content: Spec
    tags: list[Spec]
    version: int = 1
    status: GovernedStatus = GovernedStatus.CREATING
    failure_reason: str = ""
    history: dict[int, Spec] = field(default_factory=dict)

    @property
    def team(self) -> str:
        """The team of a quota."""
        return str(self.content.get("ComputeQuotaTarget", {}).get("TeamName", ""))

    @property
    def is_there(self) -> bool:
        """Whether its name and team are taken."""
        return self.status is not GovernedStatus.DELETED
