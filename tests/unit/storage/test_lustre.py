"""LustreStorage in somebody else's stack."""

from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.network import ExistingHyperPodNetwork, HyperPodNetwork
from hyperpod_cdk.spec import (
    DataRepositoryAssociation,
    DataRepositoryEvent,
    ExistingSubnet,
    LustreDeploymentType,
    LustreFileSystem,
    LustreStorageType,
    NatGateways,
    RemovalPolicy,
)
from hyperpod_cdk.storage import LustreStorage

FILE_SYSTEM = "AWS::FSx::FileSystem"
KEY_ARN = "arn:aws:kms:us-west-2:111122223333:key/00000000-0000-0000-0000-000000000000"
OTHER_KEY = "arn:aws:kms:us-west-2:111122223333:key/11111111-1111-1111-1111-111111111111"


def existing_network(stack: cdk.Stack) -> ExistingHyperPodNetwork:
    """An existing network with one group of nodes, ``sg-nodes``."""
    return HyperPodNetwork.from_attributes(
        stack,
        "Network",
        subnets=[
            ExistingSubnet(subnet_id="subnet-4", availability_zone_id="usw2-az4"),
            ExistingSubnet(subnet_id="subnet-1", availability_zone_id="usw2-az1"),
        ],
        security_group_ids=["sg-nodes"],
        vpc_id="vpc-1",
    )


def storage(
    stack: cdk.Stack | None = None, *, encryption_key: kms.IKey | None = None, **fields: Any
) -> LustreStorage:
    """A file system in an existing network."""
    stack = stack or cdk.Stack()
    return LustreStorage(
        stack,
        "Lustre",
        network=existing_network(stack),
        file_system=LustreFileSystem(**fields),
        encryption_key=encryption_key,
    )


def template_of(made: LustreStorage) -> Template:
    """The template of the file system's stack."""
    return Template.from_stack(cdk.Stack.of(made))


def properties(made: LustreStorage) -> dict[str, Any]:
    """Properties of the one file system."""
    (resource,) = template_of(made).find_resources(FILE_SYSTEM).values()
    return dict(resource["Properties"])


def traffic(made: LustreStorage) -> set[tuple[str, str, str, str, int | None, int | None]]:
    """Rules as (direction, group, peer, protocol, first port, last port)."""
    template = template_of(made)
    servers = cdk.Stack.of(made).resolve(made.security_group.security_group_id)
    rules = set()
    for direction, peer_key in (
        ("Ingress", "SourceSecurityGroupId"),
        ("Egress", "DestinationSecurityGroupId"),
    ):
        for rule in template.find_resources(f"AWS::EC2::SecurityGroup{direction}").values():
            given = rule["Properties"]
            names = [
                "servers" if group == servers else str(group) for group in (given["GroupId"], given[peer_key])
            ]
            ports = (given["IpProtocol"], given.get("FromPort"), given.get("ToPort"))
            rules.add((direction, *names, *ports))
    return rules


def test_the_default_says_all_that_the_service_would_choose_badly() -> None:
    given = properties(storage())
    assert given["FileSystemTypeVersion"] == "2.15"
    assert given["StorageCapacity"] == 1200
    assert given["LustreConfiguration"] == {
        "DeploymentType": "PERSISTENT_2",
        "PerUnitStorageThroughput": 125,
        "DataCompressionType": "LZ4",
        "MetadataConfiguration": {"Mode": "AUTOMATIC"},
        "AutomaticBackupRetentionDays": 0,
        "CopyTagsToBackups": True,
    }


def test_tiering_is_asked_for_in_its_own_terms() -> None:
    given = properties(storage(storage_type=LustreStorageType.INTELLIGENT_TIERING))
    assert "StorageCapacity" not in given
    configuration = given["LustreConfiguration"]
    assert "PerUnitStorageThroughput" not in configuration
    assert configuration["ThroughputCapacity"] == 4000
    assert configuration["DataReadCacheConfiguration"] == {
        "SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"
    }
    assert configuration["MetadataConfiguration"] == {"Mode": "USER_PROVISIONED", "Iops": 6000}


def test_scratch_has_neither_backups_nor_a_key() -> None:
    stack = cdk.Stack()
    key = kms.Key.from_key_arn(stack, "Key", KEY_ARN)
    given = properties(storage(stack, encryption_key=key, deployment_type=LustreDeploymentType.SCRATCH_2))
    assert "KmsKeyId" not in given
    assert given["LustreConfiguration"] == {"DeploymentType": "SCRATCH_2", "DataCompressionType": "LZ4"}


@pytest.mark.parametrize(("own", "expected"), [(None, KEY_ARN), (OTHER_KEY, OTHER_KEY)])
def test_its_own_key_comes_before_the_general_one(own: str | None, expected: str) -> None:
    stack = cdk.Stack()
    key = kms.Key.from_key_arn(stack, "Key", KEY_ARN)
    assert properties(storage(stack, encryption_key=key, kms_key_arn=own))["KmsKeyId"] == expected


@pytest.mark.parametrize(
    ("zone", "subnet", "in_zone"), [(None, "subnet-4", "usw2-az4"), ("usw2-az1", "subnet-1", "usw2-az1")]
)
def test_it_lies_in_one_zone(zone: str | None, subnet: str, in_zone: str) -> None:
    made = storage(availability_zone_id=zone)
    assert properties(made)["SubnetIds"] == [subnet]
    assert made.availability_zone_id == in_zone


def test_an_unknown_zone_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConstructError, match=r"usw2-az9.*usw2-az4, usw2-az1"):
        storage(availability_zone_id="usw2-az9")


def test_clients_and_servers_talk_on_the_ports_of_lustre_both_ways() -> None:
    pairs = {("servers", "servers"), ("servers", "sg-nodes"), ("sg-nodes", "servers")}
    assert traffic(storage()) == {
        (direction, *pair, "tcp", *ports)
        for direction in ("Ingress", "Egress")
        for pair in pairs
        for ports in ((988, 988), (1018, 1023))
    }


def test_efa_asks_for_all_traffic_by_group_id() -> None:
    pairs = {("servers", "servers"), ("servers", "sg-nodes"), ("sg-nodes", "servers")}
    assert traffic(storage(efa_enabled=True)) == {
        (direction, *pair, "-1", None, None) for direction in ("Ingress", "Egress") for pair in pairs
    }


def test_it_is_created_after_every_rule_those_of_later_clients_included() -> None:
    stack = cdk.Stack()
    made = storage(stack)
    made.allow_from(ec2.SecurityGroup.from_security_group_id(stack, "Other", "sg-other"), "Other")
    template = template_of(made)
    rules = {
        name
        for direction in ("Ingress", "Egress")
        for name in template.find_resources(f"AWS::EC2::SecurityGroup{direction}")
    }
    (file_system,) = template.find_resources(FILE_SYSTEM).values()
    assert set(file_system["DependsOn"]) == rules
    assert {"sg-other", "sg-nodes"} < {str(rule[1]) for rule in traffic(made)}


def test_data_is_kept_with_what_it_can_not_do_without() -> None:
    stack = cdk.Stack()
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az4", "usw2-az1"])
    LustreStorage(stack, "Lustre", network=network)
    template = Template.from_stack(stack)
    template.has_resource(
        FILE_SYSTEM, {"DeletionPolicy": "RetainExceptOnCreate", "UpdateReplacePolicy": "Retain"}
    )
    resources = template.to_json()["Resources"].values()
    kept = sorted(r["Type"] for r in resources if r.get("DeletionPolicy") == "RetainExceptOnCreate")
    assert kept == [
        "AWS::EC2::SecurityGroup",
        *["AWS::EC2::SecurityGroupEgress"] * 2,
        *["AWS::EC2::SecurityGroupIngress"] * 2,
        "AWS::EC2::Subnet",
        "AWS::EC2::VPC",
        FILE_SYSTEM,
    ]


def test_destroying_is_asked_for() -> None:
    stack = cdk.Stack()
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az4"])
    LustreStorage(
        stack,
        "Lustre",
        network=network,
        file_system=LustreFileSystem(removal_policy=RemovalPolicy.DESTROY),
    )
    template = Template.from_stack(stack)
    template.has_resource(FILE_SYSTEM, {"DeletionPolicy": "Delete", "UpdateReplacePolicy": "Delete"})
    resources = template.to_json()["Resources"].values()
    assert not [
        resource for resource in resources if resource.get("DeletionPolicy") == "RetainExceptOnCreate"
    ]


def test_associations_are_made_one_at_a_time_and_touch_nothing_in_s3_unasked() -> None:
    made = storage(
        data_repository_associations=[
            DataRepositoryAssociation(data_repository_path="s3://data/a", file_system_path="/a"),
            DataRepositoryAssociation(
                data_repository_path="s3://data/b",
                file_system_path="/b",
                auto_import_events=(),
                auto_export_events=(DataRepositoryEvent.NEW,),
                batch_import_meta_data_on_create=False,
                imported_file_chunk_size_mib=512,
            ),
        ]
    )
    template = template_of(made)
    file_system_id = cdk.Stack.of(made).resolve(made.file_system_id)
    resources = template.find_resources("AWS::FSx::DataRepositoryAssociation")
    (first, one), (_, two) = sorted(resources.items())
    assert one["Properties"] == {
        "FileSystemId": file_system_id,
        "FileSystemPath": "/a",
        "DataRepositoryPath": "s3://data/a",
        "BatchImportMetaDataOnCreate": True,
        "S3": {"AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]}},
    }
    assert two["Properties"]["S3"] == {"AutoExportPolicy": {"Events": ["NEW"]}}
    assert two["Properties"]["ImportedFileChunkSize"] == 512
    assert two["DependsOn"] == [first]


@pytest.mark.parametrize(("efa", "endpoints"), [(True, 1), (False, 0)])
def test_nodes_without_internet_reach_fsx_where_they_ask_it_about_efa(efa: bool, endpoints: int) -> None:
    stack = cdk.Stack()
    network = HyperPodNetwork(
        stack, "Network", availability_zone_ids=["usw2-az4"], nat_gateways=NatGateways.NONE
    )
    LustreStorage(stack, "Lustre", network=network, file_system=LustreFileSystem(efa_enabled=efa))
    found = Template.from_stack(stack).find_resources(
        "AWS::EC2::VPCEndpoint",
        {"Properties": {"ServiceName": {"Fn::Join": ["", Match.array_with([".fsx"])]}}},
    )
    assert len(found) == endpoints


def test_a_mount_names_the_file_system_by_what_it_will_be() -> None:
    made = storage()
    mount = made.mount("/scratch")
    assert cdk.Stack.of(made).resolve([mount.dns_name, mount.mount_name]) == [
        {"Fn::GetAtt": [logical_id(made), "DNSName"]},
        {"Fn::GetAtt": [logical_id(made), "LustreMountName"]},
    ]
    assert (mount.file_system_type, mount.mount_path) == ("LUSTRE", "/scratch")


def logical_id(made: LustreStorage) -> str:
    """Logical id of the file system."""
    return str(cdk.Stack.of(made).resolve(made.file_system.logical_id))


def test_an_existing_file_system_is_mounted_alike() -> None:
    stack = cdk.Stack()
    made = LustreStorage.from_attributes(
        stack, "Lustre", dns_name="fs-0123456789abcdef0.fsx.us-west-2.amazonaws.com", mount_name="abcd"
    )
    assert made.file_system_id == "fs-0123456789abcdef0"
    mount = made.mount()
    assert (mount.file_system_type, mount.mount_name, mount.mount_path) == ("LUSTRE", "abcd", None)
    assert Template.from_stack(stack).to_json().get("Resources", {}) == {}


def test_the_id_of_an_existing_file_system_may_be_known_only_at_deployment() -> None:
    stack = cdk.Stack()
    name = cdk.CfnParameter(stack, "Name").value_as_string
    made = LustreStorage.from_attributes(stack, "Lustre", dns_name=name, mount_name="abcd")
    assert stack.resolve(made.file_system_id) == {"Fn::Select": [0, {"Fn::Split": [".", {"Ref": "Name"}]}]}
