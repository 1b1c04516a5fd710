"""What a change of a deployed spec replaces, and what of it is refused."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from hyperpod_cdk.cluster.handler.cluster.policy import TABLE, Policy
from hyperpod_cdk.rules import RULES, Severity
from hyperpod_cdk.rules.changes import CHANGE_CHECKS, check_change
from hyperpod_cdk.rules.cluster_changes import GROUP_FIELDS
from hyperpod_cdk.spec import (
    CapacityType,
    EbsVolume,
    ExistingFileSystem,
    ExistingNetwork,
    ExistingSubnet,
    LustreDeploymentType,
    LustreFileSystem,
    LustreStorageType,
    Network,
    NodeType,
    OpenZfsDeploymentType,
    OverrideVpcConfig,
    RemovalPolicy,
)
from tests.unit.rules.specs import BASE, NUMBER_TOKEN, REMOVED, TEXT_TOKEN, changed, full_path

KEY = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
EFA = {"scratch.efa_enabled": True, "scratch.capacity_gib": 38400}
ZONES = "network.availability_zone_ids"
EXISTING = LustreFileSystem(
    existing=ExistingFileSystem(dns_name="fs-0a1b2c3d4e5f60001.fsx.us-west-2.amazonaws.com", mount_name="a")
)
DESTROYED = {"scratch.removal_policy": RemovalPolicy.DESTROY}

NAMELESS = {"cluster.cluster_name": None}
CIDR = "network.cidr"
SUBNETS = ("subnet-0a1b2c3d4e5f60001", "subnet-0a1b2c3d4e5f60002")


def within(*subnets: str, groups: Sequence[str] = ("sg-0a1b2c3d4e5f60001",)) -> dict[str, Any]:
    """Another place for everything, and no storage, whose zones would change too."""
    existing = ExistingNetwork(
        subnets=[ExistingSubnet(subnet_id=one) for one in subnets], security_group_ids=groups
    )
    return {"network": Network(existing=existing), "storage": {}}


# before, after, what is told of it: code and path
CASES: list[tuple[Mapping[str, Any], Mapping[str, Any], list[tuple[str, str]]]] = [
    ({}, {}, []),
    ({}, {"compute.instance_count": 8, "scratch.capacity_gib": 2400}, []),
    ({}, {"compute.instance_type": "ml.p5e.48xlarge"}, [("HP170", "compute.instance_type")]),
    ({}, {"compute.instance_type": TEXT_TOKEN}, []),
    ({}, {"compute.threads_per_core": 2}, [("HP170", "compute.threads_per_core")]),
    ({}, {"compute.threads_per_core": 1, "compute.capacity_requirements": CapacityType.ON_DEMAND}, []),
    (
        {},
        {"login.override_vpc_config": OverrideVpcConfig(availability_zone_id="usw2-az4")},
        [("HP170", "login.override_vpc_config")],
    ),
    (
        {},
        {"compute.root_volume": EbsVolume(volume_kms_key_id=KEY)},
        [("HP170", "compute.root_volume.volume_kms_key_id")],
    ),
    ({}, {"compute.secondary_volume": EbsVolume(volume_size_in_gb=500)}, []),
    ({}, {"login.slurm_config.node_type": NodeType.COMPUTE}, [("HP170", "login.slurm_config.node_type")]),
    ({}, {"compute.mounts[0].mount_path": "/data"}, [("HP172", "compute.mounts")]),
    ({"compute.instance_count": 0}, {"compute.mounts[0].mount_path": "/data"}, []),
    (
        {},
        {"compute.mounts[0].mount_path": "/data", "compute.instance_count": 0},
        [("HP176", "compute.instance_count")],
    ),
    # a group of another name is another group, and the nodes of the old one go
    (
        {},
        {"compute.instance_group_name": "h200", "compute.instance_type": "ml.p5e.48xlarge"},
        [("HP176", "cluster.instance_groups")],
    ),
    ({"compute.instance_count": 0}, {"compute.instance_group_name": "h200"}, []),
    ({}, {"compute.instance_group_name": TEXT_TOKEN}, []),
    ({"compute.instance_count": 4}, {"compute.instance_count": 4}, []),
    ({"compute.instance_count": 4}, {"compute.instance_count": 3}, [("HP176", "compute.instance_count")]),
    ({"compute.instance_count": NUMBER_TOKEN}, {"compute.instance_count": 3}, []),
    # of a new cluster every node is new, and the old one's are told of there
    (NAMELESS, {**NAMELESS, CIDR: "10.1.0.0/16", "compute.instance_count": 1}, [("HP173", "network")]),
    ({}, {"controller.instance_group_name": "head"}, [("HP171", "cluster.instance_groups")]),
    ({}, {"controller.instance_group_name": TEXT_TOKEN}, []),
    # the cluster itself
    ({}, {"cluster.cluster_name": "other"}, [("HP173", "cluster.cluster_name")]),
    ({}, {"cluster.cluster_name": TEXT_TOKEN}, []),
    ({}, {CIDR: "10.1.0.0/16"}, [("HP174", "network")]),
    ({}, {CIDR: TEXT_TOKEN}, []),
    (NAMELESS, {**NAMELESS, CIDR: "10.1.0.0/16"}, [("HP173", "network")]),
    # groups of a new cluster are new
    (NAMELESS, {**NAMELESS, CIDR: "10.1.0.0/16", "compute.threads_per_core": 2}, [("HP173", "network")]),
    (
        {},
        {CIDR: "10.1.0.0/16", "cluster.cluster_name": "other"},
        [("HP173", "cluster.cluster_name"), ("HP173", "network")],
    ),
    (NAMELESS, {**NAMELESS, ZONES: ("usw2-az4", "usw2-az1"), "network.flow_logs": False}, []),
    # subnets of zones that are added at the end, three in all, leave the first where it is
    ({}, {ZONES: ("usw2-az4", "usw2-az1", "usw2-az2")}, []),
    ({}, {ZONES: ("usw2-az4", "usw2-az1", "usw2-az2", "usw2-az3")}, [("HP175", "network")]),
    ({}, {ZONES: ("usw2-az4", "usw2-az1", "usw2-az2", TEXT_TOKEN)}, []),
    # 32 addresses a node: one more and they do not fit into a quarter of the range
    ({}, {"compute.instance_count": 509}, []),
    ({}, {"compute.instance_count": 510}, [("HP175", "network")]),
    ({}, {"compute.instance_count": NUMBER_TOKEN}, []),
    (within(*SUBNETS), within(*SUBNETS[::-1]), []),
    (within(*SUBNETS), within(*SUBNETS[:1]), [("HP174", "network")]),
    (within(*SUBNETS), within(*SUBNETS[:1], TEXT_TOKEN), []),
    (within(*SUBNETS), within(*SUBNETS, groups=["sg-0a1b2c3d4e5f60002"]), [("HP174", "network")]),
    # file systems
    ({}, {"kms_key_arn": KEY}, [("HP370", "home.kms_key_arn"), ("HP370", "scratch.kms_key_arn")]),
    ({"kms_key_arn": KEY}, {"kms_key_arn": KEY, "scratch.kms_key_arn": KEY}, []),
    (
        {},
        {ZONES: ("usw2-az1", "usw2-az4")},
        [
            ("HP174", "network"),
            ("HP175", "network"),
            ("HP370", "home.availability_zone_ids"),
            ("HP370", "scratch.availability_zone_id"),
        ],
    ),
    ({}, {ZONES: ("usw2-az4", "usw2-az1"), "scratch.availability_zone_id": "usw2-az4"}, []),
    ({}, {"home.record_size_kib": 64}, [("HP370", "home.record_size_kib")]),
    (
        {},
        {"home.deployment_type": OpenZfsDeploymentType.SINGLE_AZ_2},
        [("HP370", "home.deployment_type")],
    ),
    ({}, {"scratch.deployment_type": LustreDeploymentType.SCRATCH_2}, [("HP370", "scratch.deployment_type")]),
    ({}, {"scratch.deployment_type": TEXT_TOKEN}, []),
    (
        {},
        {"scratch.storage_type": LustreStorageType.INTELLIGENT_TIERING},
        [("HP371", "scratch.storage_type")],
    ),
    ({}, {"scratch.efa_enabled": True}, [("HP371", "scratch.efa_enabled")]),
    ({"scratch.capacity_gib": 4800}, {"scratch.capacity_gib": 4800}, []),
    ({"scratch.capacity_gib": 4800}, {"scratch.capacity_gib": 4799}, [("HP371", "scratch.capacity_gib")]),
    ({"scratch.capacity_gib": 4800}, {"scratch.capacity_gib": NUMBER_TOKEN}, []),
    ({"home.capacity_gib": 128}, {"home.capacity_gib": 64}, [("HP371", "home.capacity_gib")]),
    ({"scratch.file_system_type_version": "2.12"}, {}, []),
    (
        {},
        {"scratch.file_system_type_version": "2.12"},
        [("HP371", "scratch.file_system_type_version")],
    ),
    ({}, {"scratch.per_unit_storage_throughput": 1000}, []),
    (
        EFA,
        {**EFA, "scratch.per_unit_storage_throughput": 1000},
        [("HP371", "scratch.per_unit_storage_throughput")],
    ),
    (EFA, {**EFA, "scratch.per_unit_storage_throughput": 125}, []),
    ({"storage.spare": LustreFileSystem()}, {}, [("HP372", "storage")]),
    ({"storage.spare": EXISTING}, {}, []),
    ({"scratch": EXISTING}, {}, []),
]


@pytest.mark.parametrize(("before", "after", "told"), CASES)
def test_change(before: Mapping[str, Any], after: Mapping[str, Any], told: list[tuple[str, str]]) -> None:
    findings = check_change(changed(before), changed(after))
    assert [(one.code, one.path) for one in findings] == [(code, full_path(path)) for code, path in told]


@pytest.mark.parametrize(
    ("before", "said"),
    [({}, "the old one is kept beside it"), (DESTROYED, "the old one is deleted with its data")],
)
def test_what_becomes_of_the_data_is_told(before: Mapping[str, Any], said: str) -> None:
    (finding,) = check_change(changed(before), changed({**before, "scratch.kms_key_arn": KEY}))
    assert finding.severity is Severity.WARNING
    assert said in finding.message


def test_warnings_can_be_acknowledged_and_errors_not() -> None:
    after = replace(
        changed({"scratch.kms_key_arn": KEY, "login.threads_per_core": 2}), acknowledge=("HP370", "HP170")
    )
    assert [one.code for one in check_change(BASE, after)] == ["HP170"]


def test_a_removed_file_system_of_another_name_is_told_as_removed() -> None:
    renamed = changed({"home": REMOVED, "storage.homes": BASE.storage["home"]})
    assert [one.code for one in check_change(BASE, renamed)] == ["HP372"]


def test_what_is_fixed_for_a_group_is_what_the_handler_calls_so() -> None:
    members = TABLE["ClusterInstanceGroupSpecification"]
    fixed = {member for member, rule in members.items() if rule.policy is Policy.NEW_GROUP}
    # a choice of types is for Amazon EKS alone
    ours = {field.replace("_", "").removesuffix("arn") for field in GROUP_FIELDS}
    assert ours == {member.lower() for member in fixed - {"InstanceRequirements"}}


def test_codes_can_be_explained() -> None:
    of_eks = {f"HP59{number}" for number in range(8)}
    assert {one.rule.code for one in CHANGE_CHECKS} == {
        *("HP170", "HP171", "HP172", "HP173", "HP174", "HP175", "HP176", "HP370", "HP371", "HP372"),
        *of_eks,
    }
    assert all(RULES[one.rule.code] is one.rule for one in CHANGE_CHECKS)
