"""Rules of Spot, interfaces, scheduled updates (HP15x, HP16x) and roles (HP60x)."""

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.spec import (
    AccountingDatabase,
    BatchSize,
    BatchSizeType,
    BucketMount,
    CapacityType,
    Directory,
    Downloads,
    EbsVolume,
    LifeCycleConfig,
    LifecycleMode,
    Monitoring,
    NetworkInterfaceType,
    NodeProvisioningMode,
    NodeType,
    RollingUpdatePolicy,
    ScheduledUpdateConfig,
    UpdateDeploymentConfig,
)
from tests.unit.rules.specs import NUMBER_TOKEN, TEXT_TOKEN, changed, findings, full_path

MODE = "cluster.node_provisioning_mode"
ALL_AT_ONCE = {MODE: NodeProvisioningMode.ALL_AT_ONCE}
CAPACITY = "compute.capacity_requirements"
SPOT = {CAPACITY: CapacityType.SPOT}
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large"
INTERFACE = "compute.network_interface"
UPDATE = "compute.scheduled_update_config"
SUNDAYS = ScheduledUpdateConfig(schedule_expression="cron(0 3 ? * SUN *)")
SCHEDULE = f"{UPDATE}.schedule_expression"
POLICY = f"{UPDATE}.deployment_config.rolling_update_policy"
BATCH = BatchSize(type=BatchSizeType.CAPACITY_PERCENTAGE, value=50)
ROLLING = {
    UPDATE: replace(
        SUNDAYS,
        deployment_config=UpdateDeploymentConfig(
            rolling_update_policy=RollingUpdatePolicy(
                maximum_batch_size=BATCH, rollback_maximum_batch_size=BATCH
            )
        ),
    )
}
SIZE = f"{POLICY}.maximum_batch_size.value"
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
DATABASE = {"slurm.accounting_database": AccountingDatabase(endpoint="db", secret_arn=SECRET)}
ROLE = "arn:aws:iam::111122223333:role/Nodes"
OTHER = "arn:aws:iam::123456789012:role/Nodes"
LINKED = "arn:aws:iam::111122223333:role/aws-service-role/x.amazonaws.com/AWSServiceRoleForX"
COMPUTE_ROLE = "compute.execution_role_arn"
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"


def scripts(bucket: str) -> LifeCycleConfig:
    """Scripts of one's own in a bucket."""
    return LifeCycleConfig(source_s3_uri=f"s3://{bucket}/prefix/", on_create="a.sh")


SAGEMAKER = scripts("sagemaker-mine")
LOGIN = (NodeType.LOGIN,)
MOUNTED = (BucketMount(bucket="data", mount_path="/data"),)
DIRECTORY = Directory(
    domain="example.com",
    uris=("ldaps://ldap.example.com",),
    search_base="dc=example,dc=com",
    bind_dn="cn=reader",
    bind_password_secret_arn=SECRET,
)


ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP150", SPOT, []),
    ("HP150", {**ALL_AT_ONCE, **SPOT}, [CAPACITY]),
    ("HP150", {**ALL_AT_ONCE, CAPACITY: CapacityType.ON_DEMAND}, []),
    ("HP150", {MODE: TEXT_TOKEN, **SPOT}, []),
    ("HP151", SPOT, [CAPACITY]),
    ("HP151", {CAPACITY: CapacityType.ON_DEMAND}, []),
    ("HP151", {CAPACITY: TEXT_TOKEN}, []),
    ("HP152", SPOT, []),
    (
        "HP152",
        {"controller.capacity_requirements": CapacityType.SPOT},
        ["controller.capacity_requirements"],
    ),
    ("HP152", {"login.capacity_requirements": CapacityType.SPOT}, ["login.capacity_requirements"]),
    ("HP152", {"login.capacity_requirements": TEXT_TOKEN}, []),
    ("HP153", SPOT, []),
    ("HP153", {**SPOT, "compute.training_plan_arn": PLAN}, [CAPACITY]),
    ("HP153", {CAPACITY: TEXT_TOKEN, "compute.training_plan_arn": PLAN}, []),
    ("HP154", {INTERFACE: NetworkInterfaceType.EFA_ONLY}, []),
    ("HP154", {INTERFACE: NetworkInterfaceType.EFA, "compute.instance_type": "ml.g5.4xlarge"}, [INTERFACE]),
    ("HP154", {INTERFACE: NetworkInterfaceType.EFA, "compute.instance_type": "ml.g5.8xlarge"}, []),
    ("HP154", {INTERFACE: NetworkInterfaceType.EFA, "compute.instance_type": "ml.p9.48xlarge"}, []),
    ("HP154", {INTERFACE: NetworkInterfaceType.EFA, "compute.instance_type": TEXT_TOKEN}, []),
    ("HP160", ROLLING, []),
    ("HP160", {**ROLLING, SIZE: 100}, []),
    ("HP160", {**ROLLING, SIZE: 101}, [SIZE]),
    (
        "HP160",
        {**ROLLING, f"{POLICY}.rollback_maximum_batch_size": replace(BATCH, value=101)},
        [f"{POLICY}.rollback_maximum_batch_size.value"],
    ),
    (
        "HP160",
        {**ROLLING, f"{POLICY}.maximum_batch_size": BatchSize(type=BatchSizeType.INSTANCE_COUNT, value=101)},
        [],
    ),
    ("HP160", {**ROLLING, SIZE: NUMBER_TOKEN}, []),
    (
        "HP160",
        {
            "deployment.software_update": UpdateDeploymentConfig(
                rolling_update_policy=RollingUpdatePolicy(maximum_batch_size=replace(BATCH, value=101))
            )
        },
        ["deployment.software_update.rolling_update_policy.maximum_batch_size.value"],
    ),
    ("HP161", {UPDATE: SUNDAYS}, []),
    ("HP161", {UPDATE: SUNDAYS, SCHEDULE: "rate(7 days)"}, [SCHEDULE]),
    ("HP161", {UPDATE: SUNDAYS, SCHEDULE: "cron(0 3 * * SUN)"}, [SCHEDULE]),
    ("HP161", {UPDATE: SUNDAYS, SCHEDULE: "0 3 ? * SUN *"}, [SCHEDULE]),
    ("HP161", {UPDATE: SUNDAYS, SCHEDULE: TEXT_TOKEN}, []),
    ("HP162", {UPDATE: SUNDAYS}, []),
    ("HP162", {"controller.scheduled_update_config": SUNDAYS}, ["controller.scheduled_update_config"]),
    ("HP162", {"controller.scheduled_update_config": SUNDAYS, **DATABASE}, []),
    (
        "HP162",
        {"controller.scheduled_update_config": SUNDAYS, "controller.slurm_config.node_type": TEXT_TOKEN},
        [],
    ),
    ("HP163", {UPDATE: SUNDAYS}, []),
    ("HP163", {UPDATE: SUNDAYS, "compute.image_id": "default"}, []),
    ("HP163", {UPDATE: SUNDAYS, "compute.image_release_version": "1.2.3"}, [UPDATE]),
    ("HP163", {UPDATE: SUNDAYS, "compute.image_id": "ami-0123456789abcdef0"}, [UPDATE]),
    ("HP163", {UPDATE: SUNDAYS, "compute.image_id": TEXT_TOKEN}, []),
    ("HP600", {COMPUTE_ROLE: ROLE, "login.execution_role_arn": ROLE}, []),
    ("HP600", {COMPUTE_ROLE: OTHER, "login.execution_role_arn": ROLE}, [COMPUTE_ROLE]),
    ("HP600", {COMPUTE_ROLE: OTHER}, []),
    ("HP600", {COMPUTE_ROLE: TEXT_TOKEN, "login.execution_role_arn": ROLE}, []),
    ("HP601", {COMPUTE_ROLE: ROLE}, []),
    ("HP601", {COMPUTE_ROLE: LINKED}, [COMPUTE_ROLE]),
    ("HP601", {COMPUTE_ROLE: TEXT_TOKEN}, []),
    ("HP603", {}, []),
    ("HP603", {COMPUTE_ROLE: TEXT_TOKEN}, []),
    ("HP603", {COMPUTE_ROLE: ROLE}, [COMPUTE_ROLE]),
    ("HP603", {"login.execution_role_arn": ROLE, COMPUTE_ROLE: ROLE}, ["login.execution_role_arn"]),
    (
        "HP603",
        {"login.execution_role_arn": f"{ROLE}2", COMPUTE_ROLE: ROLE},
        ["login.execution_role_arn", COMPUTE_ROLE],
    ),
    ("HP602", {COMPUTE_ROLE: ROLE}, []),
    ("HP602", {COMPUTE_ROLE: ROLE, "compute.life_cycle_config": scripts("sagemaker-mine")}, []),
    ("HP602", {COMPUTE_ROLE: ROLE, "compute.life_cycle_config": scripts("mine")}, [COMPUTE_ROLE]),
    ("HP602", {"compute.life_cycle_config": scripts("mine")}, []),
    ("HP602", {COMPUTE_ROLE: ROLE, "compute.life_cycle_config": scripts(TEXT_TOKEN)}, []),
    ("HP602", {COMPUTE_ROLE: ROLE, "compute.root_volume": EbsVolume(volume_kms_key_id=KEY)}, [COMPUTE_ROLE]),
    ("HP602", {COMPUTE_ROLE: ROLE, **DATABASE}, []),
    ("HP602", {"controller.execution_role_arn": ROLE, **DATABASE}, ["controller.execution_role_arn"]),
    ("HP602", {COMPUTE_ROLE: ROLE, "kms_key_arn": KEY}, [COMPUTE_ROLE]),
    ("HP602", {COMPUTE_ROLE: ROLE, "kms_key_arn": KEY, "compute.lifecycle_mode": LifecycleMode.AMI}, []),
    ("HP602", {COMPUTE_ROLE: ROLE, "kms_key_arn": KEY, "compute.life_cycle_config": SAGEMAKER}, []),
    ("HP602", {COMPUTE_ROLE: ROLE, "lifecycle.directory": DIRECTORY}, [COMPUTE_ROLE]),
    ("HP602", {COMPUTE_ROLE: ROLE, "lifecycle.directory": replace(DIRECTORY, node_types=LOGIN)}, []),
    ("HP602", {COMPUTE_ROLE: ROLE, "lifecycle.monitoring": Monitoring(workspace_arn="x")}, [COMPUTE_ROLE]),
    ("HP602", {COMPUTE_ROLE: ROLE, "lifecycle.bucket_mounts": MOUNTED}, [COMPUTE_ROLE]),
    ("HP602", {COMPUTE_ROLE: ROLE, "lifecycle.downloads": Downloads(source="s3://b/c")}, [COMPUTE_ROLE]),
    ("HP602", {COMPUTE_ROLE: ROLE, "lifecycle.downloads": Downloads(source=TEXT_TOKEN)}, []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_rule(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


def test_all_that_a_role_needs_is_said_at_once() -> None:
    spec = changed(
        {
            **DATABASE,
            "controller.execution_role_arn": ROLE,
            "controller.life_cycle_config": scripts("mine"),
            "controller.root_volume": EbsVolume(volume_kms_key_id=KEY),
            "controller.slurm_config.node_type": NodeType.CONTROLLER,
        }
    )
    (found,) = [one for one in check(spec) if one.code == "HP602"]
    assert "s3:GetObject on mine, kms:CreateGrant" in found.message
    assert found.message.endswith("secretsmanager:GetSecretValue on the database's secret")
