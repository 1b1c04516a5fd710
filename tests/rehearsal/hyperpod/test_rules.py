"""What the service refuses beyond its model: for each rule what passes and what does not."""

from collections.abc import Callable
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.hyperpod import rules
from hyperpod_cdk.rehearsal.hyperpod.errors import ValidationError
from tests.rehearsal.hyperpod.samples import Account

ACCOUNT = Account(
    role_arn="arn:aws:iam::123456789012:role/node",
    subnet_id="subnet-1",
    small_subnet_id="subnet-2",
    security_group_id="sg-1",
    bucket="sagemaker-scripts",
)
EKS = {"Eks": {"ClusterArn": "arn:aws:eks:us-west-2:123456789012:cluster/k8s"}}
LUSTRE = {
    "FsxLustreConfig": {"DnsName": "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", "MountName": "abc"}
}
ZFS = {"FsxOpenZfsConfig": {"DnsName": "fs-1123456789abcdef0.fsx.us-west-2.amazonaws.com"}}
SCRIPTS = "s3://sagemaker-scripts/x"

controller = ACCOUNT.group("controller", "Controller")
compute = ACCOUNT.group("compute")
login = ACCOUNT.group("login", "Login")
legacy = ACCOUNT.group("legacy", None)


def cluster(*groups: dict[str, Any], **members: Any) -> dict[str, Any]:
    return ACCOUNT.cluster(*groups, **members)


def with_storage(*configs: dict[str, Any], **members: Any) -> dict[str, Any]:
    return cluster(controller, {**compute, "InstanceStorageConfigs": list(configs)}, **members)


def ebs(**members: Any) -> dict[str, Any]:
    return {"EbsVolumeConfig": members}


def without(request: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in request.items() if name not in names}


def on_eks(*groups: dict[str, Any], **members: Any) -> dict[str, Any]:
    return cluster(*groups, **{"Orchestrator": EKS, **members})


def scripted(**config: str) -> dict[str, Any]:
    return cluster(controller, {**compute, "LifeCycleConfig": config})


checked = {**legacy, "InstanceType": "ml.p5.48xlarge", "OnStartDeepHealthChecks": ["InstanceStress"]}
flexible = {**without(compute, "InstanceType"), "InstanceRequirements": {"InstanceTypes": ["ml.c5.large"]}}
restricted = {**without(legacy, "LifeCycleConfig"), "InstanceGroupName": "nova"}
lustre_made = {"FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 125}}
shared = {"SharedEnvironmentConfig": {"FSxLustreDeletionPolicy": "Keep", **lustre_made}}
patched = {**legacy, "AutoPatchConfig": {"PatchingStrategy": "DrainFirst", "DrainPolicy": {}}}
interface = {"NetworkInterface": {"InterfaceType": "efa-only"}}
spot = {**compute, "CapacityRequirements": {"Spot": {}}}
database = {
    "AccountingDatabase": {
        "Endpoint": "db.example.com",
        "SecretArn": "arn:aws:secretsmanager:us-west-2:123456789012:secret:x",
    }
}
autoscaled = {"AutoScaling": {"Mode": "Enable"}, "ClusterRole": ACCOUNT.role_arn, "continuous": True}

ACCEPTED: dict[str, dict[str, Any]] = {
    "all-or-nothing": cluster(),
    "continuous": cluster(continuous=True),
    "with login": cluster(controller, compute, login),
    "legacy, several controllers": without(cluster({**legacy, "InstanceCount": 2}), "Orchestrator"),
    "without scripts": cluster(without(controller, "LifeCycleConfig"), without(compute, "LifeCycleConfig")),
    "script after HyperPod's own": scripted(SourceS3Uri=SCRIPTS, OnInitComplete="x.sh"),
    "both file systems": with_storage(LUSTRE, ZFS),
    "both volumes": with_storage(
        ebs(RootVolume=True, VolumeKmsKeyId="k"), ebs(VolumeSizeInGB=500), continuous=True
    ),
    "compute scaled to none": cluster(controller, {**compute, "InstanceCount": 0}),
    "minimum equal to count": cluster(controller, {**compute, "MinInstanceCount": 1}, continuous=True),
    "flexible types": cluster(controller, flexible, continuous=True),
    "spot": cluster(controller, spot, continuous=True),
    "database": cluster(continuous=True, Orchestrator={"Slurm": database}),
    "own network of a group": cluster(controller, {**compute, "OverrideVpcConfig": ACCOUNT.vpc_config}),
    "EKS": on_eks(legacy),
    "EKS with deep health checks": on_eks(checked),
    "EKS without groups": without(on_eks(legacy, continuous=True), "InstanceGroups"),
    "EKS with autoscaling": on_eks(legacy, **autoscaled),
    "restricted group with its own file system": on_eks(
        legacy, RestrictedInstanceGroups=[{**restricted, "EnvironmentConfig": lustre_made}]
    ),
    "restricted group on the shared file system": on_eks(
        legacy, RestrictedInstanceGroups=[restricted], RestrictedInstanceGroupsConfig=shared
    ),
    "drained before patches": on_eks(patched),
    "patched when idle": on_eks({**legacy, "AutoPatchConfig": {"PatchingStrategy": "WhenIdle"}}),
    "EFA alone": on_eks({**checked, **interface}),
}


@pytest.mark.parametrize("request_", ACCEPTED.values(), ids=ACCEPTED)
def test_accepted(request_: dict[str, Any]) -> None:
    rules.check_cluster(request_)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no group": (without(cluster(), "InstanceGroups"), "At least one instance group"),
    "two groups of one name": (cluster(controller, compute, compute), "'compute' is given 2 times"),
    "no type": (cluster(controller, without(compute, "InstanceType")), "exactly one of InstanceType"),
    "both kinds of type": (
        cluster(controller, {**flexible, "InstanceType": "ml.c5.large"}, continuous=True),
        "exactly one of InstanceType",
    ),
    "a type twice": (
        cluster(
            controller,
            {**flexible, "InstanceRequirements": {"InstanceTypes": ["ml.c5.large"] * 2}},
            continuous=True,
        ),
        "must be unique",
    ),
    "minimum above count": (
        cluster(controller, {**compute, "MinInstanceCount": 2}, continuous=True),
        "MinInstanceCount 2 of instance group 'compute' must not exceed its InstanceCount 1",
    ),
    "group's network without the cluster's": (
        without(cluster(controller, {**compute, "OverrideVpcConfig": ACCOUNT.vpc_config}), "VpcConfig"),
        "OverrideVpcConfig of instance group 'compute'",
    ),
    "controller of a training plan": (
        cluster({**controller, "TrainingPlanArn": "arn"}, compute),
        "training plan can not be used for the controller",
    ),
    "EKS and Slurm": (cluster(Orchestrator={**EKS, "Slurm": {}}), "exactly one of Eks and Slurm"),
    "Slurm roles on EKS": (on_eks(compute), "SlurmConfig is not supported"),
    "no controller": (cluster(compute), "Cluster ml has no InstanceGroup with Controller node type."),
    "Slurm without roles": (cluster(legacy), "has no InstanceGroup with Controller node type."),
    "two controller groups": (
        cluster(controller, {**controller, "InstanceGroupName": "second"}, compute),
        "Cluster must have exactly one InstanceGroup with Controller node type, 2 Controller Groups found: "
        "controller, second",
    ),
    "two controllers": (cluster({**controller, "InstanceCount": 2}), "must be 1 with SlurmConfig, but is 2"),
    "no controller node": (cluster({**controller, "InstanceCount": 0}), "must be 1 with SlurmConfig"),
    "two login groups": (
        cluster(controller, login, {**login, "InstanceGroupName": "second"}),
        "at most one InstanceGroup with Login node type",
    ),
    "controller in a partition": (
        cluster({**controller, "SlurmConfig": {"NodeType": "Controller", "PartitionNames": ["p"]}}),
        "Partitions can only be assigned to Compute node types",
    ),
    "login in a partition": (
        cluster(controller, {**login, "SlurmConfig": {"NodeType": "Login", "PartitionNames": ["p"]}}),
        "Partitions can only be assigned to Compute node types",
    ),
    "compute in no partition": (
        cluster(controller, {**compute, "SlurmConfig": {"NodeType": "Compute"}}),
        "'compute' must have PartitionNames",
    ),
    "strategy with Continuous": (
        cluster(continuous=True, Orchestrator={"Slurm": {"SlurmConfigStrategy": "Merge"}}),
        "SlurmConfigStrategy is not supported",
    ),
    "no strategy": (cluster(Orchestrator={"Slurm": {}}), "SlurmConfigStrategy is required"),
    "database without Continuous": (
        cluster(Orchestrator={"Slurm": {"SlurmConfigStrategy": "Merge", **database}}),
        "AccountingDatabase is only supported",
    ),
    "storage of no kind": (with_storage({}), "exactly one of EbsVolumeConfig"),
    "storage of two kinds": (with_storage({**LUSTRE, **ZFS}), "exactly one of EbsVolumeConfig"),
    "file system without a VPC": (
        without(with_storage(LUSTRE), "VpcConfig"),
        "FSx configurations are only supported for Custom VPC",
    ),
    "file system with legacy configuration": (
        without(cluster({**legacy, "InstanceStorageConfigs": [ZFS]}), "Orchestrator"),
        "FSx configurations require an InstanceGroup with Controller",
    ),
    "two Lustre": (with_storage(LUSTRE, LUSTRE), "at most one FsxLustreConfig, but has 2"),
    "two OpenZFS": (with_storage(ZFS, ZFS), "at most one FsxOpenZfsConfig, but has 2"),
    "two secondary volumes": (
        with_storage(ebs(VolumeSizeInGB=1), ebs(VolumeSizeInGB=2)),
        "at most one root and one secondary EbsVolumeConfig, but has 0 and 2",
    ),
    "root volume without a key": (
        with_storage(ebs(RootVolume=True), continuous=True),
        "VolumeKmsKeyId is required for the root volume",
    ),
    "root volume with a size": (
        with_storage(ebs(RootVolume=True, VolumeKmsKeyId="k", VolumeSizeInGB=1), continuous=True),
        "VolumeSizeInGB is not supported for the root volume",
    ),
    "secondary volume without a size": (
        with_storage(ebs(VolumeKmsKeyId="k"), continuous=True),
        "VolumeSizeInGB is required for the secondary volume",
    ),
    "key without Continuous": (
        with_storage(ebs(VolumeKmsKeyId="k", VolumeSizeInGB=1)),
        "VolumeKmsKeyId of instance group 'compute' is only supported with NodeProvisioningMode",
    ),
    "two scripts": (
        scripted(SourceS3Uri=SCRIPTS, OnCreate="a", OnInitComplete="b"),
        "mutually exclusive",
    ),
    "no script": (scripted(SourceS3Uri=SCRIPTS), "incomplete"),
    "no place of scripts": (scripted(OnCreate="a"), "incomplete"),
    "empty place of scripts": (scripted(OnCreate="a", SourceS3Uri=""), "incomplete"),
    "empty configuration": (scripted(), "incomplete"),
    "legacy without a script": (
        without(cluster(without(legacy, "LifeCycleConfig")), "Orchestrator"),
        "LifeCycleConfig is required for instance group 'legacy'",
    ),
    "EKS without a script": (
        on_eks(without(legacy, "LifeCycleConfig")),
        "LifeCycleConfig is required for instance group 'legacy'",
    ),
    "EKS with OnInitComplete": (
        on_eks({**legacy, "LifeCycleConfig": {"SourceS3Uri": SCRIPTS, "OnInitComplete": "x"}}),
        "must have OnCreate with Amazon EKS",
    ),
    "minimum without Continuous": (
        cluster(controller, {**compute, "MinInstanceCount": 1}),
        "MinInstanceCount of instance group 'compute' is only supported",
    ),
    "flexible types without Continuous": (
        cluster(controller, flexible),
        "InstanceRequirements of instance group 'compute' is only supported",
    ),
    "spot without Continuous": (cluster(controller, spot), "Spot capacity of instance group 'compute'"),
    "legacy with Continuous": (
        cluster(controller, legacy, continuous=True),
        "SlurmConfig is required for instance group 'legacy'",
    ),
    "tiered storage on Slurm": (
        cluster(TieredStorageConfig={"Mode": "Enable"}),
        "TieredStorageConfig is only",
    ),
    "labels on Slurm": (
        cluster(controller, {**compute, "KubernetesConfig": {"Labels": {}}}),
        "KubernetesConfig of instance group 'compute' is only supported",
    ),
    "EKS without a VPC": (without(on_eks(legacy), "VpcConfig"), "VpcConfig is required"),
    "restricted groups without EKS": (
        cluster(
            RestrictedInstanceGroups=[{**without(legacy, "LifeCycleConfig"), "InstanceGroupName": "nova"}]
        ),
        "RestrictedInstanceGroups is only supported for clusters that Amazon EKS orchestrates",
    ),
    "checks beside taints": (
        on_eks({**checked, "KubernetesConfig": {"Taints": [{"Key": "a", "Effect": "NoSchedule"}]}}),
        "can not be used with custom taints",
    ),
    "checks without an accelerator": (
        on_eks({**checked, "InstanceType": "ml.c5.large"}),
        "need GPUs or Trainium, which ml.c5.large has not",
    ),
    "checks without an accelerator on one of the types": (
        on_eks(
            {
                **without(checked, "InstanceType"),
                "InstanceRequirements": {"InstanceTypes": ["ml.p5.48xlarge", "ml.c5.large"]},
            },
            continuous=True,
        ),
        "need GPUs or Trainium, which ml.c5.large has not",
    ),
    "restricted group without a file system": (
        on_eks(legacy, RestrictedInstanceGroups=[{**restricted, "EnvironmentConfig": {}}]),
        "EnvironmentConfig of restricted instance group 'nova' must have FSxLustreConfig",
    ),
    "drain policy for idle nodes": (
        on_eks({**legacy, "AutoPatchConfig": {"PatchingStrategy": "WhenIdle", "DrainPolicy": {}}}),
        "DrainPolicy of instance group 'legacy' is only valid with PatchingStrategy DrainFirst, not WhenIdle",
    ),
    "EFA on a type without": (
        on_eks({**legacy, **interface}),
        "InterfaceType efa-only of instance group 'legacy' is not supported for ml.c5.large",
    ),
    "autoscaling without Continuous": (
        on_eks(legacy, **{**autoscaled, "continuous": False}),
        "AutoScaling is only supported",
    ),
    "autoscaling without a role": (
        without(on_eks(legacy, **autoscaled), "ClusterRole"),
        "ClusterRole is required",
    ),
    "autoscaling without recovery": (
        on_eks(legacy, **autoscaled, NodeRecovery="None"),
        "NodeRecovery must be Automatic",
    ),
}


@pytest.mark.parametrize(("request_", "text"), REFUSED.values(), ids=REFUSED)
def test_refused(request_: dict[str, Any], text: str) -> None:
    with pytest.raises(ValidationError) as caught:
        rules.check_cluster(request_)
    assert text in caught.value.message


def test_each_rule_refuses_something() -> None:
    refusing = {
        rule for rule in rules.CLUSTER_RULES for request_, _ in REFUSED.values() if any(rule(request_))
    }
    assert refusing == set(rules.CLUSTER_RULES)


def test_refusal_reaches_the_client(account: Account, sagemaker: Any, refused: Callable[..., Any]) -> None:
    code, message = refused(sagemaker.create_cluster, **account.cluster(account.group("compute")))
    assert code == "ValidationException"
    assert "has no InstanceGroup with Controller node type" in message
