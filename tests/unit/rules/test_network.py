"""Rules of the network and its zones (HP2xx)."""

from dataclasses import replace
from typing import Any

import pytest

from hyperpod_cdk.rules import check
from hyperpod_cdk.spec import (
    AccountingDatabase,
    Directory,
    ExistingFileSystem,
    ExistingNetwork,
    ExistingSubnet,
    LifeCycleConfig,
    LustreFileSystem,
    Mount,
    MultiHead,
    NatGateways,
    Network,
    OpenZfsDeploymentType,
    OverrideVpcConfig,
)
from tests.unit.rules.specs import (
    BASE,
    LIST_TOKEN,
    NUMBER_TOKEN,
    REMOVED,
    TEXT_TOKEN,
    changed,
    findings,
    full_path,
)

EXISTING = Network(
    existing=ExistingNetwork(
        vpc_id="vpc-0a1b2c3d",
        vpc_cidr="10.20.0.0/16",
        subnets=(
            ExistingSubnet(subnet_id="subnet-1", availability_zone_id="usw2-az4", route_table_id="rtb-1"),
            ExistingSubnet(subnet_id="subnet-2", availability_zone_id="usw2-az1", route_table_id="rtb-2"),
        ),
        security_group_ids=("sg-1",),
    )
)
THERE = {"network": EXISTING}
TWO_ZONES = {"network.availability_zone_ids": ("usw2-az4", "usw2-az1")}
ELSEWHERE = OverrideVpcConfig(availability_zone_id="usw2-az1")
ZONES = "network.availability_zone_ids"
MULTI_AZ = {"home.deployment_type": OpenZfsDeploymentType.MULTI_AZ_1}

CLOSED = {"network.nat_gateways": NatGateways.NONE}
DATABASE = AccountingDatabase(
    endpoint="db.example.com", secret_arn="arn:aws:secretsmanager:us-west-2:111122223333:secret:db-AbCdEf"
)
DIRECTORY = Directory(
    domain="example.com", uris=("ldaps://ldap.example.com",), search_base="dc=example,dc=com"
)
SCRIPTS = LifeCycleConfig(source_s3_uri="s3://bucket/scripts/", on_create="a.sh")
HEADS = MultiHead(
    slurm_database_secret_arn="arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
    slurm_database_endpoint="db.example.com",
    slurm_shared_directory="/fsx",
    slurm_database_user="slurm",
    slurm_sns_arn="arn:aws:sns:us-west-2:111122223333:failover",
)
DNS = "fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com"
LUSTRE = Mount(file_system_type="LUSTRE", dns_name=DNS, mount_name="abcdefgh")
OLD = LustreFileSystem(existing=ExistingFileSystem(dns_name=DNS, mount_name="abcdefgh"))
NO_NODES: dict[str, Any] = {
    "controller.instance_count": 0,
    "login.instance_count": 0,
    "compute.instance_count": 0,
}
NO_MOUNTS: dict[str, Any] = {"controller.mounts": (), "login.mounts": (), "compute.mounts": ()}
PLAN = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/large"
SECOND = "cluster.instance_groups[3]"
PARTITION = "slurm_config.partition_names[0]"
P5 = replace(BASE.cluster.instance_groups[2], instance_group_name="second")

ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("HP200", {}, []),
    ("HP200", {ZONES: ()}, [ZONES]),
    ("HP200", {ZONES: LIST_TOKEN}, []),
    ("HP200", THERE, []),
    ("HP201", THERE, []),
    ("HP201", {**THERE, "network.cidr": "10.1.0.0/16"}, ["network.cidr"]),
    ("HP201", {**THERE, ZONES: ["usw2-az4"]}, [ZONES]),
    ("HP201", {**THERE, ZONES: []}, []),
    ("HP201", {**THERE, "network.existing.vpc_id": TEXT_TOKEN}, []),
    ("HP202", {"network.cidr": "10.0.0.0/28"}, []),
    ("HP202", {"network.cidr": "10.0.0.0/29"}, ["network.cidr"]),
    ("HP202", {"network.cidr": "10.0.0.0/15"}, ["network.cidr"]),
    ("HP202", {"network.cidr": "10.0.0.1/16"}, ["network.cidr"]),
    ("HP202", {"network.cidr": "ten"}, ["network.cidr"]),
    ("HP202", {"network.cidr": TEXT_TOKEN}, []),
    ("HP202", {"network.cidr": "127.0.0.0/16"}, ["network.cidr"]),
    ("HP202", {"network.cidr": "169.254.0.0/16"}, ["network.cidr"]),
    ("HP202", {"network.cidr": "224.0.0.0/16"}, ["network.cidr"]),
    ("HP202", {"network.cidr": "0.0.0.0/16"}, ["network.cidr"]),
    ("HP202", {"network.cidr": "100.64.0.0/16"}, []),
    ("HP202", {"network.cidr": "8.8.0.0/16"}, []),
    ("HP202", {**THERE, "network.existing.vpc_cidr": "10.0.0.0/33"}, ["network.existing.vpc_cidr"]),
    ("HP202", {**THERE, "network.existing.vpc_cidr": None}, []),
    # 4 p5 nodes take 128 addresses, controller and login 2: a /24 with the reserve, and public subnets
    ("HP203", {"network.cidr": "10.0.0.0/23"}, []),
    ("HP203", {"network.cidr": "10.0.0.0/24"}, ["network.cidr"]),
    ("HP203", {"compute.instance_count": 1000, "network.cidr": "10.0.0.0/16"}, []),
    ("HP203", {"compute.instance_count": 1100, "network.cidr": "10.0.0.0/16"}, ["network.cidr"]),
    ("HP203", {"compute.instance_count": NUMBER_TOKEN, "network.cidr": "10.0.0.0/24"}, []),
    # a zone without nodes: a private subnet of 16 and a public one
    ("HP203", {**NO_NODES, "network.cidr": "10.0.0.0/27"}, []),
    ("HP203", {**NO_NODES, "network.cidr": "10.0.0.0/28"}, ["network.cidr"]),
    ("HP203", {"network.cidr": TEXT_TOKEN}, []),
    (
        "HP203",
        {
            "compute.override_vpc_config": OverrideVpcConfig(subnet_ids=("subnet-1",)),
            "network.cidr": "10.0.0.0/24",
        },
        [],
    ),
    ("HP204", THERE, []),
    ("HP204", {**THERE, "network.existing.vpc_id": None}, ["network.existing.vpc_id"]),
    ("HP204", {**THERE, "network.existing.vpc_id": None, "home": REMOVED}, ["network.existing.vpc_id"]),
    ("HP204", {**THERE, "network.existing.vpc_id": None, "scratch": REMOVED}, ["network.existing.vpc_id"]),
    ("HP204", {**THERE, "network.existing.vpc_id": None, "scratch": REMOVED, "home": REMOVED}, []),
    ("HP204", {**THERE, "network.existing.vpc_cidr": None}, ["network.existing.vpc_cidr"]),
    ("HP204", {**THERE, "network.existing.vpc_cidr": None, "home": REMOVED}, []),
    ("HP204", {**THERE, "network.existing.vpc_id": TEXT_TOKEN}, []),
    ("HP204", {**THERE, **MULTI_AZ}, []),
    (
        "HP204",
        {**THERE, **MULTI_AZ, "network.existing.subnets[1].route_table_id": None},
        ["network.existing.subnets[1].route_table_id"],
    ),
    ("HP205", TWO_ZONES, []),
    ("HP205", {ZONES: ("usw2-az4", "usw2-az4")}, [f"{ZONES}[1]"]),
    ("HP205", {ZONES: (TEXT_TOKEN, TEXT_TOKEN)}, []),
    (
        "HP205",
        {**THERE, "network.existing.subnets[1].subnet_id": "subnet-1"},
        ["network.existing.subnets[1]"],
    ),
    (
        "HP205",
        {
            "login.override_vpc_config": OverrideVpcConfig(
                subnet_ids=("subnet-a",), security_group_ids=("sg-b", "sg-b")
            )
        },
        ["login.override_vpc_config.security_group_ids[1]"],
    ),
    ("HP206", {"login.override_vpc_config": ELSEWHERE}, []),
    ("HP206", {"login.override_vpc_config": OverrideVpcConfig(security_group_ids=("sg-2",))}, []),
    ("HP206", {"login.override_vpc_config": OverrideVpcConfig()}, ["login.override_vpc_config"]),
    (
        "HP206",
        {"login.override_vpc_config": OverrideVpcConfig(availability_zone_id=TEXT_TOKEN, subnet_ids=("a",))},
        ["login.override_vpc_config.subnet_ids"],
    ),
    ("HP206", {"login.override_vpc_config": OverrideVpcConfig(subnet_ids=LIST_TOKEN)}, []),
    ("HP210", {**CLOSED}, []),
    ("HP210", {"lifecycle.extra_files": "lifecycle_scripts"}, []),
    ("HP210", {**CLOSED, "lifecycle.extra_files": "lifecycle_scripts"}, ["lifecycle.extra_files"]),
    ("HP210", {**CLOSED, "compute.life_cycle_config": SCRIPTS}, ["compute.life_cycle_config"]),
    ("HP210", {"network.nat_gateways": TEXT_TOKEN, "compute.life_cycle_config": SCRIPTS}, []),
    ("HP211", {"slurm.multi_head": HEADS}, []),
    ("HP211", CLOSED, []),
    ("HP211", {**CLOSED, "slurm.multi_head": HEADS}, ["slurm.multi_head"]),
    ("HP211", {"network.nat_gateways": TEXT_TOKEN, "slurm.multi_head": HEADS}, []),
    ("HP212", {}, []),
    (
        "HP212",
        {**THERE, "login.override_vpc_config": OverrideVpcConfig(security_group_ids=("sg-1", "sg-2"))},
        [],
    ),
    (
        "HP212",
        {**THERE, "login.override_vpc_config": OverrideVpcConfig(security_group_ids=("sg-2",))},
        ["login.override_vpc_config.security_group_ids"],
    ),
    (
        "HP212",
        {"login.override_vpc_config": OverrideVpcConfig(security_group_ids=("sg-2",))},
        ["login.override_vpc_config.security_group_ids"],
    ),
    (
        "HP212",
        {**THERE, "login.override_vpc_config": OverrideVpcConfig(security_group_ids=(TEXT_TOKEN,))},
        [],
    ),
    ("HP213", {"network.cidr": "172.16.0.0/16"}, []),
    ("HP213", {"network.cidr": "172.17.0.0/16"}, ["network.cidr"]),
    ("HP213", {**THERE, "network.existing.vpc_cidr": "172.16.0.0/12"}, ["network.existing.vpc_cidr"]),
    ("HP213", {"network.cidr": TEXT_TOKEN}, []),
    ("HP215", {"network.cidr": "172.31.0.0/16"}, []),
    ("HP215", {"network.cidr": "172.32.0.0/16"}, ["network.cidr"]),
    ("HP215", {"network.cidr": "100.64.0.0/16"}, []),
    ("HP215", {"network.cidr": "52.10.0.0/16"}, ["network.cidr"]),
    ("HP215", {"network.cidr": TEXT_TOKEN}, []),
    ("HP215", THERE, []),
    ("HP214", {}, []),
    ("HP214", {"slurm.accounting_database": DATABASE}, ["slurm.accounting_database.endpoint"]),
    ("HP214", {**THERE, "slurm.accounting_database": DATABASE}, []),
    ("HP214", {"slurm.accounting_database": replace(DATABASE, endpoint=TEXT_TOKEN)}, []),
    ("HP214", {"slurm.multi_head": HEADS}, ["slurm.multi_head.slurm_database_endpoint"]),
    ("HP214", {"lifecycle.directory": DIRECTORY}, ["lifecycle.directory.uris[0]"]),
    ("HP214", {**THERE, "lifecycle.directory": DIRECTORY}, []),
    ("HP224", {}, []),
    ("HP224", TWO_ZONES, []),
    ("HP224", THERE, ["controller", "login", "compute"]),
    ("HP224", {**THERE, "network.existing.subnets[1].availability_zone_id": "usw2-az4"}, []),
    ("HP224", {**THERE, "network.existing.subnets[1].availability_zone_id": None}, []),
    ("HP224", {**THERE, "network.existing.subnets[1].availability_zone_id": TEXT_TOKEN}, []),
    ("HP224", {**THERE, **NO_MOUNTS}, []),
    ("HP224", {**THERE, **NO_MOUNTS, **MULTI_AZ, "compute.mounts": (Mount(storage="home"),)}, []),
    ("HP224", {**THERE, **NO_MOUNTS, "compute.mounts": (LUSTRE,)}, []),
    ("HP224", {**THERE, **NO_MOUNTS, "scratch": OLD, "compute.mounts": (Mount(storage="scratch"),)}, []),
    ("HP224", {**THERE, **NO_MOUNTS, "compute.training_plan_arn": PLAN}, ["compute"]),
    (
        "HP224",
        {
            **THERE,
            **NO_MOUNTS,
            "compute.training_plan_arn": PLAN,
            "compute.override_vpc_config": OverrideVpcConfig(availability_zone_id="usw2-az4"),
        },
        [],
    ),
    (
        "HP224",
        {
            **THERE,
            **NO_MOUNTS,
            "compute.training_plan_arn": PLAN,
            "compute.override_vpc_config": OverrideVpcConfig(subnet_ids=("subnet-1", "subnet-2")),
        },
        ["compute.override_vpc_config"],
    ),
    (
        "HP224",
        {
            **THERE,
            **NO_MOUNTS,
            "compute.training_plan_arn": PLAN,
            "compute.override_vpc_config": OverrideVpcConfig(subnet_ids=("subnet-1",)),
        },
        [],
    ),
    ("HP225", {**TWO_ZONES, SECOND: P5}, []),
    ("HP225", {**TWO_ZONES, SECOND: replace(P5, override_vpc_config=ELSEWHERE)}, [f"{SECOND}.{PARTITION}"]),
    (
        "HP225",
        {**TWO_ZONES, SECOND: replace(P5, instance_type="ml.g5.xlarge", override_vpc_config=ELSEWHERE)},
        [],
    ),
    (
        "HP225",
        {**TWO_ZONES, SECOND: replace(P5, instance_type=TEXT_TOKEN, override_vpc_config=ELSEWHERE)},
        [],
    ),
    ("HP220", {ZONES: ("use1-az6", "usgw1-az1", "apse4-az1", "usw2-lax1-az1")}, []),
    ("HP220", {ZONES: ("us-west-2a",)}, [f"{ZONES}[0]"]),
    ("HP220", {ZONES: ("usw2-az",)}, [f"{ZONES}[0]"]),
    ("HP220", {ZONES: (TEXT_TOKEN,)}, []),
    ("HP220", {"scratch.availability_zone_id": "us-west-2b"}, ["scratch.availability_zone_id"]),
    ("HP220", {"home.availability_zone_ids": ("az1",)}, ["home.availability_zone_ids[0]"]),
    (
        "HP220",
        {**THERE, "network.existing.subnets[0].availability_zone_id": "us-west-2a"},
        ["network.existing.subnets[0].availability_zone_id"],
    ),
    ("HP221", {}, []),
    ("HP221", {ZONES: ("usw2-lax1-az1",)}, []),
    ("HP221", {ZONES: ("use1-az4",)}, [f"{ZONES}[0]"]),
    ("HP221", {"region": None, ZONES: ("use1-az4",)}, []),
    ("HP221", {"region": TEXT_TOKEN, ZONES: ("use1-az4",)}, []),
    ("HP221", {"region": "xx-moon-1", ZONES: ("use1-az4",)}, []),
    ("HP222", {**TWO_ZONES, "login.override_vpc_config": ELSEWHERE}, []),
    (
        "HP222",
        {"login.override_vpc_config": ELSEWHERE},
        ["login.override_vpc_config.availability_zone_id"],
    ),
    ("HP222", {ZONES: LIST_TOKEN, "login.override_vpc_config": ELSEWHERE}, []),
    ("HP222", {ZONES: (), "login.override_vpc_config": ELSEWHERE}, []),
    ("HP222", {"scratch.availability_zone_id": "usw2-az3"}, ["scratch.availability_zone_id"]),
    ("HP222", {**THERE, "login.override_vpc_config": ELSEWHERE}, []),
    (
        "HP222",
        {
            **THERE,
            "network.existing.subnets[1].availability_zone_id": None,
            "login.override_vpc_config": ELSEWHERE,
        },
        ["login.override_vpc_config.availability_zone_id"],
    ),
    ("HP223", {}, []),
    (
        "HP223",
        {**TWO_ZONES, "compute.override_vpc_config": ELSEWHERE},
        ["compute.mounts[0]", "compute.mounts[1]"],
    ),
    (
        "HP223",
        {**TWO_ZONES, **MULTI_AZ, "compute.override_vpc_config": ELSEWHERE},
        ["compute.mounts[0]"],
    ),
    (
        "HP223",
        {**TWO_ZONES, "compute.override_vpc_config": OverrideVpcConfig(availability_zone_id=TEXT_TOKEN)},
        [],
    ),
    (
        "HP223",
        {**TWO_ZONES, "compute.override_vpc_config": OverrideVpcConfig(subnet_ids=("subnet-1",))},
        [],
    ),
    ("HP223", {**THERE, "scratch.availability_zone_id": "usw2-az1"}, []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_rule(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


def test_the_range_that_would_do_is_offered() -> None:
    spec = changed({"compute.instance_count": 100, "network.cidr": "10.0.0.0/22"}, BASE)
    (finding,) = [finding for finding in check(spec) if finding.code == "HP203"]
    (offered,) = finding.nearest
    assert findings(changed({"network.cidr": offered}, spec), "HP203") == []
    assert finding.given == "10.0.0.0/22"
