"""Rules of names, tags, groups, volumes (HP1xx)."""

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_cdk.spec import (
    AccountingDatabase,
    DeepHealthCheck,
    EbsVolume,
    ExistingNetwork,
    ExistingSubnet,
    InstanceGroup,
    LifeCycleConfig,
    MultiHead,
    Network,
    NodeProvisioningMode,
    NodeRecovery,
    OverrideVpcConfig,
    Provisioning,
    RemovalPolicy,
    Wait,
)
from tests.unit.rules.specs import (
    BASE,
    NUMBER_TOKEN,
    REMOVED,
    TEXT_TOKEN,
    changed,
    findings,
    full_path,
)

ALL_AT_ONCE = {"cluster.node_provisioning_mode": NodeProvisioningMode.ALL_AT_ONCE}
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
ROLE = "arn:aws:iam::111122223333:role/Nodes"
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
HEADS = MultiHead(
    slurm_database_secret_arn=SECRET,
    slurm_database_endpoint="db.example.com",
    slurm_shared_directory="/fsx",
    slurm_database_user="slurm",
    slurm_sns_arn="arn:aws:sns:us-west-2:111122223333:failover",
)
THERE = Network(
    existing=ExistingNetwork(
        vpc_id="vpc-1",
        subnets=(ExistingSubnet(subnet_id="subnet-1", route_table_id="rtb-1"),),
        security_group_ids=("sg-1",),
    )
)
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large-models"
STRESS, CONNECTIVITY = DeepHealthCheck.INSTANCE_STRESS, DeepHealthCheck.INSTANCE_CONNECTIVITY
CHECKS = (STRESS,)
CHECKED = "compute.on_start_deep_health_checks"
GROUPS_21 = tuple(
    InstanceGroup(instance_group_name=f"g{number}", instance_type="ml.c5.large", instance_count=1)
    for number in range(21)
)
TAGS_45 = {f"Tag{number}": "x" for number in range(45)}

TAGS_50 = {f"Tag{number}": "x" for number in range(50)}
TAGS_51 = {**TAGS_50, "Tag50": "x"}

NATIVE = {"deployment.provisioning": Provisioning.CLOUDFORMATION}
COUNTS = {"deployment.wait": Wait.MINIMUM_COUNTS}
CHECKED_COUNTS = {**COUNTS, CHECKED: CHECKS, "compute.min_instance_count": 1}
LOGS_GO = {"deployment.log_group_removal_policy": RemovalPolicy.DESTROY}

ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    # deployment
    ("HP140", NATIVE, []),
    ("HP140", {**COUNTS, **LOGS_GO}, []),
    ("HP140", {**NATIVE, **COUNTS}, ["deployment.wait"]),
    ("HP140", {**NATIVE, **LOGS_GO}, ["deployment.log_group_removal_policy"]),
    ("HP140", {**COUNTS, "deployment.provisioning": TEXT_TOKEN}, []),
    ("HP141", {"deployment.wait_timeout_hours": 1}, []),
    ("HP141", {"deployment.wait_timeout_hours": 12}, []),
    ("HP141", {"deployment.wait_timeout_hours": 0}, ["deployment.wait_timeout_hours"]),
    ("HP141", {"deployment.wait_timeout_hours": 13}, ["deployment.wait_timeout_hours"]),
    ("HP141", {"deployment.wait_timeout_hours": NUMBER_TOKEN}, []),
    ("HP143", {**CHECKED_COUNTS, "deployment.wait_timeout_hours": 3}, []),
    ("HP143", {**CHECKED_COUNTS, "deployment.wait_timeout_hours": 2}, ["deployment.wait_timeout_hours"]),
    ("HP143", {**CHECKED_COUNTS, "deployment.wait": Wait.IN_SERVICE, "deployment.wait_timeout_hours": 2}, []),
    ("HP143", {**COUNTS, "deployment.wait_timeout_hours": 2}, []),
    ("HP143", {**CHECKED_COUNTS, "deployment.wait_timeout_hours": NUMBER_TOKEN}, []),
    ("HP142", COUNTS, ["deployment.wait"]),
    ("HP142", {**COUNTS, "compute.min_instance_count": 2}, []),
    ("HP142", {**COUNTS, **ALL_AT_ONCE}, []),
    ("HP142", {"deployment.wait": TEXT_TOKEN}, []),
    # the API's own limits
    ("HP100", {}, []),
    ("HP100", {"compute.instance_group_name": "gpu_group"}, ["compute.instance_group_name"]),
    ("HP100", {"compute.instance_group_name": "g" * 63}, []),
    ("HP100", {"compute.instance_group_name": "g" * 64}, ["compute.instance_group_name"]),
    ("HP100", {"compute.instance_group_name": TEXT_TOKEN}, []),
    ("HP100", {"cluster.cluster_name": "-name"}, ["cluster.cluster_name"]),
    ("HP100", {"cluster.instance_groups": ()}, ["cluster.instance_groups"]),
    ("HP100", {"compute.instance_count": 0}, []),
    ("HP100", {"compute.instance_count": 6758}, []),
    ("HP100", {"compute.instance_count": 6759}, ["compute.instance_count"]),
    ("HP100", {"compute.instance_count": -1}, ["compute.instance_count"]),
    ("HP100", {"compute.instance_count": NUMBER_TOKEN}, []),
    ("HP100", {"compute.threads_per_core": 3}, ["compute.threads_per_core"]),
    ("HP100", {"compute.slurm_config.partition_names": ("a", "b")}, ["compute.slurm_config.partition_names"]),
    (
        "HP100",
        {"compute.slurm_config.partition_names": ("a b",)},
        ["compute.slurm_config.partition_names[0]"],
    ),
    ("HP100", {"compute.secondary_volume": EbsVolume(volume_size_in_gb=16384)}, []),
    (
        "HP100",
        {"compute.secondary_volume": EbsVolume(volume_size_in_gb=16385)},
        ["compute.secondary_volume.volume_size_in_gb"],
    ),
    ("HP100", {"compute.mounts[0].mount_path": "/fsx"}, []),
    ("HP100", {"compute.mounts[0].mount_path": "fsx"}, ["compute.mounts[0].mount_path"]),
    ("HP100", {"compute.execution_role_arn": "HyperPodRole"}, ["compute.execution_role_arn"]),
    ("HP100", {"compute.training_plan_arn": PLAN}, []),
    ("HP100", {"compute.image_id": "ami-0123456789abcdef0"}, []),
    ("HP100", {"compute.image_id": "img-1234"}, ["compute.image_id"]),
    ("HP100", {"compute.image_release_version": "1.2"}, ["compute.image_release_version"]),
    (
        "HP100",
        {"compute.on_start_deep_health_checks": ("Stress",)},
        ["compute.on_start_deep_health_checks[0]"],
    ),
    (
        "HP100",
        {"compute.life_cycle_config": LifeCycleConfig(source_s3_uri="bucket/prefix", on_create="x.sh")},
        ["compute.life_cycle_config.source_s3_uri"],
    ),
    ("HP100", {"scratch.weekly_maintenance_start_time": "7:23:59"}, []),
    (
        "HP100",
        {"scratch.weekly_maintenance_start_time": "8:00:00"},
        ["scratch.weekly_maintenance_start_time"],
    ),
    (
        "HP100",
        {"home.daily_automatic_backup_start_time": "24:00"},
        ["home.daily_automatic_backup_start_time"],
    ),
    ("HP100", {"home.automatic_backup_retention_days": 90}, []),
    ("HP100", {"home.automatic_backup_retention_days": 91}, ["home.automatic_backup_retention_days"]),
    # names and tags
    ("HP101", {"stack_name": "a"}, []),
    ("HP101", {"stack_name": "9lives"}, ["stack_name"]),
    ("HP101", {"stack_name": "s" * 128}, []),
    ("HP101", {"stack_name": "s" * 129}, ["stack_name"]),
    ("HP101", {"stack_name": TEXT_TOKEN, "region": TEXT_TOKEN}, []),
    ("HP101", {"region": "us-gov-west-1"}, []),
    ("HP101", {"region": "Oregon"}, ["region"]),
    ("HP102", {"cluster.tags": TAGS_45}, []),
    ("HP102", {"cluster.tags": TAGS_45, "tags": {"Tag0": "y"}}, []),
    ("HP102", {"cluster.tags": TAGS_45, "tags": {"Another": "y"}}, ["cluster.tags"]),
    ("HP102", {**NATIVE, "cluster.tags": TAGS_50}, []),
    ("HP102", {**NATIVE, "cluster.tags": TAGS_51}, ["cluster.tags"]),
    ("HP102", {"cluster.tags": {TEXT_TOKEN: TEXT_TOKEN}}, []),
    ("HP103", {"tags": {"Projekt/Größe": "ä 1+1=2 @home"}}, []),
    ("HP103", {"tags": {"aws:x": "y"}}, ['tags["aws:x"]']),
    ("HP103", {"tags": {"": "y"}}, ['tags[""]']),
    ("HP103", {"tags": {"k" * 128: ""}}, []),
    ("HP103", {"tags": {"k" * 129: ""}}, [f"tags.{'k' * 129}"]),
    ("HP103", {"cluster.tags": {"hyperpod-cdk:stack-id": "y"}}, ['cluster.tags["hyperpod-cdk:stack-id"]']),
    ("HP103", {"cluster.tags": {"a": "b" * 256}}, []),
    ("HP103", {"cluster.tags": {"a": "b" * 257}}, ["cluster.tags.a"]),
    ("HP103", {"cluster.tags": {"a": "what?"}}, ["cluster.tags.a"]),
    ("HP103", {"cluster.tags": {TEXT_TOKEN: TEXT_TOKEN}}, []),
    ("HP104", {"log_retention_days": 1, "network.flow_logs_retention_days": 3653}, []),
    ("HP104", {"log_retention_days": 90}, []),
    ("HP104", {"log_retention_days": 91}, ["log_retention_days"]),
    ("HP104", {"network.flow_logs_retention_days": 0}, ["network.flow_logs_retention_days"]),
    ("HP104", {"log_retention_days": NUMBER_TOKEN}, []),
    # groups
    ("HP110", {}, []),
    ("HP110", {"compute.instance_group_name": "login"}, ["compute.instance_group_name"]),
    ("HP110", {"login.instance_group_name": TEXT_TOKEN, "compute.instance_group_name": TEXT_TOKEN}, []),
    ("HP111", {"compute.instance_type": "ml.p6-b200.48xlarge"}, []),
    ("HP111", {"compute.instance_type": "ml.p5.47xlarge"}, ["compute.instance_type"]),
    ("HP111", {"compute.instance_type": "ml.p9.48xlarge"}, ["compute.instance_type"]),
    ("HP111", {"compute.instance_type": "p5.48xlarge"}, []),
    ("HP108", {"compute.instance_type": "ml.p6e-gb200.36xlarge"}, []),
    ("HP108", {"compute.instance_type": "ml.p9-next.metal-48xl"}, []),
    ("HP108", {"compute.instance_type": "p5.48xlarge"}, ["compute.instance_type"]),
    ("HP107", {}, []),
    ("HP107", {"region": None}, []),
    ("HP107", {"region": "us-est-1"}, ["region"]),
    ("HP107", {"region": TEXT_TOKEN}, []),
    ("HP108", {"compute.instance_type": "ml.p5.48xlrage"}, ["compute.instance_type"]),
    ("HP108", {"compute.instance_type": "ml.p5.48-xlarge"}, ["compute.instance_type"]),
    ("HP108", {"compute.instance_type": "ml.m9.medium"}, []),
    ("HP108", {"compute.instance_type": "ML.P5.48XLARGE"}, ["compute.instance_type"]),
    ("HP108", {"compute.instance_type": TEXT_TOKEN}, []),
    ("HP111", {"compute.instance_type": TEXT_TOKEN}, []),
    ("HP112", {"compute.threads_per_core": 2}, []),
    ("HP112", {"compute.instance_type": "ml.c7g.xlarge", "compute.threads_per_core": 1}, []),
    (
        "HP112",
        {"compute.instance_type": "ml.c7g.xlarge", "compute.threads_per_core": 2},
        ["compute.threads_per_core"],
    ),
    ("HP112", {"compute.instance_type": "ml.c7g.xlarge", "compute.threads_per_core": NUMBER_TOKEN}, []),
    ("HP113", {"compute.min_instance_count": 4}, []),
    ("HP113", {"compute.min_instance_count": 5}, ["compute.min_instance_count"]),
    ("HP113", {"compute.min_instance_count": 5, "compute.instance_count": NUMBER_TOKEN}, []),
    ("HP114", {"compute.min_instance_count": 1}, []),
    ("HP114", {**ALL_AT_ONCE, "compute.min_instance_count": 1}, ["compute.min_instance_count"]),
    ("HP114", {"cluster.node_provisioning_mode": TEXT_TOKEN, "compute.min_instance_count": 1}, []),
    ("HP115", {"compute.training_plan_arn": PLAN}, []),
    ("HP115", {"controller.training_plan_arn": PLAN}, ["controller.training_plan_arn"]),
    ("HP115", {"controller.training_plan_arn": TEXT_TOKEN}, ["controller.training_plan_arn"]),
    ("HP115", {"controller.training_plan_arn": PLAN, "controller.slurm_config.node_type": TEXT_TOKEN}, []),
    ("HP116", {"compute.on_start_deep_health_checks": CHECKS}, []),
    ("HP116", {"login.on_start_deep_health_checks": CHECKS}, ["login.on_start_deep_health_checks"]),
    (
        "HP116",
        {"login.on_start_deep_health_checks": CHECKS, "login.instance_type": "ml.p5.48xlarge"},
        ["login.on_start_deep_health_checks"],
    ),
    ("HP116", {CHECKED: CHECKS, "compute.instance_type": "ml.g6.xlarge"}, []),
    ("HP116", {CHECKED: CHECKS, "compute.instance_type": "ml.c5.xlarge"}, [CHECKED]),
    ("HP116", {CHECKED: CHECKS, "compute.instance_type": "ml.trn1.32xlarge"}, [CHECKED]),
    ("HP116", {CHECKED: CHECKS, "compute.instance_type": TEXT_TOKEN}, []),
    ("HP118", {CHECKED: (STRESS, CONNECTIVITY)}, []),
    ("HP118", {CHECKED: (STRESS, CONNECTIVITY), "compute.instance_type": "ml.g5.4xlarge"}, [f"{CHECKED}[1]"]),
    ("HP118", {CHECKED: (STRESS, CONNECTIVITY), "compute.instance_type": "ml.g5.8xlarge"}, []),
    ("HP118", {CHECKED: (STRESS, CONNECTIVITY), "compute.instance_type": TEXT_TOKEN}, []),
    ("HP118", {CHECKED: (DeepHealthCheck.MULTI_NODE_TRAINING_VALIDATION,)}, [f"{CHECKED}[0]"]),
    ("HP119", {CHECKED: CHECKS}, []),
    ("HP119", {"cluster.node_recovery": NodeRecovery.NONE}, []),
    ("HP119", {CHECKED: CHECKS, "cluster.node_recovery": NodeRecovery.NONE}, ["cluster.node_recovery"]),
    ("HP119", {CHECKED: CHECKS, "cluster.node_recovery": TEXT_TOKEN}, []),
    ("HP117", {"cluster.instance_groups": GROUPS_21[:20]}, []),
    ("HP117", {"cluster.instance_groups": GROUPS_21}, ["cluster.instance_groups"]),
    ("HP117", {"cluster.instance_groups": (replace(GROUPS_21[0], instance_type=TEXT_TOKEN),)}, []),
    # ARNs, ids, folders
    ("HP130", {"kms_key_arn": KEY, "scratch.kms_key_arn": KEY, "home.kms_key_arn": KEY}, []),
    ("HP130", {"kms_key_arn": KEY.replace("arn:aws:", "arn:aws-us-gov:")}, []),
    ("HP130", {"kms_key_arn": "1234abcd-12ab-34cd-56ef-1234567890ab"}, ["kms_key_arn"]),
    ("HP130", {"home.kms_key_arn": KEY.replace("key/", "alias/")}, ["home.kms_key_arn"]),
    ("HP130", {"kms_key_arn": TEXT_TOKEN}, []),
    ("HP130", {"permissions_boundary_arn": "arn:aws:iam::111122223333:policy/path/boundary"}, []),
    ("HP130", {"permissions_boundary_arn": "arn:aws:iam::aws:policy/PowerUserAccess"}, []),
    ("HP130", {"permissions_boundary_arn": "boundary"}, ["permissions_boundary_arn"]),
    (
        "HP130",
        {"permissions_boundary_arn": "arn:aws:iam::111122223333:role/boundary"},
        ["permissions_boundary_arn"],
    ),
    ("HP130", {"slurm.multi_head": HEADS}, []),
    (
        "HP130",
        {"slurm.multi_head": replace(HEADS, slurm_sns_arn=SECRET, slurm_database_secret_arn="slurm")},
        ["slurm.multi_head.slurm_database_secret_arn", "slurm.multi_head.slurm_sns_arn"],
    ),
    ("HP131", {"network": THERE}, []),
    *(
        (
            "HP131",
            {
                "slurm.accounting_database": AccountingDatabase(
                    endpoint="db", secret_arn=SECRET, security_group_id=group_id
                )
            },
            paths,
        )
        for group_id, paths in (
            (None, []),
            ("sg-0123456789abcdef0", []),
            (TEXT_TOKEN, []),
            ("database", ["slurm.accounting_database.security_group_id"]),
        )
    ),
    ("HP131", {"network": THERE, "network.existing.vpc_id": TEXT_TOKEN}, []),
    (
        "HP131",
        {
            "network": THERE,
            "network.existing.vpc_id": "subnet-1",
            "network.existing.subnets[0].subnet_id": "sg-1",
            "network.existing.subnets[0].route_table_id": "acl-1",
            "network.existing.security_group_ids": ("subnet-1",),
        },
        [
            "network.existing.vpc_id",
            "network.existing.subnets[0].subnet_id",
            "network.existing.subnets[0].route_table_id",
            "network.existing.security_group_ids[0]",
        ],
    ),
    (
        "HP131",
        {"login.override_vpc_config": OverrideVpcConfig(subnet_ids=("sg-1",), security_group_ids=("x",))},
        ["login.override_vpc_config.subnet_ids[0]", "login.override_vpc_config.security_group_ids[0]"],
    ),
    ("HP133", {"kms_key_arn": KEY, "region": "us-west-2"}, []),
    ("HP133", {"kms_key_arn": KEY, "region": None}, []),
    ("HP133", {"kms_key_arn": KEY, "region": TEXT_TOKEN}, []),
    ("HP133", {"kms_key_arn": TEXT_TOKEN}, []),
    ("HP133", {"kms_key_arn": KEY.replace("us-west-2", "us-east-1")}, ["kms_key_arn"]),
    ("HP133", {"compute.training_plan_arn": PLAN.replace("west", "east")}, ["compute.training_plan_arn"]),
    (
        "HP133",
        {"compute.root_volume": EbsVolume(volume_kms_key_id=KEY.replace("us-west-2", "eu-west-1"))},
        ["compute.root_volume.volume_kms_key_id"],
    ),
    ("HP133", {"kms_key_arn": "1234abcd-12ab-34cd-56ef-1234567890ab"}, []),
    ("HP134", {"kms_key_arn": KEY}, []),
    ("HP134", {"region": "us-gov-west-1", "kms_key_arn": KEY.replace("arn:aws:", "arn:aws-us-gov:")}, []),
    ("HP134", {"region": "us-gov-west-1", "kms_key_arn": KEY}, ["kms_key_arn"]),
    ("HP134", {"region": "cn-north-1", "login.execution_role_arn": ROLE}, ["login.execution_role_arn"]),
    ("HP134", {"login.execution_role_arn": ROLE.replace("aws:", "aws-cn:")}, ["login.execution_role_arn"]),
    (
        "HP134",
        {
            "region": "us-gov-west-1",
            "slurm.multi_head": HEADS,
            "slurm.accounting_database": AccountingDatabase(endpoint="db", secret_arn=SECRET),
            "compute.training_plan_arn": PLAN,
        },
        [
            "slurm.multi_head.slurm_database_secret_arn",
            "slurm.multi_head.slurm_sns_arn",
            "compute.training_plan_arn",
            "slurm.accounting_database.secret_arn",
        ],
    ),
    ("HP134", {"region": None, "kms_key_arn": KEY.replace("arn:aws:", "arn:aws-cn:")}, []),
    ("HP134", {"region": TEXT_TOKEN, "kms_key_arn": KEY}, []),
    ("HP134", {"region": "cn-north-1", "kms_key_arn": TEXT_TOKEN}, []),
    ("HP132", {"lifecycle.extra_files": "lifecycle_scripts"}, []),
    ("HP132", {"lifecycle.extra_files": "no-such-folder"}, ["lifecycle.extra_files"]),
    ("HP132", {"lifecycle.extra_files": "pyproject.toml"}, ["lifecycle.extra_files"]),
    ("HP132", {"lifecycle.extra_files": TEXT_TOKEN}, []),
    # volumes and images
    ("HP120", {"compute.root_volume": EbsVolume(volume_kms_key_id=KEY)}, []),
    ("HP120", {"compute.root_volume": EbsVolume(volume_kms_key_id=TEXT_TOKEN)}, []),
    ("HP120", {"compute.root_volume": EbsVolume()}, ["compute.root_volume.volume_kms_key_id"]),
    (
        "HP120",
        {"compute.root_volume": EbsVolume(volume_kms_key_id=KEY, volume_size_in_gb=200)},
        ["compute.root_volume.volume_size_in_gb"],
    ),
    ("HP121", {"compute.secondary_volume": EbsVolume(volume_size_in_gb=1)}, []),
    ("HP121", {"compute.secondary_volume": EbsVolume(volume_size_in_gb=NUMBER_TOKEN)}, []),  # type: ignore[arg-type]
    (
        "HP121",
        {"compute.secondary_volume": EbsVolume(volume_kms_key_id=KEY)},
        ["compute.secondary_volume.volume_size_in_gb"],
    ),
    ("HP122", {"compute.root_volume": EbsVolume(volume_kms_key_id=KEY)}, []),
    (
        "HP122",
        {**ALL_AT_ONCE, "compute.root_volume": EbsVolume(volume_kms_key_id=KEY)},
        ["compute.root_volume.volume_kms_key_id"],
    ),
    ("HP122", {**ALL_AT_ONCE, "compute.secondary_volume": EbsVolume(volume_size_in_gb=5)}, []),
    (
        "HP122",
        {
            "cluster.node_provisioning_mode": TEXT_TOKEN,
            "compute.root_volume": EbsVolume(volume_kms_key_id=KEY),
        },
        [],
    ),
    ("HP124", {"compute.root_volume": EbsVolume(volume_kms_key_id=KEY)}, []),
    ("HP124", {"compute.root_volume": EbsVolume(volume_kms_key_id=TEXT_TOKEN)}, []),
    (
        "HP124",
        {"compute.root_volume": EbsVolume(volume_kms_key_id="alias/mine")},
        ["compute.root_volume.volume_kms_key_id"],
    ),
    (
        "HP124",
        {
            "compute.secondary_volume": EbsVolume(
                volume_size_in_gb=1, volume_kms_key_id=KEY.replace(":key/", ":alias/")
            )
        },
        ["compute.secondary_volume.volume_kms_key_id"],
    ),
    (
        "HP124",
        {
            "compute.root_volume": EbsVolume(volume_kms_key_id="alias/mine"),
            "compute.execution_role_arn": ROLE,
        },
        [],
    ),
    ("HP123", {"compute.image_id": "ami-0123456789abcdef0"}, []),
    ("HP123", {"compute.image_id": "default", "compute.image_release_version": "1.2.3"}, []),
    ("HP123", {"compute.image_release_version": TEXT_TOKEN}, []),
    (
        "HP123",
        {"compute.image_id": "ami-0123456789abcdef0", "compute.image_release_version": "1.2.3"},
        ["compute.image_release_version"],
    ),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_rule(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


def test_base_is_faultless_and_removal_works() -> None:
    assert findings(BASE, "HP100") == []
    assert list(changed({"home": REMOVED}).storage) == ["scratch"]
