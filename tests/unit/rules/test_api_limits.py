"""HP100 knows every limit of every member of the request: what the API refuses, and nothing else."""

from typing import Any

import pytest

from hyperpod_cdk.rules import check, errors
from hyperpod_cdk.spec import (
    AccountingDatabase,
    BatchSize,
    BatchSizeType,
    CapacityType,
    DeepHealthCheck,
    EbsVolume,
    ExistingNetwork,
    ExistingSubnet,
    LifeCycleConfig,
    Mount,
    Network,
    NetworkInterfaceType,
    OverrideVpcConfig,
    RollingUpdatePolicy,
    ScheduledUpdateConfig,
    UpdateDeploymentConfig,
)
from tests.unit.rules.members import CARRIED, NOT_CARRIED, ON_EKS, leaves, refused_values, taken_values
from tests.unit.rules.requests import refusals, request_of
from tests.unit.rules.specs import changed, full_path

# open sets, which other rules look at: a type born tomorrow, and a mode that the request leaves out
OPEN = {"compute.instance_type": "HP111", "cluster.node_provisioning_mode": None}
LIMITS = ("HP004", "HP005", "HP006", "HP100")
KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
SECRET = "arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf"
DNS = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
BATCH = BatchSize(type=BatchSizeType.INSTANCE_COUNT, value=1)

FULL = changed(
    {
        "cluster.cluster_name": "full",
        "cluster.tags": {"Project": "x"},
        "slurm.accounting_database": AccountingDatabase(endpoint="db", secret_arn=SECRET, port=1, name="a"),
        "network": Network(
            existing=ExistingNetwork(
                vpc_id="vpc-1",
                vpc_cidr="10.0.0.0/16",
                subnets=(ExistingSubnet(subnet_id="subnet-1", availability_zone_id="usw2-az4"),),
                security_group_ids=("sg-1",),
            )
        ),
        "login.life_cycle_config": LifeCycleConfig(source_s3_uri="s3://b/p/", on_create="a.sh"),
        "login.image_id": "ami-0123456789abcdef0",
        "compute.min_instance_count": 1,
        "compute.execution_role_arn": "arn:aws:iam::111122223333:role/Nodes",
        "compute.life_cycle_config": LifeCycleConfig(source_s3_uri="s3://b/p/", on_init_complete="a.sh"),
        "compute.threads_per_core": 1,
        "compute.root_volume": EbsVolume(volume_kms_key_id=KEY),
        "compute.secondary_volume": EbsVolume(volume_size_in_gb=1),
        "compute.mounts": (
            Mount(file_system_type="LUSTRE", dns_name=DNS, mount_name="a", mount_path="/fsx"),
            Mount(file_system_type="OPENZFS", dns_name=DNS, mount_path="/home"),
        ),
        "compute.on_start_deep_health_checks": (DeepHealthCheck.INSTANCE_STRESS,),
        "compute.training_plan_arn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large",
        "compute.override_vpc_config": OverrideVpcConfig(
            subnet_ids=("subnet-1",), security_group_ids=("sg-1",)
        ),
        "compute.scheduled_update_config": ScheduledUpdateConfig(
            schedule_expression="cron(0 3 ? * SUN *)",
            deployment_config=UpdateDeploymentConfig(
                rolling_update_policy=RollingUpdatePolicy(
                    maximum_batch_size=BATCH, rollback_maximum_batch_size=BATCH
                ),
                wait_interval_in_seconds=60,
                auto_rollback_alarm_names=("alarm",),
            ),
        ),
        "compute.image_release_version": "1.2.3",
        "compute.capacity_requirements": CapacityType.ON_DEMAND,
        "compute.network_interface": NetworkInterfaceType.EFA,
    }
)
SHAPES = dict(leaves())
REFUSED = [
    (member, value)
    for member, place in CARRIED.items()
    if member in SHAPES and place not in OPEN and member != "Tags"
    for value in refused_values(SHAPES[member])
]
TAKEN = [(member, value) for member in CARRIED if member in SHAPES for value in taken_values(SHAPES[member])]


def test_every_member_is_carried_or_has_a_reason() -> None:
    carried = {*CARRIED, *ON_EKS}
    whole = [one for one in NOT_CARRIED if not any(member.startswith(one) for member in carried)]
    left = {
        member
        for member in SHAPES
        if member not in (*carried, *NOT_CARRIED) and not member.startswith(tuple(whole))
    }
    assert not left
    assert carried <= {*SHAPES, "InstanceGroups[].CapacityRequirements"}
    assert not carried & set(NOT_CARRIED)


def test_the_full_spec_has_every_carried_member_and_is_taken() -> None:
    assert errors(check(FULL)) == []
    request = request_of(FULL)
    assert refusals(request) == []
    named = {*_paths(request)}
    assert {one for one in CARRIED if one not in named} == {
        # refused with Continuous provisioning
        "Orchestrator.Slurm.SlurmConfigStrategy",
    }


@pytest.mark.parametrize(("member", "value"), REFUSED, ids=str)
def test_what_the_api_refuses_is_told_where_it_stands(member: str, value: Any) -> None:
    place = CARRIED[member]
    spec = changed({place: value}, FULL)
    told = [finding.path for finding in errors(check(spec)) if finding.code in LIMITS]
    assert any(path.startswith(full_path(place)) for path in told)
    if value != "x" and not (member.endswith("MountPath") and not value):
        assert refusals(request_of(spec)), "the API takes the value; the table is wrong"


@pytest.mark.parametrize(("member", "value"), TAKEN, ids=str)
def test_the_limits_themselves_are_taken(member: str, value: Any) -> None:
    spec = changed({CARRIED[member]: value}, FULL)
    assert not [finding for finding in check(spec) if finding.code == "HP100"]


@pytest.mark.parametrize(
    "place",
    [
        "compute.instance_group_name",
        "compute.instance_type",
        "compute.instance_count",
        "compute.slurm_config.node_type",
        "slurm.accounting_database.endpoint",
        "slurm.accounting_database.secret_arn",
        "compute.life_cycle_config.source_s3_uri",
        "compute.scheduled_update_config.schedule_expression",
        "network.existing.security_group_ids",
    ],
)
def test_a_required_value_that_is_missing(place: str) -> None:
    told = {finding.path for finding in errors(check(changed({place: None}, FULL)))}
    assert full_path(place) in told


def _paths(value: Any, path: str = "") -> list[str]:
    if isinstance(value, dict):
        found = []
        for name, item in value.items():
            below = f"{path}.{name}" if path else name
            found += [below, *_paths(item, below)]
        return found
    return [one for item in value for one in _paths(item, f"{path}[]")] if isinstance(value, list) else []
