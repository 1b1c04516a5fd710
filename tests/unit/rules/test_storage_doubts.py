"""Rules of file systems that warn, and of where they are mounted (HP32x, HP34x to HP36x)."""

from dataclasses import fields
from typing import Any

import pytest

from hyperpod_cdk.service.fsx import automatic_metadata_iops
from hyperpod_cdk.service.fsx_changes import CHANGES
from hyperpod_cdk.spec import (
    ExistingFileSystem,
    ExistingNetwork,
    ExistingSubnet,
    LustreDeploymentType,
    LustreFileSystem,
    LustreMetadata,
    LustreMetadataMode,
    LustreStorageType,
    Mount,
    Network,
    OpenZfsDeploymentType,
    OpenZfsFileSystem,
    RemovalPolicy,
)
from tests.unit.rules.specs import NUMBER_TOKEN, REMOVED, TEXT_TOKEN, changed, findings, full_path

TIERING = {"scratch.storage_type": LustreStorageType.INTELLIGENT_TIERING}
SCRATCH_1 = {"scratch.deployment_type": LustreDeploymentType.SCRATCH_1}
SCRATCH_2 = {"scratch.deployment_type": LustreDeploymentType.SCRATCH_2}
SINGLE_1 = {"home.deployment_type": OpenZfsDeploymentType.SINGLE_AZ_1}
HA_1 = {"home.deployment_type": OpenZfsDeploymentType.SINGLE_AZ_HA_1}
MULTI_AZ = {"home.deployment_type": OpenZfsDeploymentType.MULTI_AZ_1}
DESTROY = RemovalPolicy.DESTROY
EFA = {"scratch.efa_enabled": True}
THROUGHPUT, TIER = "scratch.throughput_capacity", "scratch.per_unit_storage_throughput"
METADATA, IOPS, CAPACITY = "scratch.metadata", "scratch.metadata.iops", "scratch.capacity_gib"
VERSION, TYPE, RANGE = (
    "scratch.file_system_type_version",
    "scratch.deployment_type",
    "home.endpoint_ip_address_range",
)
USER = LustreMetadata(mode=LustreMetadataMode.USER_PROVISIONED, iops=6000)
WITHOUT_HOME = {
    "home": REMOVED,
    **{f"{group}.mounts": (Mount(storage="scratch"),) for group in ("controller", "login", "compute")},
}
PATH, INNER = "compute.mounts[0].mount_path", "compute.mounts[1].mount_path"
HERE, THERE = (
    "fs-0a1b2c3d4e5f60001.fsx.us-west-2.amazonaws.com",
    "fs-0a1b2c3d4e5f60001.fsx.eu-west-1.amazonaws.com",
)
EXISTING = OpenZfsFileSystem(existing=ExistingFileSystem(dns_name=HERE))
DNS, ID = "home.existing.dns_name", "home.existing.file_system_id"
ONE_NAMED_SUBNET = Network(
    existing=ExistingNetwork(
        vpc_id="vpc-1",
        vpc_cidr="10.0.0.0/16",
        security_group_ids=("sg-1",),
        subnets=(
            ExistingSubnet(subnet_id="subnet-1", route_table_id="rtb-1", availability_zone_id="usw2-az4"),
        ),
    )
)

COUNT, TYPE_OF = "compute.instance_count", "compute.instance_type"
OUTSIDE = {
    "compute.mounts": (
        Mount(file_system_type="LUSTRE", dns_name=HERE, mount_name="abcdefgh", efa=True),
        Mount(storage="home"),
    )
}


def efa_nodes(count: Any, **changes: Any) -> dict[str, Any]:
    return {**EFA, COUNT: count, **changes}


ROWS: list[tuple[str, dict[str, Any], list[str]]] = [
    # EFA connections: 1024, and 8 a node of p5.48xlarge
    ("HP347", efa_nodes(128), []),
    ("HP347", efa_nodes(129), ["scratch"]),
    ("HP347", {COUNT: 129}, []),
    ("HP347", efa_nodes(NUMBER_TOKEN), []),
    ("HP347", {**efa_nodes(129), "scratch.efa_enabled": TEXT_TOKEN}, []),
    ("HP347", {**efa_nodes(129), TYPE_OF: TEXT_TOKEN}, []),
    ("HP347", {**efa_nodes(129), TYPE_OF: "ml.trn2.48xlarge"}, []),
    ("HP347", {**efa_nodes(512), TYPE_OF: "ml.g6e.48xlarge"}, []),
    ("HP347", {**efa_nodes(513), TYPE_OF: "ml.g6e.48xlarge"}, ["scratch"]),
    ("HP347", {**efa_nodes(65), TYPE_OF: "ml.p6-b300.48xlarge"}, ["scratch"]),
    ("HP347", {**efa_nodes(128), "login.instance_type": "ml.p5.4xlarge"}, ["scratch"]),
    ("HP347", {**efa_nodes(128), "login.instance_type": "ml.p5.4xlarge", "login.mounts": ()}, []),
    ("HP347", {**OUTSIDE, COUNT: 128}, []),
    ("HP347", {**OUTSIDE, COUNT: 129}, ["compute.mounts[0]"]),
    # Intelligent-Tiering, where the pages differ
    ("HP304", {**TIERING, THROUGHPUT: 1000}, []),
    ("HP304", {**TIERING, THROUGHPUT: 3000}, [THROUGHPUT]),
    ("HP305", {**TIERING, METADATA: USER, IOPS: 1500}, []),
    ("HP305", {**TIERING, METADATA: USER, IOPS: 9000}, [IOPS]),
    ("HP340", {**TIERING, THROUGHPUT: 4000, METADATA: USER}, []),
    ("HP340", {**TIERING, METADATA: USER, IOPS: 12000}, []),
    ("HP340", {**TIERING, THROUGHPUT: 1000}, [THROUGHPUT]),
    ("HP340", {**TIERING, THROUGHPUT: 2000}, [THROUGHPUT]),
    ("HP340", {**TIERING, METADATA: USER, IOPS: 24000}, [IOPS]),
    ("HP340", {**TIERING, METADATA: LustreMetadata()}, [f"{METADATA}.mode"]),
    ("HP340", {**TIERING, METADATA: USER, IOPS: NUMBER_TOKEN}, []),
    ("HP340", {**TIERING, METADATA: USER, IOPS: 6000}, []),
    ("HP340", {**TIERING, METADATA: USER, IOPS: 6001}, [IOPS]),
    ("HP340", {METADATA: LustreMetadata()}, []),
    ("HP311", {**TIERING, **EFA, THROUGHPUT: 4000}, []),
    ("HP311", {**TIERING, **EFA, THROUGHPUT: 2000}, [THROUGHPUT]),
    # metadata below what the capacity brings
    ("HP341", {METADATA: USER, CAPACITY: 9600}, []),
    ("HP341", {METADATA: USER, CAPACITY: 9600, IOPS: 5999}, [IOPS]),
    ("HP341", {METADATA: USER, CAPACITY: 12000}, [IOPS]),
    ("HP341", {METADATA: USER, CAPACITY: NUMBER_TOKEN}, []),
    ("HP341", {**TIERING, METADATA: USER, CAPACITY: 12000}, []),
    # EFA
    ("HP342", {**EFA, TIER: 1000}, []),
    ("HP342", EFA, [TIER]),
    ("HP342", {**EFA, **TIERING}, []),
    ("HP342", {"scratch.efa_enabled": TEXT_TOKEN}, []),
    ("HP343", EFA, []),
    ("HP343", {**EFA, "compute.instance_type": "ml.c5.18xlarge"}, ["scratch"]),
    ("HP343", {**EFA, "compute.instance_type": "ml.trn2.48xlarge"}, ["scratch"]),
    ("HP343", {**EFA, "compute.instance_type": "ml.g6e.48xlarge"}, []),
    ("HP343", {**EFA, "compute.instance_type": "ml.p9.48xlarge"}, []),
    ("HP343", {**EFA, "compute.instance_type": TEXT_TOKEN}, []),
    ("HP344", {VERSION: "2.15"}, []),
    ("HP344", {VERSION: "2.12"}, [VERSION]),
    ("HP344", {VERSION: TEXT_TOKEN}, []),
    ("HP346", {TIER: 1000, CAPACITY: 4800}, ["scratch.efa_enabled"]),
    ("HP346", {TIER: 1000, CAPACITY: 4801}, []),
    ("HP346", {TIER: 1000, CAPACITY: 4800, **EFA}, []),
    ("HP346", {TIER: 500, CAPACITY: 4800}, []),
    ("HP346", {CAPACITY: 38400}, []),
    ("HP346", {TIER: 1000, CAPACITY: 4800, "compute.instance_type": "ml.g5.xlarge"}, []),
    ("HP346", {TIER: 1000, CAPACITY: NUMBER_TOKEN}, []),
    # Regions
    ("HP345", {"region": "us-east-1"}, []),
    ("HP345", {"region": "me-south-1"}, [TYPE]),
    ("HP345", {"region": "me-south-1", **SCRATCH_2}, []),
    ("HP345", {"region": "il-central-1", TIER: 250}, []),
    ("HP345", {"region": "il-central-1", TIER: 251}, [TIER]),
    ("HP345", {"region": "mx-central-1", TIER: 500}, [TIER]),
    ("HP345", {"region": "mx-central-1", **EFA}, ["scratch.efa_enabled"]),
    ("HP345", {"region": TEXT_TOKEN}, []),
    ("HP327", {"region": "us-east-1"}, []),
    ("HP327", {"region": "us-east-1", **HA_1}, ["home.deployment_type"]),
    ("HP327", {"region": "us-west-1", **HA_1}, []),
    ("HP327", {"region": "ap-southeast-3"}, ["home.deployment_type"]),
    ("HP327", {"region": "ap-southeast-3", **HA_1}, []),
    ("HP327", {"region": TEXT_TOKEN, **HA_1}, []),
    # OpenZFS
    ("HP322", {**MULTI_AZ, "network": ONE_NAMED_SUBNET}, ["home.deployment_type"]),
    (
        "HP322",
        {
            **MULTI_AZ,
            "network": ONE_NAMED_SUBNET,
            "network.existing.subnets[1]": ExistingSubnet(subnet_id="b", availability_zone_id="usw2-az1"),
        },
        [],
    ),
    (
        "HP322",
        {
            **MULTI_AZ,
            "network": ONE_NAMED_SUBNET,
            "network.existing.subnets[1]": ExistingSubnet(subnet_id="b"),
        },
        [],
    ),
    ("HP326", {"home.disk_iops": 400_000}, []),
    ("HP326", {"home.disk_iops": 400_001}, ["home.disk_iops"]),
    ("HP326", {**SINGLE_1, "home.disk_iops": 200_000}, []),
    ("HP326", {**SINGLE_1, "home.disk_iops": 200_001}, ["home.disk_iops"]),
    ("HP326", {"home.disk_iops": NUMBER_TOKEN}, []),
    ("HP328", {**MULTI_AZ, RANGE: "198.19.255.0/28"}, []),
    ("HP328", {**MULTI_AZ, RANGE: "10.0.255.0/28"}, [RANGE]),
    ("HP328", {**MULTI_AZ, RANGE: "10.0.255.0/28", "network": ONE_NAMED_SUBNET}, []),
    ("HP328", {**MULTI_AZ, RANGE: TEXT_TOKEN}, []),
    # data that a change would cost
    ("HP350", {}, []),
    ("HP350", {"scratch.removal_policy": DESTROY}, ["scratch.removal_policy"]),
    ("HP350", {"home.removal_policy": DESTROY}, ["home.removal_policy"]),
    ("HP350", {"home.removal_policy": TEXT_TOKEN}, []),
    ("HP351", SCRATCH_2, []),
    ("HP351", {**SCRATCH_2, **WITHOUT_HOME}, ["scratch"]),
    ("HP351", WITHOUT_HOME, []),
    ("HP351", {**WITHOUT_HOME, "scratch.deployment_type": TEXT_TOKEN}, []),
    ("HP352", SCRATCH_2, []),
    ("HP352", SCRATCH_1, [TYPE]),
    ("HP352", {TYPE: TEXT_TOKEN}, []),
    # where file systems are mounted
    ("HP360", {PATH: "/data"}, []),
    ("HP360", {PATH: "/opt/datasets"}, []),
    ("HP360", {PATH: "/homes"}, []),
    ("HP360", {PATH: "/"}, [PATH]),
    ("HP360", {PATH: "/etc/"}, [PATH]),
    ("HP360", {PATH: "/usr/local/data"}, [PATH]),
    ("HP360", {PATH: "/opt/slurm/etc"}, [PATH]),
    ("HP360", {PATH: "/opt"}, [PATH]),
    ("HP360", {PATH: "/opt/sagemaker"}, [PATH]),
    ("HP360", {PATH: TEXT_TOKEN}, []),
    ("HP361", {PATH: "/home2"}, []),
    ("HP361", {INNER: "/fsx/home"}, [INNER]),
    ("HP361", {INNER: TEXT_TOKEN}, []),
    ("HP362", {"home": EXISTING}, []),
    ("HP362", {"home": EXISTING, DNS: THERE}, [DNS]),
    ("HP362", {"home": EXISTING, DNS: TEXT_TOKEN}, []),
    ("HP362", {"home": EXISTING, DNS: THERE, "region": None}, []),
    (
        "HP362",
        {"compute.mounts[1]": Mount(file_system_type="OPENZFS", dns_name=THERE)},
        ["compute.mounts[1].dns_name"],
    ),
    ("HP363", {"home": EXISTING, ID: "fs-0a1b2c3d4e5f60001"}, []),
    ("HP363", {"home": EXISTING, ID: "fs-0a1b2c3d4e5f60002"}, [ID]),
    ("HP363", {"home": EXISTING, ID: TEXT_TOKEN}, []),
    # acknowledgements
    ("HP109", {"acknowledge": ("HP223",)}, []),
    ("HP109", {"acknowledge": ("HP904",)}, []),
    ("HP109", {"acknowledge": ("HP223", "HP301")}, ["acknowledge[1]"]),
    ("HP109", {"acknowledge": ("hp223",)}, ["acknowledge[0]"]),
    ("HP109", {"acknowledge": (TEXT_TOKEN,)}, []),
]


@pytest.mark.parametrize(("code", "changes", "paths"), ROWS)
def test_rule(code: str, changes: dict[str, Any], paths: list[str]) -> None:
    assert findings(changed(changes), code) == [full_path(path) for path in paths]


@pytest.mark.parametrize(
    ("capacity", "iops"),
    [
        *[(1200, 1500), (2400, 3000), (4800, 6000), (9600, 6000), (12000, 12000), (45600, 12000)],
        *[(48000, 24000), (72000, 36000)],
    ],
)
def test_iops_of_mode_automatic(capacity: int, iops: int) -> None:
    assert automatic_metadata_iops(capacity) == iops


@pytest.mark.parametrize("kind", CHANGES)
def test_changes_are_of_fields_that_exist(kind: type[LustreFileSystem]) -> None:
    assert set(CHANGES[kind]) <= {field.name for field in fields(kind)}


def test_the_warning_names_what_replaces() -> None:
    from hyperpod_cdk.rules import check  # noqa: PLC0415

    (finding,) = check(changed({"scratch.removal_policy": DESTROY}))
    assert finding.message == (
        "deletes the data when one of these changes: availability_zone_id, kms_key_arn, deployment_type, "
        "copy_tags_to_backups"
    )
    assert LustreFileSystem().removal_policy is RemovalPolicy.RETAIN
