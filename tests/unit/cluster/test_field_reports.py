"""Public bug reports that the cluster's construct answers, each by the number of its field report."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from hyperpod_cdk.access import ExecutionRole
from hyperpod_cdk.checking import SpecError
from hyperpod_cdk.cluster import HyperPodCluster
from hyperpod_cdk.cluster import handler_code as handler_code_module
from hyperpod_cdk.cluster.handler.clients import CONFIG
from hyperpod_cdk.cluster.handler.core.wait import GIVE_UP_SECONDS
from hyperpod_cdk.cluster.handler.patience import PATIENCE_SECONDS
from hyperpod_cdk.cluster.handler_code import handler_code
from hyperpod_cdk.config import load
from hyperpod_cdk.config.reader import ConfigError
from hyperpod_cdk.lifecycle import LifecycleBucket
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import (
    AccountingDatabase,
    Cluster,
    Lifecycle,
    LifecycleMode,
    NodeProvisioningMode,
    NodeType,
    Orchestrator,
    SlurmConfig,
    SlurmOrchestrator,
)
from hyperpod_cdk.stack import HyperPodStack
from tests.unit.cluster.test_cluster import CONTROLLER, Made, compute

ROOT = Path(__file__).parents[3]
FLAG = "@aws-cdk/aws-lambda:useCdkManagedLogGroup"
ZONES = ["usw2-az4", "usw2-az1"]


@pytest.fixture(scope="module")
def template() -> Template:
    """A stack with a cluster and a Lustre file system."""
    return Made(lustre=True).template


def properties(template: Template, kind: str) -> dict[str, dict[str, Any]]:
    """The properties of each resource of a type."""
    return {name: found["Properties"] for name, found in template.find_resources(kind).items()}


def statements(template: Template) -> list[dict[str, Any]]:
    """Every policy statement."""
    policies = [*properties(template, "AWS::IAM::ManagedPolicy").values()]
    return [one for policy in policies for one in policy["PolicyDocument"]["Statement"]]


def test_4_node_types_are_three_and_a_group_has_one_partition() -> None:
    assert [node_type.value for node_type in NodeType] == ["Controller", "Login", "Compute"]
    two = replace(compute(), slurm_config=SlurmConfig(node_type=NodeType.COMPUTE, partition_names=["a", "b"]))
    with pytest.raises(SpecError, match=r"instance_groups\[1\]\.slurm_config\.partition_names"):
        Made(two)


def test_7_an_accounting_database_needs_continuous_provisioning() -> None:
    database = AccountingDatabase(
        endpoint="db.example.com",
        secret_arn="arn:aws:secretsmanager:us-west-2:111122223333:secret:slurm-AbCdEf",
    )
    orchestrator = Orchestrator(slurm=SlurmOrchestrator(accounting_database=database))
    with pytest.raises(SpecError, match="node_provisioning_mode"):
        Made(
            members={"orchestrator": orchestrator, "node_provisioning_mode": NodeProvisioningMode.ALL_AT_ONCE}
        )
    role = Made(members={"orchestrator": orchestrator})
    assert any(one["Sid"] == "ReadSecret" for one in statements(role.template))


@pytest.mark.parametrize("member", ["tiered_storage_config", "auto_scaling", "cluster_role"])
def test_8_what_slurm_does_not_take_is_refused_and_not_dropped(member: str, tmp_path: Path) -> None:
    path = tmp_path / "cluster.yaml"
    text = (ROOT / "clusters" / "slurm-minimal.yaml").read_text(encoding="utf-8")
    path.write_text(text.replace("\ncluster:\n", f"\ncluster:\n  {member}: {{}}\n", 1), encoding="utf-8")
    with pytest.raises((ConfigError, SpecError), match=f"cluster.{member}"):
        HyperPodStack(cdk.App(), "Refused", spec=load(path))


def test_28_a_node_in_a_vpc_has_its_permissions_and_a_way_to_s3(template: Template) -> None:
    actions = {action for one in statements(template) for action in _as_list(one["Action"])}
    assert {
        "ec2:CreateNetworkInterface",
        "ec2:CreateNetworkInterfacePermission",
        "ec2:CreateTags",
        "ec2:DeleteNetworkInterface",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribeSubnets",
        "ec2:DetachNetworkInterface",
    } <= actions
    (endpoint,) = [
        found
        for found in properties(template, "AWS::EC2::VPCEndpoint").values()
        if found.get("VpcEndpointType") == "Gateway"
    ]
    assert len(endpoint["RouteTableIds"]) == len(ZONES)


def test_29_a_node_with_lustre_may_look_it_up() -> None:
    stack = cdk.Stack()
    ExecutionRole(stack, "Role", lustre=True)
    (found,) = [
        one
        for one in statements(Template.from_stack(stack))
        if "fsx:DescribeFileSystems" in _as_list(one["Action"])
    ]
    assert _as_list(found["Resource"]) == ["*"]


@pytest.mark.parametrize("asked", [True, False])
def test_30_a_node_may_pull_images_when_asked(asked: bool) -> None:
    stack = cdk.Stack()
    role = ExecutionRole(stack, "Role", vpc=False)
    if asked:
        role.grant_ecr_pull(ecr.Repository(stack, "Repository"))
    actions = [action for one in statements(Template.from_stack(stack)) for action in _as_list(one["Action"])]
    assert ("ecr:BatchGetImage" in actions) == asked


def test_35_the_group_lets_itself_out_by_its_own_id(template: Template) -> None:
    rules = properties(template, "AWS::EC2::SecurityGroupEgress").values()
    assert any(
        rule["DestinationSecurityGroupId"] == rule["GroupId"] and rule["IpProtocol"] == "-1" for rule in rules
    )
    nodes = properties(template, "AWS::EC2::SecurityGroup").values()
    everywhere = [rule for group in nodes for rule in group["SecurityGroupEgress"]]
    assert any(rule["CidrIp"] == "0.0.0.0/0" and rule["IpProtocol"] == "-1" for rule in everywhere)


def test_36_as_many_zones_as_were_asked_for_also_without_an_account() -> None:
    stack = cdk.Stack(cdk.App(), "Agnostic")
    HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az1", "usw2-az2", "usw2-az3"])
    subnets = properties(Template.from_stack(stack), "AWS::EC2::Subnet").values()
    assert len({subnet["AvailabilityZoneId"] for subnet in subnets}) == 3


def test_40_no_function_is_in_the_vpc(template: Template) -> None:
    functions = properties(template, "AWS::Lambda::Function")
    assert functions
    assert not [name for name, function in functions.items() if "VpcConfig" in function]


def test_41_nothing_restricts_the_default_group_by_a_custom_resource(template: Template) -> None:
    template.resource_count_is("Custom::VpcRestrictDefaultSG", 0)


def test_42_a_cluster_is_always_in_a_vpc(template: Template) -> None:
    (resource,) = properties(template, "Custom::HyperPodCluster").values()
    network = resource["Request"]["VpcConfig"]
    assert network["Subnets"]
    assert network["SecurityGroupIds"]


def test_63_every_log_group_is_ours_ends_and_goes_with_the_stack(template: Template) -> None:
    groups = template.find_resources("AWS::Logs::LogGroup")
    for found in groups.values():
        assert found["DeletionPolicy"] == "Delete"
        assert found["Properties"]["RetentionInDays"] > 0
        assert "LogGroupName" not in found["Properties"]
    for name, function in properties(template, "AWS::Lambda::Function").items():
        if "Provider" in name:
            assert function["LoggingConfig"]["LogGroup"]["Ref"] in groups


@pytest.mark.parametrize("managed", [True, False])
def test_64_no_log_group_is_named_by_hand(managed: bool) -> None:
    stack = cdk.Stack(cdk.App(context={FLAG: managed}), "Flagged")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=ZONES)
    HyperPodCluster(
        stack, "Cluster", cluster=Cluster(instance_groups=[CONTROLLER, compute()]), network=network
    )
    for found in properties(Template.from_stack(stack), "AWS::Logs::LogGroup").values():
        assert "LogGroupName" not in found


def test_65_the_waiter_logs_but_not_the_secret_address(template: Template) -> None:
    (machine,) = properties(template, "AWS::StepFunctions::StateMachine").values()
    assert machine["LoggingConfiguration"]["Level"] == "ALL"
    assert machine["LoggingConfiguration"]["IncludeExecutionData"] is False


def test_66_no_custom_resource_installs_an_sdk(template: Template) -> None:
    template.resource_count_is("Custom::AWS", 0)


def test_67_what_is_in_another_stack_makes_no_cycle() -> None:
    app = cdk.App()
    other = cdk.Stack(app, "Other")
    key = kms.Key(other, "Key")
    role = iam.Role(other, "Role", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    bucket = s3.Bucket(other, "Bucket", bucket_name="sagemaker-others", encryption_key=key)
    stack = cdk.Stack(app, "Mine")
    HyperPodCluster(
        stack,
        "Cluster",
        cluster=Cluster(instance_groups=[CONTROLLER, compute()]),
        network=HyperPodNetwork(other, "Network", availability_zone_ids=ZONES),
        lifecycle_bucket=LifecycleBucket.from_bucket(stack, "Scripts", bucket),
        execution_roles={"controller": role},
        encryption_key=key,
    )
    app.synth()


def test_68_nothing_waits_longer_than_its_function_lives(template: Template) -> None:
    timeouts = {
        function["Handler"]: function["Timeout"]
        for function in properties(template, "AWS::Lambda::Function").values()
        if function["Handler"].startswith("handler.index.")
    }
    assert timeouts == {"handler.index.on_event": 14 * 60, "handler.index.is_complete": 5 * 60}
    attempts = CONFIG.retries["total_max_attempts"]
    assert attempts >= 6, "field report 60"
    # botocore waits up to 2**n seconds after the nth attempt, and 20 at most
    silent = attempts * CONFIG.read_timeout + sum(min(2**n, 20) for n in range(attempts - 1))
    assert CONFIG.connect_timeout < CONFIG.read_timeout
    # a poll ends with the call that nobody answers; what it then says of the time asks once more
    assert 2 * silent < timeouts["handler.index.is_complete"]
    # on_event has its patience, and after it at most: look, images, create, look again, read tags
    assert PATIENCE_SECONDS + 5 * silent < timeouts["handler.index.on_event"]
    # CloudFormation's hour is not over when the last poll is
    assert GIVE_UP_SECONDS + timeouts["handler.index.is_complete"] < 3600


def test_69_a_cluster_can_be_in_another_stack_than_its_network() -> None:
    app = cdk.App()
    network = HyperPodNetwork(cdk.Stack(app, "Network"), "Network", availability_zone_ids=ZONES)
    HyperPodCluster(
        cdk.Stack(app, "Cluster"),
        "Cluster",
        cluster=Cluster(instance_groups=[CONTROLLER, compute()]),
        network=network,
    )
    app.synth()


def test_72_every_file_of_the_handler_is_in_its_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    def asset_hash(change: str = "") -> str:
        with handler_code() as root:
            for path in root.rglob(change) if change else ():
                path.write_text(path.read_text(encoding="utf-8") + "\n", encoding="utf-8")
            asset = cdk.AssetStaging(cdk.Stack(cdk.App(), "S"), "A", source_path=str(root))
            return asset.asset_hash

    hashes = [asset_hash(), asset_hash("cast.py"), asset_hash("endpoints.json"), asset_hash("service-2.json")]
    assert len(set(hashes)) == 4
    assert asset_hash() == hashes[0]


def test_71_what_python_leaves_behind_is_not_in_the_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler = tmp_path / "handler"
    shutil.copytree(handler_code_module._HANDLER, handler, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(handler_code_module, "_HANDLER", handler)

    def asset_hash() -> str:
        with handler_code() as root:
            asset = cdk.AssetStaging(cdk.Stack(cdk.App(), "S"), "A", source_path=str(root))
            return asset.asset_hash

    before = asset_hash()
    (handler / "__pycache__").mkdir()
    (handler / "__pycache__" / "index.cpython-311.pyc").write_bytes(b"\x00")
    (handler / "index.pyc").write_bytes(b"\x00")
    assert asset_hash() == before


@pytest.mark.parametrize("mode", list(LifecycleMode))
def test_2_only_a_legacy_clusters_scripts_have_the_legacy_file(mode: LifecycleMode) -> None:
    """The service refuses a cluster that has both it and an API configuration."""
    members = (
        {"node_provisioning_mode": NodeProvisioningMode.ALL_AT_ONCE} if mode is LifecycleMode.LEGACY else {}
    )
    made = Made(lifecycle=Lifecycle(mode=mode), members=members)
    app = made.stack.node.root
    assert isinstance(app, cdk.App)
    directory = Path(app.synth().directory)
    assert made.resource["Properties"]["Request"].get("Orchestrator") == (
        None if mode is LifecycleMode.LEGACY else {"Slurm": {}}
    )
    assert bool([*directory.rglob("provisioning_parameters.json")]) == (mode is LifecycleMode.LEGACY)


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
