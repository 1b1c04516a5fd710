"""HyperPodCluster in somebody else's stack."""

import json
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.checking import SpecError
from hyperpod_cdk.cluster import HyperPodCluster
from hyperpod_cdk.commands.node_sessions import DOCUMENT
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import (
    Cluster,
    InstanceGroup,
    Lifecycle,
    LifeCycleConfig,
    LifecycleMode,
    NodeProvisioningMode,
    NodeType,
    OverrideVpcConfig,
    SlurmConfig,
    User,
)
from hyperpod_cdk.storage import LustreStorage

CONTROLLER = InstanceGroup(
    instance_group_name="controller",
    instance_type="ml.c5.xlarge",
    instance_count=1,
    slurm_config=SlurmConfig(node_type=NodeType.CONTROLLER),
)


def compute(name: str = "cpu", **members: Any) -> InstanceGroup:
    """A compute group."""
    return InstanceGroup(
        instance_group_name=name,
        instance_type="ml.c5.4xlarge",
        instance_count=2,
        slurm_config=SlurmConfig(node_type=NodeType.COMPUTE, partition_names=[name]),
        **members,
    )


class Made:
    """A stack with one cluster, and its template."""

    def __init__(self, *groups: InstanceGroup, lustre: bool = False, **arguments: Any) -> None:
        self.stack = cdk.Stack(cdk.App(), "Foreign")
        self.network = HyperPodNetwork(self.stack, "Network", availability_zone_ids=["usw2-az4", "usw2-az1"])
        self.storage = LustreStorage(self.stack, "Scratch", network=self.network) if lustre else None
        members = arguments.pop("members", {})
        self.cluster = HyperPodCluster(
            self.stack,
            "Cluster",
            cluster=Cluster(instance_groups=[CONTROLLER, *(groups or [compute()])], **members),
            network=self.network,
            **arguments,
        )

    @property
    def template(self) -> Template:
        """The synthesized template."""
        return Template.from_stack(self.stack)

    @property
    def resource(self) -> dict[str, Any]:
        """The custom resource in it."""
        (resource,) = self.template.find_resources("Custom::HyperPodCluster").values()
        return dict(resource)

    @property
    def group(self) -> dict[str, Any]:
        """The first compute group of the request."""
        made: dict[str, Any] = self.resource["Properties"]["Request"]["InstanceGroups"][1]
        return made


@pytest.fixture(scope="module")
def made() -> Made:
    """A plain cluster, shared by tests that only look."""
    return Made(lustre=True)


def statements(template: Template, logical_id_part: str) -> list[dict[str, Any]]:
    """Statements of the managed policies whose logical id contains a part."""
    policies = template.find_resources("AWS::IAM::ManagedPolicy")
    return [
        statement
        for logical_id, policy in policies.items()
        if logical_id_part in logical_id
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]


def test_the_cluster_comes_after_all_that_it_needs(made: Made) -> None:
    """Roles, routes and policies must be there first, and go last (field reports 39, 61, 62)."""
    depends = made.resource["DependsOn"]
    resources = made.template.to_json()["Resources"]
    types = {resources[name]["Type"] for name in depends}
    assert types >= {
        "AWS::EC2::NatGateway",
        "AWS::EC2::Route",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::SecurityGroupIngress",
        "AWS::EC2::VPCEndpoint",
        "AWS::IAM::ManagedPolicy",
        "AWS::IAM::Policy",
        "AWS::Lambda::Function",
        "AWS::StepFunctions::StateMachine",
        "Custom::CDKBucketDeployment",
    }
    ours = [name for name in resources if name.startswith(("ClusterProvider", "ClusterRole"))]
    policies = [name for name in ours if resources[name]["Type"].startswith("AWS::IAM::")]
    assert len(policies) > 10
    assert set(policies) <= set(depends), "each role and policy of nodes, handler, framework and waiter"


def test_the_generated_name_is_one_that_the_service_takes(made: Made) -> None:
    """Field report 5: letters, digits and inner hyphens, at most 63."""
    name = made.resource["Properties"]["Request"]["ClusterName"]
    assert len(name) <= 63
    assert name.replace("-", "").isalnum()
    assert not name.startswith("-")


@pytest.mark.parametrize("name", ["ml_cluster", "-ml", "ml-", "m" * 64])
def test_5_a_name_that_the_service_refuses_never_reaches_it(name: str) -> None:
    with pytest.raises(SpecError, match=r"cluster\.cluster_name"):
        Made(members={"cluster_name": name})
    with pytest.raises(SpecError, match=r"instance_groups\[1\]\.instance_group_name"):
        Made(replace(compute(), instance_group_name=name))


def test_5_a_name_known_only_at_deployment_is_not_looked_at() -> None:
    token = cdk.Token.as_string({"Ref": "Name"})
    assert Made(members={"cluster_name": token}).resource["Properties"]["Request"]["ClusterName"] == {
        "Ref": "Name"
    }


def test_a_generated_name_follows_the_network_and_not_the_size() -> None:
    """What HyperPod fixes for a cluster's life can only change with another cluster."""

    def name(zone: str, count: int) -> str:
        stack = cdk.Stack(cdk.App(), "Foreign")
        network = HyperPodNetwork(stack, "Network", availability_zone_ids=[zone])
        groups = [CONTROLLER, replace(compute(), instance_count=count)]
        made = HyperPodCluster(stack, "Cluster", cluster=Cluster(instance_groups=groups), network=network)
        return str(made.request["ClusterName"])

    assert name("usw2-az4", 2) == name("usw2-az4", 3)
    assert name("usw2-az4", 2) != name("usw2-az1", 2)


def test_the_handler_is_told_nothing_by_its_environment(made: Made) -> None:
    """A spec in the environment would end at 4 KB, and its change would send no update (field report 11)."""
    functions = made.template.find_resources("AWS::Lambda::Function")
    ours = [f for name, f in functions.items() if "ProviderOnEvent" in name or "ProviderIsComplete" in name]
    assert [f["Properties"]["Environment"]["Variables"] for f in ours] == [
        {"AWS_DATA_PATH": "/var/task/models"}
    ] * 2


def test_the_wait_stays_clear_of_cloudformations_hour(made: Made) -> None:
    """Field report 43: 55 minutes at most, and no handler outside a function's limits (68)."""
    machine = json.dumps(made.template.find_resources("AWS::StepFunctions::StateMachine"))
    retry = machine[machine.index("IntervalSeconds") :]
    interval = int(retry.split(":", 1)[1].split(",", 1)[0])
    attempts = int(retry.split("MaxAttempts", 1)[1].split(":", 1)[1].split(",", 1)[0])
    assert interval * attempts <= 55 * 60
    for function in made.template.find_resources("AWS::Lambda::Function").values():
        assert function["Properties"].get("Timeout", 3) <= 15 * 60
        assert "VpcConfig" not in function["Properties"]


def test_only_the_groups_roles_can_be_passed(made: Made) -> None:
    """Field report 31."""
    (statement,) = statements(made.template, "PassRoles")
    assert statement["Action"] == "iam:PassRole"
    assert statement["Condition"] == {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    roles = {arn["Fn::GetAtt"][0] for arn in statement["Resource"]}
    nodes = made.template.find_resources(
        "AWS::IAM::Role", {"Properties": {"Description": "Nodes of a HyperPod instance group"}}
    )
    assert roles == set(nodes)


def test_many_roles_fit_their_policies() -> None:
    """A managed policy holds 6144 characters; a role's ARN may take 120."""
    template = Made(*(compute(f"g{i}") for i in range(99))).template
    policies = template.find_resources("AWS::IAM::ManagedPolicy")
    passed = [p for name, p in policies.items() if "PassRoles" in name]
    counts = [len(p["Properties"]["PolicyDocument"]["Statement"][0]["Resource"]) for p in passed]
    assert sum(counts) == 100
    assert max(counts) * 120 < 6144
    assert len(template.to_json()["Resources"]) < 500


def test_no_action_is_a_wildcard_and_few_resources_are(made: Made) -> None:
    for statement in statements(made.template, "Provider"):
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        assert all("*" not in action for action in actions)
        if statement["Resource"] == "*":
            assert actions == ["ec2:DescribeNetworkInterfaces"]


def test_a_custom_image_asks_for_more_of_the_caller() -> None:
    plain = {s["Sid"] for s in statements(Made().template, "Provider")}
    custom = {
        s["Sid"] for s in statements(Made(compute(image_id="ami-0123456789abcdef0")).template, "Provider")
    }
    assert custom - plain == {"ReadImages", "ShareImages"}


def test_a_training_plan_is_in_the_resources_only_when_used() -> None:
    """Field report 32."""
    plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/my-plan"
    used = json.dumps(statements(Made(compute(training_plan_arn=plan)).template, "Provider"))
    unused = json.dumps(statements(Made().template, "Provider"))
    assert plan in used
    assert "training-plan" not in unused


def test_a_group_in_another_zone_gets_exactly_that_zones_subnet() -> None:
    """Field report 9."""
    made = Made(compute(override_vpc_config=OverrideVpcConfig(availability_zone_id="usw2-az1")))
    (subnet,) = made.network.subnets_by_zone["usw2-az1"]
    assert made.group["OverrideVpcConfig"]["Subnets"] == [made.stack.resolve(subnet.subnet_id)]
    assert made.group["OverrideVpcConfig"]["SecurityGroupIds"] == [
        made.stack.resolve(made.network.security_group.security_group_id)
    ]


def test_9_a_group_in_a_zone_without_a_subnet_is_refused() -> None:
    """Not put somewhere else."""
    with pytest.raises(SpecError, match=r"usw2-az3"):
        Made(compute(override_vpc_config=OverrideVpcConfig(availability_zone_id="usw2-az3")))


def test_nodes_share_the_first_zone_unless_told_otherwise(made: Made) -> None:
    """EFA does not cross zones, and file systems lie in the first (field report 37)."""
    (first,) = made.network.subnets_by_zone["usw2-az4"]
    config = made.resource["Properties"]["Request"]["VpcConfig"]
    assert config["Subnets"] == [made.stack.resolve(first.subnet_id)]


def test_what_is_of_another_region_than_the_stack_is_refused() -> None:
    plan = "arn:aws:sagemaker:us-east-1:111122223333:training-plan/my-plan"
    app = cdk.App()
    stack = cdk.Stack(app, "There", env=cdk.Environment(region="us-west-2"))
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az4"])
    cluster = Cluster(instance_groups=[CONTROLLER, compute(training_plan_arn=plan)])
    with pytest.raises(SpecError, match=r"HP133.*training_plan_arn"):
        HyperPodCluster(stack, "Cluster", cluster=cluster, network=network)


def test_the_first_zone_is_no_zone_left_to_chance() -> None:
    """A network of two zones is no reason for doubt about a group that names none (HP224)."""
    plan = "arn:aws:sagemaker:us-west-2:111122223333:training-plan/my-plan"
    assert [one.code for one in Made(compute(training_plan_arn=plan)).cluster.warnings] == []


def test_subnets_of_a_groups_own_are_sent_as_they_are() -> None:
    override = OverrideVpcConfig(subnet_ids=["subnet-0b"], security_group_ids=["sg-0b"])
    assert Made(compute(override_vpc_config=override)).group["OverrideVpcConfig"] == {
        "SecurityGroupIds": ["sg-0b"],
        "Subnets": ["subnet-0b"],
    }


@pytest.mark.parametrize(
    ("mode", "hook", "script"),
    [
        (LifecycleMode.EXTENSION, "OnInitComplete", "on_init_complete.sh"),
        (LifecycleMode.CUSTOM, "OnCreate", "on_create.sh"),
    ],
)
def test_each_mode_calls_its_own_script(mode: LifecycleMode, hook: str, script: str) -> None:
    config = Made(compute(lifecycle_mode=mode)).group["LifeCycleConfig"]
    assert config[hook] == script
    assert set(config) == {"SourceS3Uri", hook}


def test_a_cluster_of_the_image_alone_needs_no_bucket() -> None:
    made = Made(lifecycle=Lifecycle(mode=LifecycleMode.AMI))
    assert "LifeCycleConfig" not in made.group
    made.template.resource_count_is("AWS::S3::Bucket", 0)
    made.template.resource_count_is("Custom::CDKBucketDeployment", 0)


def test_scripts_that_lie_elsewhere_can_be_read() -> None:
    """Field reports 26, 27: list on the bucket, get on its objects."""
    config = LifeCycleConfig(source_s3_uri="s3://our-scripts/v1/", on_create="setup.sh")
    made = Made(compute(life_cycle_config=config))
    assert made.group["LifeCycleConfig"] == {
        "SourceS3Uri": "s3://our-scripts/v1/",
        "OnCreate": "setup.sh",
    }
    role = {s["Sid"]: s for s in statements(made.template, "Rolecpu")}
    assert _path_of(role["ListBucket"]["Resource"][1]) == ":s3:::our-scripts"
    assert role["ListBucket"]["Action"] == ["s3:ListBucket"]
    assert _path_of(role["ReadObjects"]["Resource"][1]) == ":s3:::our-scripts/v1/*"
    assert role["ReadObjects"]["Action"] == ["s3:GetObject"]


def _path_of(arn: Any) -> str:
    """What follows the partition."""
    beginning, partition, path = arn["Fn::Join"][1]
    assert (beginning, partition) == ("arn:", {"Ref": "AWS::Partition"})
    return str(path)


def test_a_legacy_cluster_ships_its_provisioning_parameters() -> None:
    """And no other does, since the API refuses both (field report 2)."""
    legacy = Made(
        lifecycle=Lifecycle(mode=LifecycleMode.LEGACY),
        members={"node_provisioning_mode": NodeProvisioningMode.ALL_AT_ONCE},
    )
    plain = Made()
    assert legacy.cluster.lifecycle_scripts is not None
    assert plain.cluster.lifecycle_scripts is not None
    assert legacy.cluster.lifecycle_scripts.prefix != plain.cluster.lifecycle_scripts.prefix
    request = legacy.resource["Properties"]["Request"]
    assert "Orchestrator" not in request
    assert legacy.group["LifeCycleConfig"]["OnCreate"] == "on_create.sh"


def test_a_changed_user_moves_the_cluster_to_another_prefix() -> None:
    """Field report 53: an edit that changed no property would send no update."""
    prefixes = {
        Made(lifecycle=Lifecycle(users=[User(name="ada", uid=uid)])).group["LifeCycleConfig"]["SourceS3Uri"][
            "Fn::Join"
        ][1][-1]
        for uid in (2001, 2002)
    }
    assert len(prefixes) == 2


def test_a_role_of_the_users_own_is_used_and_left_alone() -> None:
    stack = cdk.Stack(cdk.App(), "Foreign")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az4"])
    role = iam.Role(stack, "Mine", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    cluster = HyperPodCluster(
        stack,
        "Cluster",
        cluster=Cluster(instance_groups=[CONTROLLER, compute()]),
        network=network,
        execution_roles={"cpu": role},
    )
    assert set(cluster.execution_roles) == {"controller"}
    group = cluster.request["InstanceGroups"][1]
    assert stack.resolve(group["ExecutionRole"]) == stack.resolve(role.role_arn)


def test_every_finding_about_a_cluster_comes_at_once() -> None:
    broken = [
        compute("a", min_instance_count=3),
        compute("b", threads_per_core=3),
    ]
    with pytest.raises(SpecError) as caught:
        Made(*broken)
    paths = {finding.path for finding in caught.value.findings}
    assert paths >= {
        "cluster.instance_groups[1].min_instance_count",
        "cluster.instance_groups[2].threads_per_core",
    }


def test_an_existing_cluster_grants_like_one_of_ours() -> None:
    stack = cdk.Stack(cdk.App(), "Foreign")
    arn = "arn:aws:sagemaker:us-west-2:111122223333:cluster/abc123def456"
    cluster = HyperPodCluster.from_cluster_attributes(
        stack, "Existing", cluster_name="training", cluster_arn=arn
    )
    user = iam.User(stack, "Scientist")
    cluster.grant_connect(user)
    cluster.grant_read(user)
    assert cluster.cluster_id == "abc123def456"
    assert cluster.log_group_name == "/aws/sagemaker/Clusters/training/abc123def456"
    region = {"Ref": "AWS::Region"}
    start, account = ["arn:", {"Ref": "AWS::Partition"}, ":ssm:", region], {"Ref": "AWS::AccountId"}
    documents = [
        {"Fn::Join": ["", [*start, ":", account, ":document/SSM-SessionManagerRunShell"]]},
        {"Fn::Join": ["", [*start, "::document/AWS-StartSSHSession"]]},
        {"Fn::Join": ["", [*start, f"::document/{DOCUMENT}"]]},
    ]
    statement = Match.object_like({"Action": "ssm:StartSession", "Resource": [arn, *documents]})
    Template.from_stack(stack).has_resource_properties(
        "AWS::IAM::Policy", {"PolicyDocument": {"Statement": Match.array_with([statement])}}
    )
