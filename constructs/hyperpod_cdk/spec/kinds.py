"""Closed sets of values, spelled as the API spells them."""

from enum import StrEnum


class NodeType(StrEnum):
    """Role of an instance group's nodes in Slurm (API: ClusterSlurmNodeType)."""

    CONTROLLER = "Controller"
    LOGIN = "Login"
    COMPUTE = "Compute"


class NodeProvisioningMode(StrEnum):
    """How the service brings nodes up.

    ``CONTINUOUS``: towards the desired counts, with retries, group by group.
    ``ALL_AT_ONCE``: one failed node rolls the whole create or update back; the request then carries no
    NodeProvisioningMode, since the API knows only ``Continuous``.
    """

    CONTINUOUS = "Continuous"
    ALL_AT_ONCE = "AllAtOnce"


class NodeRecovery(StrEnum):
    """What the service does with a node that its health monitoring finds faulty."""

    AUTOMATIC = "Automatic"
    NONE = "None"


class SlurmConfigStrategy(StrEnum):
    """Who owns the partitions in slurm.conf: the API, the API by force, or both."""

    MANAGED = "Managed"
    OVERWRITE = "Overwrite"
    MERGE = "Merge"


class DeepHealthCheck(StrEnum):
    """Checks that a node passes before its first job."""

    INSTANCE_STRESS = "InstanceStress"
    INSTANCE_CONNECTIVITY = "InstanceConnectivity"
    MULTI_NODE_TRAINING_VALIDATION = "MultiNodeTrainingValidation"


class CapacityType(StrEnum):
    """How nodes are bought: at the current price and taken back at will, or by the hour."""

    SPOT = "Spot"
    ON_DEMAND = "OnDemand"


class NetworkInterfaceType(StrEnum):
    """What a node's further network interfaces carry: EFA and IP, or EFA alone."""

    EFA = "efa"
    EFA_ONLY = "efa-only"


class BatchSizeType(StrEnum):
    """What a batch of nodes is counted in."""

    INSTANCE_COUNT = "INSTANCE_COUNT"
    CAPACITY_PERCENTAGE = "CAPACITY_PERCENTAGE"


class LifecycleMode(StrEnum):
    """Who sets a node up.

    ``AMI``: the image alone, no script. ``EXTENSION``: the image, then our scripts (OnInitComplete).
    ``CUSTOM``: our scripts do everything, Slurm start included (OnCreate). ``LEGACY``: as custom, with Slurm
    described by provisioning_parameters.json instead of the API.
    """

    AMI = "ami"
    EXTENSION = "extension"
    CUSTOM = "custom"
    LEGACY = "legacy"


class NatGateways(StrEnum):
    """Way out of the private subnets: one gateway, one a zone, or no internet at all."""

    ONE = "one"
    PER_ZONE = "per-zone"
    NONE = "none"


class RemovalPolicy(StrEnum):
    """What happens to stored data when its resource leaves the stack."""

    RETAIN = "retain"
    DESTROY = "destroy"


class LustreDeploymentType(StrEnum):
    """FSx for Lustre deployment types."""

    SCRATCH_1 = "SCRATCH_1"
    SCRATCH_2 = "SCRATCH_2"
    PERSISTENT_1 = "PERSISTENT_1"
    PERSISTENT_2 = "PERSISTENT_2"


class LustreStorageType(StrEnum):
    """Storage class of an FSx for Lustre file system."""

    SSD = "SSD"
    HDD = "HDD"
    INTELLIGENT_TIERING = "INTELLIGENT_TIERING"


class LustreCompression(StrEnum):
    """Data compression of an FSx for Lustre file system."""

    LZ4 = "LZ4"
    NONE = "NONE"


class LustreMetadataMode(StrEnum):
    """How metadata IOPS are set."""

    AUTOMATIC = "AUTOMATIC"
    USER_PROVISIONED = "USER_PROVISIONED"


class LustreReadCacheSizingMode(StrEnum):
    """How the SSD read cache of an Intelligent-Tiering file system is sized."""

    NO_CACHE = "NO_CACHE"
    USER_PROVISIONED = "USER_PROVISIONED"
    PROPORTIONAL = "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"


class LustreDriveCache(StrEnum):
    """SSD read cache in front of HDD storage."""

    NONE = "NONE"
    READ = "READ"


class DataRepositoryEvent(StrEnum):
    """Changes that a data repository association carries over by itself."""

    NEW = "NEW"
    CHANGED = "CHANGED"
    DELETED = "DELETED"


class OpenZfsDeploymentType(StrEnum):
    """FSx for OpenZFS deployment types."""

    SINGLE_AZ_1 = "SINGLE_AZ_1"
    SINGLE_AZ_2 = "SINGLE_AZ_2"
    SINGLE_AZ_HA_1 = "SINGLE_AZ_HA_1"
    SINGLE_AZ_HA_2 = "SINGLE_AZ_HA_2"
    MULTI_AZ_1 = "MULTI_AZ_1"


class OpenZfsCompression(StrEnum):
    """Data compression of an FSx for OpenZFS volume."""

    LZ4 = "LZ4"
    ZSTD = "ZSTD"
    NONE = "NONE"


class Provisioning(StrEnum):
    """What creates, updates and deletes the cluster.

    ``CUSTOM_RESOURCE``: ours, which waits, owns, explains and refuses before it harms. ``CLOUDFORMATION``:
    the native AWS::SageMaker::Cluster, from the same request.
    """

    CUSTOM_RESOURCE = "custom-resource"
    CLOUDFORMATION = "cloudformation"


class Wait(StrEnum):
    """When a deployment counts as done.

    ``ACCEPTED``: the service has taken the request. ``IN_SERVICE``: the cluster is in service, within 55
    minutes. ``MINIMUM_COUNTS``: every group has its minimum of nodes, within 12 hours.
    """

    ACCEPTED = "accepted"
    IN_SERVICE = "in-service"
    MINIMUM_COUNTS = "minimum-counts"


class AccountingEnforce(StrEnum):
    """What a job must satisfy to be taken (slurm.conf: AccountingStorageEnforce)."""

    ASSOCIATIONS = "associations"
    LIMITS = "limits"
    QOS = "qos"
    SAFE = "safe"


class AdminLevel(StrEnum):
    """What a user may change in the accounting database."""

    NONE = "None"
    OPERATOR = "Operator"
    ADMINISTRATOR = "Administrator"


class PreemptMode(StrEnum):
    """What happens to a job that gives way to another."""

    CANCEL = "cancel"
    REQUEUE = "requeue"


class QosFlag(StrEnum):
    """Flags of a quality of service (sacctmgr(1))."""

    DENY_ON_LIMIT = "DenyOnLimit"
    ENFORCE_USAGE_THRESHOLD = "EnforceUsageThreshold"
    NO_DECAY = "NoDecay"
    NO_RESERVE = "NoReserve"
    OVER_PART_QOS = "OverPartQOS"
    PARTITION_MAX_NODES = "PartitionMaxNodes"
    PARTITION_MIN_NODES = "PartitionMinNodes"
    PARTITION_TIME_LIMIT = "PartitionTimeLimit"
    REQUIRES_RESERVATION = "RequiresReservation"


class UsageReset(StrEnum):
    """When past use is wiped (slurm.conf: PriorityUsageResetPeriod)."""

    NONE = "NONE"
    DAILY = "DAILY"
    WEEKLY = "WEEKLY"
    MONTHLY = "MONTHLY"
    QUARTERLY = "QUARTERLY"
    YEARLY = "YEARLY"


class UnlistedAccounts(StrEnum):
    """What happens to what is in the accounting database but not declared.

    ``KEEP``: it is told, and left as it is. ``CLOSE``: it takes no new job; its history stays.
    """

    KEEP = "keep"
    CLOSE = "close"


class LdapSchema(StrEnum):
    """How a directory describes people (sssd-ldap(5): ldap_schema)."""

    RFC2307 = "rfc2307"
    RFC2307BIS = "rfc2307bis"
    AD = "AD"


class StepPosition(StrEnum):
    """Where a step of your own stands: before everything that is set up here, or after it."""

    BEFORE = "before"
    AFTER = "after"


class TaintEffect(StrEnum):
    """What a taint does to pods that do not tolerate it (API: ClusterKubernetesTaintEffect)."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class PatchingStrategy(StrEnum):
    """When nodes are patched: each as it gets idle, all once all are, or after moving their pods away."""

    WHEN_IDLE = "WhenIdle"
    WHEN_ALL_IDLE = "WhenAllIdle"
    DRAIN_FIRST = "DrainFirst"


class OnDrainTimeout(StrEnum):
    """What becomes of a node whose pods do not leave in time."""

    FORCE = "Force"
    SKIP = "Skip"


class AutoScalerType(StrEnum):
    """What decides on the number of nodes."""

    KARPENTER = "Karpenter"


class FsxLustreDeletionPolicy(StrEnum):
    """What becomes of the shared file system of restricted groups when the last of them goes."""

    KEEP = "Keep"
    DELETE_IF_NOT_USED = "DeleteIfNotUsed"


class ResourceSharingStrategy(StrEnum):
    """Whether a team lends its idle compute, and borrows that of others."""

    LEND = "Lend"
    DONT_LEND = "DontLend"
    LEND_AND_BORROW = "LendAndBorrow"


class PreemptTeamTasks(StrEnum):
    """Which of its own jobs a team's job may stop to run."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
