"""Slurm accounting: who may use how much, declared as one tree and brought to the database by the nodes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.spec.kinds import (
    AccountingEnforce,
    AdminLevel,
    PreemptMode,
    QosFlag,
    UnlistedAccounts,
    UsageReset,
)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What an account, or a user of it, may use. A limit that is not given is not set: none of its own.

    TRES are named as Slurm names them (``cpu``, ``mem`` in MiB, ``node``, ``gres/gpu``, ``billing``).
    """

    grp_tres: Mapping[str, int] = field(default_factory=dict)
    """In use at one moment, by all jobs together (Slurm: GrpTRES)."""
    grp_tres_minutes: Mapping[str, int] = field(default_factory=dict)
    """Ever used, decaying as usage does (GrpTRESMins)."""
    grp_tres_running_minutes: Mapping[str, int] = field(default_factory=dict)
    """Still to be used by running jobs (GrpTRESRunMins)."""
    grp_jobs: int | None = None
    """Running jobs."""
    grp_submit_jobs: int | None = None
    """Pending and running jobs."""
    grp_wall_minutes: int | None = None
    max_tres_per_job: Mapping[str, int] = field(default_factory=dict)
    max_tres_per_node: Mapping[str, int] = field(default_factory=dict)
    max_tres_minutes_per_job: Mapping[str, int] = field(default_factory=dict)
    max_jobs: int | None = None
    """Running jobs of each user."""
    max_submit_jobs: int | None = None
    """Pending and running jobs of each user."""
    max_wall_minutes: int | None = None
    """Longest a job may run."""


@dataclass(frozen=True, kw_only=True)
class Account:
    """An account of the tree; its users may charge jobs to it."""

    name: str
    """Lower-case letters, digits, ``-``, ``_`` and ``.``, at most 40; not ``root``."""
    parent: str = "root"
    description: str | None = None
    """Default: the name."""
    organization: str | None = None
    """Default: the parent's name."""
    users: Sequence[str] = ()
    """Names of users. The first account that lists a user is that user's default."""
    fairshare: int = 1
    """Share among the accounts of one parent, 0-2147483646."""
    qos: Sequence[str] = ()
    """What jobs may ask for. Default: the parent's."""
    default_qos: str | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, kw_only=True)
class Association:
    """What is different for one user of an account."""

    user: str
    account: str
    partition: str | None = None
    """Only for jobs of this partition. Default: for all."""
    fairshare: int | None = None
    """Share among the account's users. Default: 1."""
    qos: Sequence[str] = ()
    """Default: the account's."""
    default_qos: str | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, kw_only=True)
class AccountingUser:
    """What is different for one user in all accounts."""

    name: str
    default_account: str | None = None
    """Default: the first account that lists the user."""
    admin_level: AdminLevel = AdminLevel.NONE


@dataclass(frozen=True, kw_only=True)
class QosLimits:
    """What jobs of a quality of service may use. A limit that is not given is not set."""

    grp_tres: Mapping[str, int] = field(default_factory=dict)
    grp_tres_minutes: Mapping[str, int] = field(default_factory=dict)
    grp_tres_running_minutes: Mapping[str, int] = field(default_factory=dict)
    grp_jobs: int | None = None
    grp_submit_jobs: int | None = None
    grp_wall_minutes: int | None = None
    max_tres_per_job: Mapping[str, int] = field(default_factory=dict)
    max_tres_per_node: Mapping[str, int] = field(default_factory=dict)
    max_tres_per_user: Mapping[str, int] = field(default_factory=dict)
    max_tres_per_account: Mapping[str, int] = field(default_factory=dict)
    max_tres_minutes_per_job: Mapping[str, int] = field(default_factory=dict)
    min_tres_per_job: Mapping[str, int] = field(default_factory=dict)
    max_jobs_per_user: int | None = None
    max_jobs_per_account: int | None = None
    max_submit_jobs_per_user: int | None = None
    max_submit_jobs_per_account: int | None = None
    max_wall_minutes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Qos:
    """A quality of service: priority, limits and what it may preempt."""

    name: str
    """Lower-case letters, digits, ``-`` and ``_``, at most 40."""
    description: str | None = None
    """Default: the name."""
    priority: int = 0
    """0-4294967294."""
    preempt: Sequence[str] = ()
    """Qualities of service whose jobs give way."""
    preempt_mode: PreemptMode | None = None
    """What happens to this one's jobs when they give way. Default: the cluster's."""
    grace_time_seconds: int = 0
    """Time that jobs have when they give way."""
    flags: Sequence[QosFlag] = ()
    usage_factor: float = 1.0
    """What a job's use is multiplied by, from 0."""
    limits: QosLimits = field(default_factory=QosLimits)


@dataclass(frozen=True, kw_only=True)
class Priority:
    """What a pending job's priority is made of. Weights are 0-4294967295; 0 leaves a factor out."""

    weight_fairshare: int = 10000
    weight_age: int = 1000
    weight_qos: int = 10000
    weight_partition: int = 1000
    weight_job_size: int = 1000
    weight_association: int = 0
    weight_tres: Mapping[str, int] = field(default_factory=dict)
    decay_half_life_days: int = 14
    """How fast past use is forgotten; 0: never."""
    usage_reset: UsageReset = UsageReset.NONE
    """When past use is wiped; needed when it does not decay."""
    max_age_days: int = 7
    """Waiting time at which the age factor is full."""
    favor_small_jobs: bool = False


@dataclass(frozen=True, kw_only=True)
class Purge:
    """How many months of detail the accounting database keeps; None: all of it."""

    events: int | None = 1
    steps: int | None = 1
    suspends: int | None = 1
    reservations: int | None = 1
    jobs: int | None = 12
    transactions: int | None = 12
    usage: int | None = 24


@dataclass(frozen=True, kw_only=True)
class Accounting:
    """Accounts, qualities of service, shares and limits, brought to the database by the controller.

    What is declared here is put right at each set-up of the controller, and by ``hyperpod-accounting`` there.
    What is not declared is never deleted: the history of jobs hangs on it.
    """

    accounts: Sequence[Account] = ()
    associations: Sequence[Association] = ()
    users: Sequence[AccountingUser] = ()
    qos: Sequence[Qos] = ()
    priority: Priority | None = None
    """Default: jobs start in the order in which they came."""
    purge: Purge | None = None
    """Default: nothing is purged."""
    enforce: Sequence[AccountingEnforce] = ()
    """What a job must satisfy to be taken. Default: associations, limits and QOS where any account or QOS is
    declared, else nothing."""
    preempt_mode: PreemptMode = PreemptMode.REQUEUE
    """What happens to jobs that give way, where any QOS preempts."""
    unlisted: UnlistedAccounts = UnlistedAccounts.KEEP
    """Of accounts and users that are in the database but not declared."""
