"""What can become of each member of a CreateCluster request in the life of a cluster: a table.

Keys are the service model's shapes and their members, so that a shape used in two places is written once. A
test walks the model and fails on a member that is not here.

Sources: UpdateCluster, UpdateClusterSoftware and their types in the SageMaker API reference; the developer
guide's pages on updating, scaling down and training plans of HyperPod clusters; read in November 2026.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Policy(StrEnum):
    """How a change reaches the cluster."""

    IN_PLACE = "in place"  # by UpdateCluster
    SOFTWARE = "software update"  # by UpdateClusterSoftware
    TAGS = "tags"  # by AddTags and DeleteTags
    NEW_GROUP = "new group"  # fixed for the life of an instance group
    NEW_CLUSTER = "new cluster"  # fixed for the life of a cluster
    IDENTITY = "identity"  # names the thing: another value is another thing
    AS_PARENT = "as its parent"  # part of a value; the member above decides


@dataclass(frozen=True, kw_only=True)
class Rule:
    """The policy of one member.

    Args:
        policy: how a change reaches the cluster.
        removable: whether the service forgets a value that a request no longer has.
        reset: value to send in its place where leaving it out means "unchanged"; None when there is none.
        default: what an absent value means, where that is certain; None when unknown.
        once: the service uses the value up, so that only a new one in the request is a change.
    """

    policy: Policy
    removable: bool = False
    reset: Any = None
    default: Any = None
    once: bool = False


# A group is always sent whole, so what it no longer has is gone.
_GROUP_VALUE = Rule(policy=Policy.IN_PLACE, removable=True)
_TOP_VALUE = Rule(policy=Policy.IN_PLACE)
_NEW_GROUP = Rule(policy=Policy.NEW_GROUP)
_NEW_CLUSTER = Rule(policy=Policy.NEW_CLUSTER)
_IDENTITY = Rule(policy=Policy.IDENTITY)
_AS_PARENT = Rule(policy=Policy.AS_PARENT, removable=True)
_OFF = {"Mode": "Disable"}


def _parts(*names: str) -> dict[str, Rule]:
    return dict.fromkeys(names, _AS_PARENT)


TABLE: Mapping[str, Mapping[str, Rule]] = {
    "CreateClusterRequest": {
        "ClusterName": _IDENTITY,
        "InstanceGroups": _TOP_VALUE,
        "RestrictedInstanceGroups": _TOP_VALUE,
        "RestrictedInstanceGroupsConfig": _TOP_VALUE,
        "VpcConfig": _NEW_CLUSTER,
        "Tags": Rule(policy=Policy.TAGS, removable=True),
        "Orchestrator": _TOP_VALUE,
        "NodeRecovery": Rule(policy=Policy.IN_PLACE, reset="Automatic"),
        "TieredStorageConfig": Rule(policy=Policy.IN_PLACE, reset=_OFF),
        "NodeProvisioningMode": _TOP_VALUE,
        "ClusterRole": _TOP_VALUE,
        "AutoScaling": Rule(policy=Policy.IN_PLACE, reset=_OFF),
    },
    "ClusterInstanceGroupSpecification": {
        "InstanceGroupName": _IDENTITY,
        "InstanceCount": _GROUP_VALUE,
        "MinInstanceCount": _GROUP_VALUE,
        "InstanceType": _NEW_GROUP,
        "InstanceRequirements": _NEW_GROUP,
        "LifeCycleConfig": _GROUP_VALUE,
        "ExecutionRole": _NEW_GROUP,
        "ThreadsPerCore": _NEW_GROUP,
        "InstanceStorageConfigs": _GROUP_VALUE,
        "OnStartDeepHealthChecks": _GROUP_VALUE,
        "TrainingPlanArn": _GROUP_VALUE,
        "OverrideVpcConfig": _NEW_GROUP,
        "ScheduledUpdateConfig": _GROUP_VALUE,
        "ImageId": Rule(policy=Policy.SOFTWARE, reset="default", default="default"),
        "AutoPatchConfig": _GROUP_VALUE,
        # absent means "the latest when the group was made", which no update can mean again
        "ImageReleaseVersion": Rule(policy=Policy.SOFTWARE, removable=True),
        "KubernetesConfig": _GROUP_VALUE,
        # once a group has it, an update without it keeps it (…slurm-api-config-migration)
        "SlurmConfig": _TOP_VALUE,
        "CapacityRequirements": Rule(policy=Policy.NEW_GROUP, default={"OnDemand": {}}),
        "NetworkInterface": _NEW_GROUP,
    },
    "ClusterRestrictedInstanceGroupSpecification": {
        "InstanceGroupName": _IDENTITY,
        "InstanceCount": _GROUP_VALUE,
        "InstanceType": _NEW_GROUP,
        "ExecutionRole": _NEW_GROUP,
        "ThreadsPerCore": _NEW_GROUP,
        "InstanceStorageConfigs": _GROUP_VALUE,
        "OnStartDeepHealthChecks": _GROUP_VALUE,
        "TrainingPlanArn": _GROUP_VALUE,
        "OverrideVpcConfig": _NEW_GROUP,
        "ScheduledUpdateConfig": _GROUP_VALUE,
        "EnvironmentConfig": _GROUP_VALUE,
    },
    "ClusterRestrictedInstanceGroupsConfig": _parts("SharedEnvironmentConfig"),
    "ClusterSharedEnvironmentConfig": _parts("FSxLustreDeletionPolicy", "FSxLustreConfig"),
    "EnvironmentConfig": _parts("FSxLustreConfig"),
    "FSxLustreConfig": _parts("SizeInGiB", "PerUnitStorageThroughput"),
    # the order of types is their priority and changes in place; the kind (one type, or a choice) does not
    "ClusterInstanceRequirements": {"InstanceTypes": _TOP_VALUE},
    "ClusterLifeCycleConfig": _parts("SourceS3Uri", "OnCreate", "OnInitComplete"),
    "ClusterInstanceStorageConfig": _parts("EbsVolumeConfig", "FsxLustreConfig", "FsxOpenZfsConfig"),
    "ClusterEbsVolumeConfig": {
        "VolumeSizeInGB": _AS_PARENT,
        "VolumeKmsKeyId": _NEW_GROUP,
        "RootVolume": _IDENTITY,
    },
    "ClusterFsxLustreConfig": _parts("DnsName", "MountName", "MountPath"),
    "ClusterFsxOpenZfsConfig": _parts("DnsName", "MountPath"),
    "VpcConfig": _parts("SecurityGroupIds", "Subnets"),
    "ScheduledUpdateConfig": _parts("ScheduleExpression", "DeploymentConfig"),
    "DeploymentConfiguration": _parts(
        "RollingUpdatePolicy", "WaitIntervalInSeconds", "AutoRollbackConfiguration"
    ),
    "RollingDeploymentPolicy": _parts("MaximumBatchSize", "RollbackMaximumBatchSize"),
    "CapacitySizeConfig": _parts("Type", "Value"),
    "AlarmDetails": _parts("AlarmName"),
    "ClusterAutoPatchConfig": _parts(
        "PatchingStrategy", "PatchSchedule", "DeploymentConfig", "IdleWaitWindowInSeconds", "DrainPolicy"
    ),
    "ClusterPatchSchedule": {"NextPatchDate": Rule(policy=Policy.AS_PARENT, once=True)},
    "ClusterDrainPolicy": _parts("DrainTimeoutInSeconds", "OnDrainTimeout"),
    "ClusterKubernetesConfig": _parts("Labels", "Taints"),
    "ClusterKubernetesTaint": _parts("Key", "Value", "Effect"),
    "ClusterSlurmConfig": {"NodeType": _NEW_GROUP, "PartitionNames": _AS_PARENT},
    "ClusterCapacityRequirements": {
        "Spot": _NEW_GROUP,
        "OnDemand": Rule(policy=Policy.NEW_GROUP, removable=True, default={}),
    },
    "ClusterSpotOptions": {},
    "ClusterOnDemandOptions": {},
    "ClusterNetworkInterface": _parts("InterfaceType"),
    "Tag": _parts("Key", "Value"),
    "ClusterOrchestrator": {"Eks": _NEW_CLUSTER, "Slurm": _NEW_CLUSTER},
    "ClusterOrchestratorEksConfig": _parts("ClusterArn"),
    "ClusterOrchestratorSlurmConfig": {
        "SlurmConfigStrategy": Rule(policy=Policy.IN_PLACE, removable=True),
        # there is no way back to the controller's own database
        "AccountingDatabase": _TOP_VALUE,
    },
    "ClusterAccountingDatabase": _parts("Endpoint", "Port", "Name", "SecretArn"),
    "ClusterTieredStorageConfig": _parts("Mode", "InstanceMemoryAllocationPercentage"),
    "ClusterAutoScalingConfig": _parts("Mode", "AutoScalerType"),
}


def rule_for(shape: str, member: str, parent: Rule) -> Rule:
    """Give the rule of a member; one that is part of a value takes its policy from the rule above it."""
    rule = TABLE[shape][member]
    if rule.policy is not Policy.AS_PARENT:
        return rule
    return Rule(policy=parent.policy, removable=parent.policy is Policy.IN_PLACE, once=rule.once)
