"""From spec to request, member by member.

The reference is the complete CreateCluster example of
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html.
"""

import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from hyperpod_cdk.cluster.request import (
    ClusterResources,
    GroupResources,
    VpcPlacement,
    create_cluster_request,
    provisioning_parameters,
)
from hyperpod_cdk.config import load
from hyperpod_cdk.spec import (
    AccountingDatabase,
    BatchSize,
    BatchSizeType,
    CapacityType,
    Cluster,
    DeepHealthCheck,
    EbsVolume,
    InstanceGroup,
    LifeCycleConfig,
    LifecycleMode,
    Mount,
    MultiHead,
    NetworkInterfaceType,
    NodeProvisioningMode,
    NodeType,
    Orchestrator,
    RollingUpdatePolicy,
    ScheduledUpdateConfig,
    SlurmConfig,
    SlurmConfigStrategy,
    SlurmOrchestrator,
    UpdateDeploymentConfig,
)
from hyperpod_cdk.stack import HyperPodStack

ROOT = Path(__file__).parents[3]
ROLE = "arn:aws:iam::111122223333:role/HyperPodRole"
SCRIPTS = LifeCycleConfig(
    source_s3_uri="s3://sagemaker-us-west-2-111122223333/lifecycle/src/", on_create="on_create.sh"
)
VPC = VpcPlacement(subnet_ids=["subnet-0a"], security_group_ids=["sg-0a"])
LUSTRE = Mount(
    file_system_type="LUSTRE",
    dns_name="fs-0abc123def456789.fsx.us-west-2.amazonaws.com",
    mount_name="abcdefgh",
    mount_path="/fsx",
)
OPENZFS = Mount(file_system_type="OPENZFS", dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com")


def group(
    name: str,
    node_type: NodeType,
    *,
    instance_type: str = "ml.c5.xlarge",
    partition: str | None = None,
    **members: Any,
) -> InstanceGroup:
    """An instance group with what every one needs."""
    return InstanceGroup(
        instance_group_name=name,
        instance_type=instance_type,
        instance_count=members.pop("instance_count", 1),
        slurm_config=SlurmConfig(node_type=node_type, partition_names=[partition] if partition else []),
        **members,
    )


def request(cluster: Cluster, *, mode: LifecycleMode = LifecycleMode.CUSTOM) -> dict[str, Any]:
    """The request of a cluster whose groups share one role and one script."""
    resources = GroupResources(execution_role_arn=ROLE, lifecycle_mode=mode, life_cycle_config=SCRIPTS)
    return create_cluster_request(
        cluster,
        ClusterResources(
            cluster_name="c",
            vpc=VPC,
            groups={g.instance_group_name: resources for g in cluster.instance_groups},
        ),
    )


CONTROLLER = group("controller", NodeType.CONTROLLER)
COMPUTE = group("gpu-compute", NodeType.COMPUTE, partition="gpu-training")


def test_the_reference_example_yields_exactly_the_documented_request() -> None:
    stack = HyperPodStack(cdk.App(), "Reference", spec=load(ROOT / "clusters" / "reference-example.yaml"))
    expected = json.loads((Path(__file__).parent / "reference_request.json").read_text())
    assert stack.resolve(stack.cluster.request) == expected


def test_a_group_with_several_file_systems() -> None:
    """The multi-file-system group of the same page."""
    several = group(
        "gpu-compute",
        NodeType.COMPUTE,
        instance_type="ml.p4d.24xlarge",
        instance_count=4,
        partition="gpu-training",
        mounts=[
            LUSTRE,
            Mount(
                file_system_type="OPENZFS",
                dns_name="fs-0xyz987654321.fsx.us-west-2.amazonaws.com",
                mount_path="/shared",
            ),
        ],
        secondary_volume=EbsVolume(volume_size_in_gb=500),
    )
    made = request(Cluster(instance_groups=[CONTROLLER, several]))["InstanceGroups"][1]
    assert made == {
        "InstanceGroupName": "gpu-compute",
        "InstanceType": "ml.p4d.24xlarge",
        "InstanceCount": 4,
        "SlurmConfig": {"NodeType": "Compute", "PartitionNames": ["gpu-training"]},
        "InstanceStorageConfigs": [
            {
                "FsxLustreConfig": {
                    "DnsName": "fs-0abc123def456789.fsx.us-west-2.amazonaws.com",
                    "MountPath": "/fsx",
                    "MountName": "abcdefgh",
                }
            },
            {
                "FsxOpenZfsConfig": {
                    "DnsName": "fs-0xyz987654321.fsx.us-west-2.amazonaws.com",
                    "MountPath": "/shared",
                }
            },
            {"EbsVolumeConfig": {"VolumeSizeInGB": 500}},
        ],
        "LifeCycleConfig": {
            "SourceS3Uri": "s3://sagemaker-us-west-2-111122223333/lifecycle/src/",
            "OnCreate": "on_create.sh",
        },
        "ExecutionRole": ROLE,
    }


def test_provisioning_parameters_have_the_documented_form() -> None:
    cluster = Cluster(
        instance_groups=[
            group("controller", NodeType.CONTROLLER, mounts=[LUSTRE]),
            group("login", NodeType.LOGIN),
            COMPUTE,
        ]
    )
    assert provisioning_parameters(cluster) == {
        "version": "1.0.0",
        "workload_manager": "slurm",
        "controller_group": "controller",
        "login_group": "login",
        "worker_groups": [{"instance_group_name": "gpu-compute", "partition_name": "gpu-training"}],
        "fsx_dns_name": "fs-0abc123def456789.fsx.us-west-2.amazonaws.com",
        "fsx_mountname": "abcdefgh",
    }


def test_multi_head_members_go_to_the_provisioning_parameters() -> None:
    multi_head = MultiHead(
        slurm_database_secret_arn="arn:aws:secretsmanager:us-west-2:111122223333:secret:db",
        slurm_database_endpoint="db.example.com",
        slurm_shared_directory="/fsx",
        slurm_database_user="admin",
        slurm_sns_arn="arn:aws:sns:us-west-2:111122223333:heads",
    )
    cluster = Cluster(
        instance_groups=[CONTROLLER, COMPUTE],
        orchestrator=Orchestrator(slurm=SlurmOrchestrator(multi_head=multi_head)),
    )
    made = provisioning_parameters(cluster)
    assert "login_group" not in made
    assert "fsx_dns_name" not in made
    assert made["slurm_configurations"] == {
        "slurm_database_secret_arn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:db",
        "slurm_database_endpoint": "db.example.com",
        "slurm_shared_directory": "/fsx",
        "slurm_database_user": "admin",
        "slurm_sns_arn": "arn:aws:sns:us-west-2:111122223333:heads",
    }


def test_a_legacy_request_says_nothing_of_slurm_or_fsx() -> None:
    cluster = Cluster(
        instance_groups=[group("controller", NodeType.CONTROLLER, mounts=[LUSTRE]), COMPUTE],
        node_provisioning_mode=NodeProvisioningMode.ALL_AT_ONCE,
    )
    made = request(cluster, mode=LifecycleMode.LEGACY)
    assert "Orchestrator" not in made
    assert "NodeProvisioningMode" not in made
    assert all("SlurmConfig" not in g and "InstanceStorageConfigs" not in g for g in made["InstanceGroups"])


def test_continuous_provisioning_sends_no_strategy() -> None:
    made = request(Cluster(instance_groups=[CONTROLLER, COMPUTE]))
    assert made["NodeProvisioningMode"] == "Continuous"
    assert made["Orchestrator"] == {"Slurm": {}}
    assert made["NodeRecovery"] == "Automatic"


@pytest.mark.parametrize("strategy", list(SlurmConfigStrategy))
def test_all_at_once_sends_its_strategy(strategy: SlurmConfigStrategy) -> None:
    cluster = Cluster(
        instance_groups=[CONTROLLER, COMPUTE],
        node_provisioning_mode=NodeProvisioningMode.ALL_AT_ONCE,
        node_recovery=None,
        orchestrator=Orchestrator(slurm=SlurmOrchestrator(slurm_config_strategy=strategy)),
    )
    made = request(cluster)
    assert made["Orchestrator"] == {"Slurm": {"SlurmConfigStrategy": strategy.value}}
    assert "NodeProvisioningMode" not in made
    assert "NodeRecovery" not in made


def test_an_accounting_database_goes_to_the_orchestrator() -> None:
    database = AccountingDatabase(
        endpoint="db.example.com", secret_arn="arn:aws:secretsmanager:us-west-2:111122223333:secret:db"
    )
    cluster = Cluster(
        instance_groups=[CONTROLLER, COMPUTE],
        orchestrator=Orchestrator(slurm=SlurmOrchestrator(accounting_database=database)),
    )
    assert request(cluster)["Orchestrator"]["Slurm"]["AccountingDatabase"] == {
        "Endpoint": "db.example.com",
        "SecretArn": "arn:aws:secretsmanager:us-west-2:111122223333:secret:db",
    }


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ({"min_instance_count": 0}, {"MinInstanceCount": 0}),
        ({"threads_per_core": 1}, {"ThreadsPerCore": 1}),
        ({"image_id": "ami-0123456789abcdef0"}, {"ImageId": "ami-0123456789abcdef0"}),
        ({"image_release_version": "1.2.3"}, {"ImageReleaseVersion": "1.2.3"}),
        (
            {"on_start_deep_health_checks": [DeepHealthCheck.INSTANCE_STRESS]},
            {"OnStartDeepHealthChecks": ["InstanceStress"]},
        ),
        (
            {"root_volume": EbsVolume(volume_kms_key_id="key-1")},
            {
                "InstanceStorageConfigs": [
                    {"EbsVolumeConfig": {"VolumeKmsKeyId": "key-1", "RootVolume": True}}
                ]
            },
        ),
        ({"capacity_requirements": CapacityType.SPOT}, {"CapacityRequirements": {"Spot": {}}}),
        ({"capacity_requirements": CapacityType.ON_DEMAND}, {"CapacityRequirements": {"OnDemand": {}}}),
        (
            {"network_interface": NetworkInterfaceType.EFA_ONLY},
            {"NetworkInterface": {"InterfaceType": "efa-only"}},
        ),
        (
            {"scheduled_update_config": ScheduledUpdateConfig(schedule_expression="cron(0 3 ? * SUN *)")},
            {"ScheduledUpdateConfig": {"ScheduleExpression": "cron(0 3 ? * SUN *)"}},
        ),
        (
            {
                "scheduled_update_config": ScheduledUpdateConfig(
                    schedule_expression="cron(0 3 ? * SUN *)",
                    deployment_config=UpdateDeploymentConfig(
                        rolling_update_policy=RollingUpdatePolicy(
                            maximum_batch_size=BatchSize(type=BatchSizeType.CAPACITY_PERCENTAGE, value=25),
                            rollback_maximum_batch_size=BatchSize(type=BatchSizeType.INSTANCE_COUNT, value=2),
                        ),
                        wait_interval_in_seconds=0,
                        auto_rollback_alarm_names=["lost-nodes"],
                    ),
                )
            },
            {
                "ScheduledUpdateConfig": {
                    "ScheduleExpression": "cron(0 3 ? * SUN *)",
                    "DeploymentConfig": {
                        "RollingUpdatePolicy": {
                            "MaximumBatchSize": {"Type": "CAPACITY_PERCENTAGE", "Value": 25},
                            "RollbackMaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 2},
                        },
                        "WaitIntervalInSeconds": 0,
                        "AutoRollbackConfiguration": [{"AlarmName": "lost-nodes"}],
                    },
                }
            },
        ),
        (
            {"mounts": [OPENZFS]},
            {
                "InstanceStorageConfigs": [
                    {"FsxOpenZfsConfig": {"DnsName": OPENZFS.dns_name, "MountPath": "/home"}}
                ]
            },
        ),
    ],
)
def test_a_member_of_a_group(members: dict[str, Any], expected: dict[str, Any]) -> None:
    plain = request(Cluster(instance_groups=[CONTROLLER]))["InstanceGroups"][0]
    cluster = Cluster(instance_groups=[group("controller", NodeType.CONTROLLER, **members)])
    made = request(cluster)["InstanceGroups"][0]
    assert {key: value for key, value in made.items() if key not in plain} == expected


def test_every_value_is_plain_data() -> None:
    """Enum members are strings of their own kind: JSON and jsii want plain ones (field report 51)."""
    made = request(
        Cluster(
            instance_groups=[
                group(
                    "controller",
                    NodeType.CONTROLLER,
                    on_start_deep_health_checks=[DeepHealthCheck.INSTANCE_CONNECTIVITY],
                )
            ],
            tags={"Project": "ML-Training"},
        )
    )

    def plain(value: Any) -> bool:
        if isinstance(value, dict):
            return all(map(plain, value.values()))
        if isinstance(value, list):
            return all(map(plain, value))
        return type(value) in (str, int, bool)

    assert plain(made)
