"""HyperPodStack: one spec, everything wired."""

import json
from dataclasses import replace
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.checking import SpecError
from hyperpod_cdk.config import load
from hyperpod_cdk.service.zones import zone_prefix
from hyperpod_cdk.spec import (
    AccountingDatabase,
    HyperPodSpec,
    Orchestrator,
    OverrideVpcConfig,
    SlurmOrchestrator,
)
from hyperpod_cdk.stack import HyperPodStack

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def spec() -> HyperPodSpec:
    """The example with every kind of storage."""
    return load(ROOT / "clusters" / "slurm-gpu.yaml")


@pytest.fixture(scope="module")
def stack(spec: HyperPodSpec) -> HyperPodStack:
    """Its stack, shared by tests that only look."""
    return HyperPodStack(cdk.App(), "Example", spec=spec)


@pytest.fixture(scope="module")
def template(stack: HyperPodStack) -> Template:
    """The stack's template."""
    return Template.from_stack(stack)


def test_the_way_to_the_controller_is_an_output(template: Template) -> None:
    value = json.dumps(template.find_outputs("Connect"))
    assert "aws ssm start-session --region " in value
    assert "ControllerSsmTarget" in value


def test_the_file_systems_are_outputs(template: Template) -> None:
    assert set(template.find_outputs("*")) == {
        "ClusterName",
        "ClusterArn",
        "ClusterLogGroup",
        "Connect",
        "FileSystemScratch",
        "FileSystemHome",
        "VpcId",
        "NodeSecurityGroupId",
    }


def test_mounts_name_what_the_stack_makes(template: Template) -> None:
    """Field report 6: GetAtts, not ids put together by hand."""
    template.has_resource_properties(
        "Custom::HyperPodCluster",
        {
            "Request": {
                "InstanceGroups": Match.array_with(
                    [
                        Match.object_like(
                            {
                                "InstanceGroupName": "gpu",
                                "InstanceStorageConfigs": Match.array_with(
                                    [
                                        {
                                            "FsxLustreConfig": {
                                                "DnsName": {"Fn::GetAtt": [Match.any_value(), "DNSName"]},
                                                "MountName": {
                                                    "Fn::GetAtt": [Match.any_value(), "LustreMountName"]
                                                },
                                                "MountPath": "/fsx",
                                            }
                                        }
                                    ]
                                ),
                            }
                        )
                    ]
                )
            }
        },
    )


def test_data_is_kept_with_the_network_that_it_lies_in(template: Template) -> None:
    kept = {
        resource["Type"]
        for resource in template.to_json()["Resources"].values()
        if resource.get("DeletionPolicy", "").startswith("Retain")
    }
    assert kept == {
        "AWS::EC2::Subnet",
        "AWS::EC2::VPC",
        "AWS::FSx::FileSystem",
        "AWS::S3::Bucket",
        "AWS::EC2::SecurityGroup",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
    }


def test_what_a_failed_first_deployment_made_goes_again(template: Template) -> None:
    """An empty file system would only cost; a bucket with scripts in it could not be deleted."""
    policies = {
        resource["Type"]: resource["DeletionPolicy"]
        for resource in template.to_json()["Resources"].values()
        if resource.get("DeletionPolicy", "").startswith("Retain")
    }
    assert {kind for kind, policy in policies.items() if policy == "Retain"} == {"AWS::S3::Bucket"}


def test_the_specs_tags_are_on_the_cluster_too(template: Template) -> None:
    template.has_resource_properties(
        "Custom::HyperPodCluster", {"Request": {"Tags": [{"Key": "Project", "Value": "pretraining"}]}}
    )


@pytest.mark.parametrize("name", ["slurm-gpu", "eks-training"])
def test_every_log_group_has_the_key_and_the_days_that_are_asked_for(name: str) -> None:
    asked = load(ROOT / "clusters" / f"{name}.yaml")
    key = f"arn:aws:kms:{asked.region}:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    days = replace(asked.network, flow_logs_retention_days=365)
    made = HyperPodStack(
        cdk.App(), "Logs", spec=replace(asked, kms_key_arn=key, log_retention_days=365, network=days)
    )
    groups = Template.from_stack(made).find_resources("AWS::Logs::LogGroup")
    found = {name: (one["Properties"].get("KmsKeyId"), one["Properties"]) for name, one in groups.items()}
    assert len(found) > 5
    assert {name for name, (used, _) in found.items() if used != key} == set()
    assert {name for name, (_, given) in found.items() if given["RetentionInDays"] != 365} == set()


@pytest.mark.parametrize("name", ["slurm-gpu", "eks-training"])
def test_every_role_is_bounded_where_an_organization_demands_it(name: str) -> None:
    """The node's, the functions' of the CDK, and those of Amazon EKS: IAM would refuse one without."""
    boundary = "arn:aws:iam::111122223333:policy/boundary"
    asked = replace(load(ROOT / "clusters" / f"{name}.yaml"), permissions_boundary_arn=boundary)
    made = Template.from_stack(HyperPodStack(cdk.App(), "Bounded", spec=asked))
    roles = made.find_resources("AWS::IAM::Role")
    assert len(roles) > 5
    assert {one["Properties"].get("PermissionsBoundary") for one in roles.values()} == {boundary}


def test_the_whole_spec_is_checked_before_anything_is_made(spec: HyperPodSpec) -> None:
    scratch = replace(spec.storage["scratch"], capacity_gib=3600)
    broken = replace(spec, storage={**spec.storage, "scratch": scratch})
    app = cdk.App()
    with pytest.raises(SpecError, match=r"storage\.scratch\.capacity_gib"):
        HyperPodStack(app, "Broken", spec=broken)
    assert app.node.children == []


@pytest.mark.parametrize(
    ("region", "partition"), [("us-gov-west-1", "aws-us-gov"), ("cn-north-1", "aws-cn"), (None, "aws")]
)
def test_no_partition_is_written_out(spec: HyperPodSpec, region: str | None, partition: str) -> None:
    env = cdk.Environment(account="111122223333", region=region) if region else None
    there = (zone_prefix(region or "") or "usw2") + "-az1"
    placed = replace(spec, region=None, network=replace(spec.network, availability_zone_ids=[there]))
    made = HyperPodStack(cdk.App(), "Elsewhere", spec=placed, env=env)
    text = json.dumps(Template.from_stack(made).to_json())
    assert "arn:aws:" not in text
    assert "amazonaws.com.cn" not in text or partition == "aws-cn"


def test_a_group_with_security_groups_of_its_own_can_mount(spec: HyperPodSpec) -> None:
    *others, compute = spec.cluster.instance_groups
    override = OverrideVpcConfig(availability_zone_id="usw2-az4", security_group_ids=["sg-0123456789abcdef0"])
    groups = [*others, replace(compute, override_vpc_config=override)]
    made = HyperPodStack(
        cdk.App(), "Own", spec=replace(spec, cluster=replace(spec.cluster, instance_groups=groups))
    )
    ports = {
        rule["Properties"]["FromPort"]
        for rule in Template.from_stack(made).find_resources("AWS::EC2::SecurityGroupIngress").values()
        if rule["Properties"].get("SourceSecurityGroupId") == "sg-0123456789abcdef0"
    }
    assert ports == {988, 1018, 111, 2049, 20001}


@pytest.mark.parametrize("own", [None, "sg-0123456789abcdef0"])
def test_the_accounting_database_lets_the_controller_in_before_the_cluster_is_made(
    spec: HyperPodSpec, own: str | None
) -> None:
    controller, *others = spec.cluster.instance_groups
    if own:
        place = OverrideVpcConfig(availability_zone_id="usw2-az4", security_group_ids=[own])
        controller = replace(controller, override_vpc_config=place)
    database = AccountingDatabase(
        endpoint="db.example.com",
        secret_arn="arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
        port=3307,
        security_group_id="sg-0123456789abcdefd",
    )
    slurm = SlurmOrchestrator(accounting_database=database)
    cluster = replace(
        spec.cluster, instance_groups=[controller, *others], orchestrator=Orchestrator(slurm=slurm)
    )
    made = Template.from_stack(HyperPodStack(cdk.App(), "Db", spec=replace(spec, cluster=cluster)))
    rules = made.find_resources(
        "AWS::EC2::SecurityGroupIngress", {"Properties": {"GroupId": database.security_group_id}}
    )
    [(name, rule)] = rules.items()
    given = rule["Properties"]
    nodes = made.to_json()["Outputs"]["NodeSecurityGroupId"]["Value"]
    assert given["SourceSecurityGroupId"] == (own or nodes)
    assert (given["IpProtocol"], given["FromPort"], given["ToPort"]) == ("tcp", 3307, 3307)
    [resource] = made.find_resources("Custom::HyperPodCluster").values()
    assert name in resource["DependsOn"]
    # the service knows no such member
    assert "SecurityGroupId" not in json.dumps(resource["Properties"]["Request"]["Orchestrator"])
