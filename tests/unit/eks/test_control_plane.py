"""The control plane: private, encrypted, logged, and nothing with pods before its nodes."""

import json
from pathlib import Path

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.eks import EksControlPlane, ExistingControlPlane
from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.network import HyperPodNetwork
from hyperpod_cdk.spec import NatGateways
from hyperpod_cdk.spec.eks import EksOrchestrator
from tests.unit.eks.conftest import ADMIN, SCIENTIST, build
from tests.unit.eks.order import before, one, resources


def test_130_access_is_by_entries_alone(template: Template) -> None:
    """HyperPod refuses a cluster in ConfigMap mode (field report 130)."""
    template.has_resource_properties(
        "AWS::EKS::Cluster",
        {
            "AccessConfig": {
                "AuthenticationMode": "API",
                "BootstrapClusterCreatorAdminPermissions": False,
            },
            "BootstrapSelfManagedAddons": False,
            "ResourcesVpcConfig": Match.object_like(
                {"EndpointPrivateAccess": True, "EndpointPublicAccess": False}
            ),
            "EncryptionConfig": [Match.object_like({"Resources": ["secrets"]})],
            "Version": "1.33",
        },
    )


def test_every_log_is_kept_in_a_group_that_ends(template: Template) -> None:
    cluster = resources(template)[one(resources(template), "AWS::EKS::Cluster")]
    types = cluster["Properties"]["Logging"]["ClusterLogging"]["EnabledTypes"]
    assert {one["Type"] for one in types} == {
        "api",
        "audit",
        "authenticator",
        "controllerManager",
        "scheduler",
    }
    group = one(
        resources(template),
        "AWS::Logs::LogGroup",
        LogGroupName=f"/aws/eks/{cluster['Properties']['Name']}/cluster",
    )
    assert resources(template)[group]["Properties"]["RetentionInDays"] == 90
    assert group in before(resources(template), one(resources(template), "AWS::EKS::Cluster"))


def test_its_log_group_is_not_made_anew_after_it_has_gone(template: Template) -> None:
    """The next deployment would find it there (terraform-aws-modules/terraform-aws-eks 920)."""
    all_of_them = resources(template)
    cluster = one(all_of_them, "AWS::EKS::Cluster")
    (policy,) = (
        name
        for name, resource in all_of_them.items()
        if resource["Type"] == "AWS::IAM::ManagedPolicy"
        and all_of_them[cluster]["Properties"]["RoleArn"]["Fn::GetAtt"][0]
        in [role["Ref"] for role in resource["Properties"]["Roles"]]
    )
    (statement,) = all_of_them[policy]["Properties"]["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Action"]) == ("Deny", "logs:CreateLogGroup")
    group = all_of_them[cluster]["Properties"]["Name"]
    assert f":log-group:/aws/eks/{group}/cluster" in json.dumps(statement["Resource"])
    assert policy in before(all_of_them, cluster)


def test_public_access_only_from_named_ranges(chart: Path) -> None:
    stack = build(chart, public_access_cidrs=["192.0.2.0/24"])
    Template.from_stack(stack).has_resource_properties(
        "AWS::EKS::Cluster",
        {
            "ResourcesVpcConfig": Match.object_like(
                {
                    "EndpointPrivateAccess": True,
                    "EndpointPublicAccess": True,
                    "PublicAccessCidrs": ["192.0.2.0/24"],
                }
            )
        },
    )


def test_129_only_what_runs_without_nodes_comes_before_them(template: Template) -> None:
    """Nothing on the way to the first node waits for a pod (field report 129)."""
    every = resources(template)
    nodes = one(every, "AWS::EKS::Nodegroup")
    add_ons = {
        name: one(every, "AWS::EKS::Addon", AddonName=name)
        for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent", "coredns", "cert-manager")
    }
    assert {add_ons["vpc-cni"], add_ons["kube-proxy"]} <= before(every, nodes)
    for name in ("coredns", "cert-manager"):
        assert nodes in before(every, add_ons[name])
    for name in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
        assert nodes not in before(every, add_ons[name])
    assert add_ons["coredns"] in before(every, add_ons["cert-manager"])


def test_129_a_hyperpod_cluster_waits_for_no_pod(chart: Path) -> None:
    stack = build(chart)
    plane = stack.node.find_child("Eks")
    assert isinstance(plane, EksControlPlane)
    waiting = cdk.CfnResource(stack, "HyperPod", type="AWS::SageMaker::Cluster")
    waiting.node.add_dependency(*plane.ready)
    every = resources(Template.from_stack(stack))
    earlier = before(every, "HyperPod")
    assert one(every, "AWS::EKS::Cluster") in earlier
    assert {one(every, "AWS::EKS::Addon", AddonName=name) for name in ("vpc-cni", "kube-proxy")} <= earlier
    for name in ("coredns", "cert-manager", "amazon-sagemaker-hyperpod-training-operator"):
        assert one(every, "AWS::EKS::Addon", AddonName=name) not in earlier
    assert one(every, "AWS::EKS::Nodegroup") not in earlier


def test_134_126_add_ons_take_over_copies_and_bring_no_identity(template: Template) -> None:
    """Field reports 134 and 126."""
    add_ons = template.find_resources("AWS::EKS::Addon").values()
    assert len(add_ons) == 6
    for add_on in add_ons:
        assert add_on["Properties"]["ResolveConflicts"] == "OVERWRITE"
        assert "PodIdentityAssociations" not in add_on["Properties"]


def test_settings_of_add_ons_reach_them(template: Template) -> None:
    template.has_resource_properties(
        "AWS::EKS::Addon",
        {
            "AddonName": "vpc-cni",
            "AddonVersion": "v1.20.4-eksbuild.2",
            "ConfigurationValues": json.dumps({"env": {"A": "1"}}),
        },
    )


def test_access_entries(template: Template) -> None:
    template.has_resource_properties(
        "AWS::EKS::AccessEntry",
        {
            "PrincipalArn": ADMIN,
            "AccessPolicies": [Match.object_like({"AccessScope": {"Type": "cluster"}})],
        },
    )
    template.has_resource_properties(
        "AWS::EKS::AccessEntry",
        {
            "PrincipalArn": SCIENTIST,
            "KubernetesGroups": ["hyperpod-scientist-user-namespace-level"],
            "AccessPolicies": [
                Match.object_like({"AccessScope": {"Type": "namespace", "Namespaces": ["team-a"]}})
            ],
        },
    )


def test_pods_of_both_kinds_of_nodes_meet(template: Template) -> None:
    every = resources(template)
    ours = {"Fn::GetAtt": [one(every, "AWS::EKS::Cluster"), "ClusterSecurityGroupId"]}
    nodes = {"Fn::GetAtt": [one(every, "AWS::EC2::SecurityGroup"), "GroupId"]}
    for target, source in ((ours, nodes), (nodes, ours)):
        template.has_resource_properties(
            "AWS::EC2::SecurityGroupIngress",
            {"GroupId": target, "SourceSecurityGroupId": source, "IpProtocol": "-1"},
        )


def test_system_nodes_are_encrypted_and_keep_their_metadata(template: Template) -> None:
    template.has_resource_properties(
        "AWS::EC2::LaunchTemplate",
        {
            "LaunchTemplateData": Match.object_like(
                {
                    "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 1},
                    "BlockDeviceMappings": [
                        Match.object_like({"Ebs": Match.object_like({"Encrypted": True})})
                    ],
                }
            )
        },
    )


def test_a_closed_network_gets_the_ways_that_pods_need(chart: Path) -> None:
    stack = build(chart, nat_gateways=NatGateways.NONE)
    names = {
        json.dumps(endpoint["Properties"]["ServiceName"])
        for endpoint in Template.from_stack(stack).find_resources("AWS::EC2::VPCEndpoint").values()
    }
    for service in ("eks", "eks-auth", "ecr.api", "ecr.dkr", "sts", "ec2", "sagemaker.api", "lambda"):
        assert any(f'.{service}"' in name for name in names), service


def test_two_zones_are_needed(chart: Path) -> None:
    with pytest.raises(ConstructError, match="two Availability Zones or more, got: usw2-az4"):
        build(chart, zones=["usw2-az4"])


def test_without_a_chart_there_is_no_function_for_kubectl(chart: Path) -> None:
    stack = build(chart, helm_chart=None, training_operator=None)
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::Lambda::Function", 0)
    assert len(template.find_resources("AWS::EKS::Addon")) == 4, "no certificates without an operator"


def test_131_a_missing_kubectl_says_what_to_install(chart: Path) -> None:
    """The layer is of an extra (field report 131)."""
    with pytest.raises(ConstructError, match=r"pip install aws-cdk\.lambda-layer-kubectl-v28"):
        build(chart, kubernetes_version="1.28")


def test_kubectl_may_be_one_version_away(chart: Path) -> None:
    Template.from_stack(build(chart, kubernetes_version="1.34")).resource_count_is("AWS::EKS::Cluster", 1)


def test_an_existing_control_plane_tells_its_name() -> None:
    stack = cdk.Stack(cdk.App(), "S")
    existing = ExistingControlPlane("arn:aws:eks:us-west-2:111122223333:cluster/mine")
    assert stack.resolve(existing.cluster_name) == "mine"
    assert list(existing.ready) == []


def test_the_network_of_slurm_is_not_touched() -> None:
    stack = cdk.Stack(cdk.App(), "S")
    network = HyperPodNetwork(stack, "Network", availability_zone_ids=["usw2-az4", "usw2-az1"])
    EksControlPlane(stack, "Eks", orchestrator=EksOrchestrator(training_operator=None), network=network)
    assert Template.from_stack(stack).find_resources("AWS::EC2::VPCEndpoint").keys() == {
        stack.get_logical_id(network.s3_endpoint)
    }
