"""A cluster on Amazon EKS from one spec: the request, who may do what, and the order of it all."""

import json
import re
from dataclasses import replace
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk.cluster import HyperPodCluster
from hyperpod_cdk.eks import EksControlPlane
from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import (
    AutoPatchConfig,
    AutoScaling,
    BootstrapGuard,
    CapacityType,
    Cluster,
    DeepHealthCheck,
    DrainPolicy,
    EksOrchestrator,
    EnvironmentConfig,
    ExistingNetwork,
    ExistingSubnet,
    HelmChart,
    HyperPodSpec,
    InstanceGroup,
    InstanceRequirements,
    KubernetesConfig,
    Lifecycle,
    NatGateways,
    Network,
    NetworkInterfaceType,
    NodeProvisioningMode,
    Observability,
    OnDrainTimeout,
    Orchestrator,
    PatchingStrategy,
    PriorityClass,
    SharedEnvironmentConfig,
    SharedLustre,
    Taint,
    TaintEffect,
    TaskGovernance,
    TieredStorageConfig,
)
from hyperpod_cdk.stack import HyperPodStack
from tests.api_shapes import input_shape
from tests.unit.eks.order import before, one, resources

ZONES = ("usw2-az4", "usw2-az1")
CLOSED = Network(availability_zone_ids=ZONES, nat_gateways=NatGateways.NONE)
CHART = HelmChart(s3_uri="s3://example-charts-111122223333/HyperPodHelmChart.zip")
OWN = "arn:aws:eks:us-west-2:111122223333:cluster/training"
GPU = InstanceGroup(
    instance_group_name="gpu",
    instance_type="ml.p5.48xlarge",
    instance_count=4,
    min_instance_count=2,
    on_start_deep_health_checks=[DeepHealthCheck.INSTANCE_STRESS, DeepHealthCheck.INSTANCE_CONNECTIVITY],
    network_interface=NetworkInterfaceType.EFA_ONLY,
    auto_patch_config=AutoPatchConfig(
        patching_strategy=PatchingStrategy.DRAIN_FIRST,
        next_patch_date="2026-12-31T03:00:00Z",
        drain_policy=DrainPolicy(drain_timeout_in_seconds=600, on_drain_timeout=OnDrainTimeout.SKIP),
    ),
)
FLEXIBLE = InstanceGroup(
    instance_group_name="flexible",
    instance_requirements=InstanceRequirements(instance_types=["ml.g5.8xlarge", "ml.g5.4xlarge"]),
    instance_count=0,
    capacity_requirements=CapacityType.SPOT,
    auto_patch_config=AutoPatchConfig(
        patching_strategy=PatchingStrategy.WHEN_IDLE, idle_wait_window_in_seconds=7200
    ),
    kubernetes_config=KubernetesConfig(
        labels={"example.com/team": "research"},
        taints=[Taint(key="spot", value="yes", effect=TaintEffect.PREFER_NO_SCHEDULE)],
    ),
)
NOVA = InstanceGroup(
    instance_group_name="nova",
    instance_type="ml.p5.48xlarge",
    instance_count=2,
    environment_config=EnvironmentConfig(),
)
EVERYTHING = Cluster(
    cluster_name="training",
    orchestrator=Orchestrator(
        eks=EksOrchestrator(
            helm_chart=CHART,
            observability=Observability(),
            task_governance=TaskGovernance(priority_classes=[PriorityClass(name="urgent", weight=90)]),
        )
    ),
    tiered_storage_config=TieredStorageConfig(instance_memory_allocation_percentage=40),
    auto_scaling=AutoScaling(),
    shared_environment_config=SharedEnvironmentConfig(
        fsx_lustre_config=SharedLustre(size_in_gib=1200, per_unit_storage_throughput=250)
    ),
    instance_groups=[GPU, FLEXIBLE, NOVA],
)


def stack(cluster: Cluster = EVERYTHING, network: Network | None = None) -> HyperPodStack:
    spec = HyperPodSpec(cluster=cluster, network=network or Network(availability_zone_ids=ZONES))
    return HyperPodStack(cdk.App(), "Training", spec=spec)


def on_eks(*groups: InstanceGroup, **settings: Any) -> Cluster:
    chosen = EksOrchestrator(**{"helm_chart": CHART, **settings})
    return Cluster(orchestrator=Orchestrator(eks=chosen), instance_groups=groups or [GPU])


@pytest.fixture(scope="module")
def made() -> HyperPodStack:
    return stack()


@pytest.fixture(scope="module")
def template(made: HyperPodStack) -> Template:
    return Template.from_stack(made)


@pytest.fixture(scope="module")
def request_(template: Template) -> dict[str, Any]:
    (resource,) = template.find_resources("Custom::HyperPodCluster").values()
    found: dict[str, Any] = resource["Properties"]["Request"]
    return found


def statements(template: Template, sid: str) -> list[dict[str, Any]]:
    policies = template.find_resources("AWS::IAM::ManagedPolicy").values()
    every = [found for policy in policies for found in policy["Properties"]["PolicyDocument"]["Statement"]]
    return [found for found in every if found.get("Sid") == sid]


def test_the_request_in_the_words_of_the_api(request_: dict[str, Any]) -> None:
    gpu, flexible = request_["InstanceGroups"]
    (nova,) = request_["RestrictedInstanceGroups"]
    assert list(request_["Orchestrator"]) == ["Eks"]
    assert request_["NodeProvisioningMode"] == "Continuous"
    assert request_["NodeRecovery"] == "Automatic"
    assert request_["TieredStorageConfig"] == {"Mode": "Enable", "InstanceMemoryAllocationPercentage": 40}
    assert request_["AutoScaling"] == {"Mode": "Enable", "AutoScalerType": "Karpenter"}
    assert "SlurmConfig" not in json.dumps(request_)
    assert gpu["NetworkInterface"] == {"InterfaceType": "efa-only"}
    assert gpu["OnStartDeepHealthChecks"] == ["InstanceStress", "InstanceConnectivity"]
    assert gpu["AutoPatchConfig"] == {
        "PatchingStrategy": "DrainFirst",
        "PatchSchedule": {"NextPatchDate": "2026-12-31T03:00:00Z"},
        "DrainPolicy": {"DrainTimeoutInSeconds": 600, "OnDrainTimeout": "Skip"},
    }
    assert flexible["AutoPatchConfig"] == {"PatchingStrategy": "WhenIdle", "IdleWaitWindowInSeconds": 7200}
    assert flexible["InstanceRequirements"] == {"InstanceTypes": ["ml.g5.8xlarge", "ml.g5.4xlarge"]}
    assert flexible["CapacityRequirements"] == {"Spot": {}}
    assert flexible["KubernetesConfig"] == {
        "Labels": {"example.com/team": "research"},
        "Taints": [{"Key": "spot", "Value": "yes", "Effect": "PreferNoSchedule"}],
    }
    assert "InstanceType" not in flexible
    assert set(nova) == {"ExecutionRole", "InstanceCount", "InstanceGroupName", "InstanceType"}
    assert request_["RestrictedInstanceGroupsConfig"] == {
        "SharedEnvironmentConfig": {
            "FSxLustreDeletionPolicy": "Keep",
            "FSxLustreConfig": {"SizeInGiB": 1200, "PerUnitStorageThroughput": 250},
        }
    }
    assert set(request_) <= set(input_shape("CreateCluster").members)


def test_one_node_is_waited_for_where_add_ons_need_one() -> None:
    one, other = replace(GPU, min_instance_count=None), replace(FLEXIBLE, instance_count=3)
    none = replace(other, instance_group_name="none", instance_count=0)

    def minimums(*groups: InstanceGroup, **settings: Any) -> list[int | None]:
        made = stack(on_eks(*groups, **settings)).cluster.request["InstanceGroups"]
        return [group.get("MinInstanceCount") for group in made]

    assert minimums(none, one, other) == [None, 1, None]
    assert minimums(one, replace(other, min_instance_count=0)) == [None, 0]
    assert minimums(one, other, training_operator=None) == [None, None]


def test_what_needs_a_node_waits_for_it(template: Template) -> None:
    made = resources(template)
    reached = one(made, "AWS::CloudFormation::WaitCondition")
    operator = one(made, "AWS::EKS::Addon", AddonName="amazon-sagemaker-hyperpod-training-operator")
    assert reached in before(made, operator)
    none = Template.from_stack(stack(on_eks(training_operator=None)))
    none.resource_count_is("AWS::CloudFormation::WaitCondition", 0)


def test_every_ordinary_group_runs_the_script_of_eks(request_: dict[str, Any]) -> None:
    for group in request_["InstanceGroups"]:
        assert group["LifeCycleConfig"]["OnCreate"] == "on_create.sh"
        assert "OnInitComplete" not in group["LifeCycleConfig"]


def test_127_the_tag_that_the_operator_looks_for_is_given(request_: dict[str, Any]) -> None:
    assert {"Key": "SageMaker", "Value": "true"} in request_["Tags"]
    without = Template.from_stack(stack(on_eks(training_operator=None)))
    (resource,) = without.find_resources("Custom::HyperPodCluster").values()
    assert "SageMaker" not in json.dumps(resource["Properties"]["Request"].get("Tags", []))


def test_85_the_handler_lets_nodes_into_kubernetes(template: Template) -> None:
    (admit,) = statements(template, "AdmitNodes")
    assert set(admit["Action"]) == {
        "eks:AssociateAccessPolicy",
        "eks:CreateAccessEntry",
        "eks:DeleteAccessEntry",
        "eks:DescribeAccessEntry",
    }
    assert not [resource for resource in admit["Resource"] if resource == "*"]
    (look,) = statements(template, "LookAtControlPlane")
    assert look["Action"] == "eks:DescribeCluster"


def test_91_the_handler_may_delete_a_cluster_with_quotas(template: Template) -> None:
    (find,) = statements(template, "FindGovernance")
    (delete,) = statements(template, "DeleteGovernance")
    assert set(find["Action"]) == {"sagemaker:ListClusterSchedulerConfigs", "sagemaker:ListComputeQuotas"}
    assert set(delete["Action"]) == {"sagemaker:DeleteClusterSchedulerConfig", "sagemaker:DeleteComputeQuota"}


def test_autoscaling_has_a_role_that_the_handler_may_pass(template: Template) -> None:
    (scale,) = statements(template, "ScaleClusters")
    assert scale["Action"] == ["sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"]
    (given,) = statements(template, "PassClusterRole")
    services = ["hyperpod.sagemaker.amazonaws.com", "sagemaker.amazonaws.com"]
    assert given["Condition"] == {"StringEquals": {"iam:PassedToService": services}}
    role = "arn:aws:iam::111122223333:role/scaling"
    cluster = on_eks()
    own = Cluster(
        orchestrator=cluster.orchestrator,
        instance_groups=cluster.instance_groups,
        auto_scaling=AutoScaling(cluster_role_arn=role),
    )
    theirs = stack(own)
    assert theirs.cluster.cluster_role is None
    assert theirs.cluster.request["ClusterRole"] == role


def test_33_nodes_serve_pods_with_their_role(template: Template) -> None:
    for sid in ("AttachByService", "AttachInterface", "DescribeNodes", "IdentifyPods", "ServePods"):
        assert len(statements(template, sid)) == 3
    assert not statements(template, "DescribeFileSystems")


def test_restricted_nodes_write_metrics_with_their_own_role(made: HyperPodStack, template: Template) -> None:
    (write,) = statements(template, "WriteMetrics")
    assert write["Action"] == ["aps:RemoteWrite"]
    (nova,) = made.cluster.restricted_roles
    assert nova is made.cluster.execution_roles["nova"]


def test_136_the_whole_comes_up_and_goes_in_order(template: Template) -> None:
    made = resources(template)

    def add_on(name: str) -> str:
        return one(made, "AWS::EKS::Addon", AddonName=name)

    cluster = one(made, "Custom::HyperPodCluster")
    early = before(made, cluster)
    assert {
        one(made, "AWS::EKS::Cluster"),
        one(made, "Custom::AWSCDK-EKS-HelmChart"),
        add_on("vpc-cni"),
        add_on("eks-pod-identity-agent"),
    } <= early
    assert not early & {add_on("coredns"), add_on("cert-manager"), one(made, "AWS::EKS::Nodegroup")}
    for late in (
        add_on("amazon-sagemaker-hyperpod-training-operator"),
        add_on("amazon-sagemaker-hyperpod-taskgovernance"),
        one(made, "AWS::SageMaker::ClusterSchedulerConfig"),
    ):
        assert cluster in before(made, late)


def test_138_long_names_stay_within_what_policies_name() -> None:
    spec = HyperPodSpec(cluster=on_eks(), network=Network(availability_zone_ids=ZONES))
    long = HyperPodStack(cdk.App(), "Long" * 32, spec=spec)
    plane = long.eks and long.eks.own
    assert plane
    assert len(plane.cluster_name) <= 100
    name = long.cluster.request["ClusterName"]
    assert len(name) <= 63
    found = Template.from_stack(long)
    (read,) = statements(found, "ReadNodeLogs")
    pattern = json.dumps(read["Resource"]).rpartition("/Clusters/")[2].partition("/")[0]
    assert re.fullmatch(pattern.replace("?", "."), name)
    (admit,) = statements(found, "AdmitNodes")
    # by reference to the control plane, not by a name that is made up twice
    assert "Fn::GetAtt" in json.dumps(admit["Resource"][0])


def test_another_orchestrator_has_a_handler_of_its_own(made: HyperPodStack) -> None:
    assert made.cluster.node.try_find_child("EksProvider")
    assert made.cluster.node.try_find_child("EksResource")
    assert not made.cluster.node.try_find_child("Provider")


def test_kubectl_is_led_there(template: Template) -> None:
    outputs = template.find_outputs("*")
    assert "Connect" not in outputs
    (joined,) = outputs["Kubeconfig"]["Value"].values()
    assert "aws eks update-kubeconfig --region " in joined[1][0]


def test_a_control_plane_that_is_there_already() -> None:
    subnets = [ExistingSubnet(subnet_id="subnet-1"), ExistingSubnet(subnet_id="subnet-2")]
    theirs = ExistingNetwork(subnets=subnets, security_group_ids=["sg-1"], vpc_id="vpc-1")
    existing = stack(on_eks(cluster_arn=OWN, helm_chart=None), Network(existing=theirs))
    found = Template.from_stack(existing)
    found.resource_count_is("AWS::EKS::Cluster", 0)
    found.resource_count_is("AWS::EKS::Nodegroup", 0)
    (resource,) = found.find_resources("Custom::HyperPodCluster").values()
    assert resource["Properties"]["Request"]["Orchestrator"] == {"Eks": {"ClusterArn": OWN}}
    (add_on,) = found.find_resources("AWS::EKS::Addon").values()
    assert add_on["Properties"]["AddonName"] == "amazon-sagemaker-hyperpod-training-operator"


def test_subnets_are_tagged_for_load_balancers_and_hold_the_pods(template: Template) -> None:
    tags = [
        tag["Key"]
        for subnet in template.find_resources("AWS::EC2::Subnet").values()
        for tag in subnet["Properties"]["Tags"]
    ]
    assert tags.count("kubernetes.io/role/internal-elb") == tags.count("kubernetes.io/role/elb") == 2


def test_a_p5_takes_81_addresses() -> None:
    # 62 nodes of 81 addresses and one more: no /20 holds them
    many = InstanceGroup(instance_group_name="gpu", instance_type="ml.p5.48xlarge", instance_count=62)
    found = Template.from_stack(stack(on_eks(many)))
    subnets = found.find_resources("AWS::EC2::Subnet").values()
    sizes = [int(subnet["Properties"]["CidrBlock"].rpartition("/")[2]) for subnet in subnets]
    assert min(sizes) <= 19


def test_a_closed_network_reaches_what_kubernetes_needs() -> None:
    found = json.dumps(Template.from_stack(stack(on_eks(), CLOSED)).to_json())
    for service in ("eks", "eks-auth", "ecr.api", "ecr.dkr", "sagemaker.api", "sts"):
        assert f'.{service}"' in found


def test_the_parts_go_together() -> None:
    app = cdk.Stack(cdk.App(), "S")
    network = HyperPodNetwork(app, "Network", availability_zone_ids=ZONES)
    with pytest.raises(ConstructError, match="needs a control plane"):
        HyperPodCluster(app, "A", cluster=on_eks(), network=network)
    orchestrator = on_eks().orchestrator.eks
    assert orchestrator
    plane = EksControlPlane(app, "Eks", orchestrator=orchestrator, network=network)
    slurm = Cluster(instance_groups=[GPU])
    with pytest.raises(ConstructError, match=r"needs orchestrator\.eks"):
        HyperPodCluster(app, "B", cluster=slurm, network=network, control_plane=plane)
    made = HyperPodCluster(app, "C", cluster=on_eks(), network=network, control_plane=plane)
    assert made.controller_ssm_target is None


def test_the_bootstrap_guard_may_ask_for_nodes_as_the_handler_may() -> None:
    """UpdateCluster asks for nodes again, with the rights of whoever calls it."""
    stack = cdk.Stack(cdk.App(), "S", env=cdk.Environment(account="111122223333", region="us-west-2"))
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=ZONES)
    orchestrator = EksOrchestrator(helm_chart=CHART)
    HyperPodCluster(
        stack,
        "C",
        cluster=replace(on_eks(), node_provisioning_mode=NodeProvisioningMode.CONTINUOUS),
        network=network,
        control_plane=EksControlPlane(stack, "Eks", orchestrator=orchestrator, network=network),
        lifecycle=Lifecycle(bootstrap_guard=BootstrapGuard()),
    )
    policies = Template.from_stack(stack).find_resources("AWS::IAM::ManagedPolicy")
    admit = [
        (name, statement["Action"], statement["Resource"])
        for name, policy in policies.items()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if statement.get("Sid") == "AdmitNodes"
    ]
    guard, handler = sorted(admit, key=lambda one: "BootstrapGuard" not in one[0])
    assert "BootstrapGuard" in guard[0]
    assert guard[1:] == handler[1:]
