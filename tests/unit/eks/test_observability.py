"""Observability: the add-on as its schema has it, a narrow role, workspaces made or given."""

import json
from typing import Any

import pytest
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.service.eks_add_ons import OBSERVABILITY
from hyperpod_cdk.spec import NatGateways
from hyperpod_cdk.spec.add_on import AddOn
from hyperpod_cdk.spec.eks_observability import Grafana, GrafanaSignIn, MetricLevel, Metrics, Observability
from hyperpod_cdk.spec.kinds import RemovalPolicy
from tests.unit.eks.order import before, one, resources
from tests.unit.eks.services import EKS_ARN, HYPERPOD, template
from tests.unit.eks.test_storage_drivers import statements

WORKSPACE = "arn:aws:aps:eu-west-1:111122223333:workspace/ws-0"
GRAFANA = "arn:aws:grafana:us-west-2:111122223333:/workspaces/g-0"


@pytest.fixture(scope="module")
def made() -> Template:
    return template(observability=Observability(grafana=Grafana(), logging=True))


def observed(**settings: Any) -> Template:
    return template(observability=Observability(**settings))


def configuration(template: Template) -> Any:
    """What the add-on is given, references shown as their last part."""
    every = resources(template)
    value = every[one(every, "AWS::EKS::Addon", AddonName=OBSERVABILITY)]["Properties"]["ConfigurationValues"]
    parts = [value] if isinstance(value, str) else value["Fn::Join"][1]
    return json.loads("".join(part if isinstance(part, str) else _short(part) for part in parts))


def _short(reference: Any) -> str:
    match reference:
        case {"Fn::GetAtt": [_, attribute]}:
            return f"<{attribute}>"
        case {"Ref": name}:
            return f"<{name}>"
        case {"Fn::Select": [index, {"Fn::Split": [separator, _]}]}:
            return f"<{separator}{index}>"
    raise AssertionError(reference)


def test_a_new_workspace_is_told_and_kept(made: Template) -> None:
    found = configuration(made)
    assert found["ampWorkspace"] == {
        "prometheusEndpoint": "https://aps-workspaces.<:3>.<AWS::URLSuffix>/workspaces/</1>",
        "arn": "<Arn>",
    }
    made.has_resource(
        "AWS::APS::Workspace",
        {
            "DeletionPolicy": "RetainExceptOnCreate",
            "Properties": {"Tags": [{"Key": "SageMaker", "Value": "true"}], "Alias": Match.any_value()},
        },
    )


def test_a_workspace_that_is_there_is_told_by_its_arn() -> None:
    deployed = observed(prometheus_workspace_arn=WORKSPACE)
    deployed.resource_count_is("AWS::APS::Workspace", 0)
    assert configuration(deployed) == {
        "ampWorkspace": {
            "prometheusEndpoint": "https://aps-workspaces.eu-west-1.<AWS::URLSuffix>/workspaces/ws-0",
            "arn": WORKSPACE,
        }
    }
    assert statements(deployed, "Observability") == [(["aps:RemoteWrite"], [WORKSPACE])]


def test_only_what_is_set_is_told_of_metrics() -> None:
    metrics = Metrics(network=MetricLevel.ADVANCED, cluster=MetricLevel.BASIC, scrape_interval_seconds=60)
    settings = observed(
        metrics=metrics,
        add_on=AddOn(version="v1.2.0-eksbuild.1", configuration={"metricsProvider": {"x": 1}}),
    )
    assert configuration(settings)["metricsProvider"] == {
        "clusterMetrics": {"level": "BASIC", "scrapeInterval": 60},
        "networkMetrics": {"level": "ADVANCED", "scrapeInterval": 60},
        "x": 1,
    }
    settings.has_resource_properties("AWS::EKS::Addon", {"AddonVersion": "v1.2.0-eksbuild.1"})


def test_every_category_reaches_the_add_on() -> None:
    names = [name for name in Metrics.__dataclass_fields__ if name != "scrape_interval_seconds"]
    levels: Any = dict.fromkeys(names, MetricLevel.BASIC)
    metrics = Metrics(**levels)
    assert len(configuration(observed(metrics=metrics))["metricsProvider"]) == len(names) == 9


def test_129_128_it_waits_for_the_cluster_and_its_identity(made: Template) -> None:
    """It needs a HyperPod node; nothing of HyperPod's waits for it (field reports 128 and 129)."""
    every = resources(made)
    add_on = one(every, "AWS::EKS::Addon", AddonName=OBSERVABILITY)
    identity = one(
        every,
        "AWS::EKS::PodIdentityAssociation",
        Namespace="hyperpod-observability",
        ServiceAccount="hyperpod-observability-operator-otel-collector",
    )
    earlier = before(every, add_on)
    assert {HYPERPOD, identity} <= earlier
    assert one(every, "AWS::EKS::Addon", AddonName="eks-pod-identity-agent") in earlier
    assert add_on not in before(every, HYPERPOD)
    assert "PodIdentityAssociations" not in every[add_on]["Properties"]


def test_only_pods_of_this_cluster_take_the_role(made: Template) -> None:
    cluster = resources(made)[one(resources(made), "AWS::EKS::Cluster")]["Properties"]["Name"]
    made.has_resource_properties(
        "AWS::IAM::Role",
        {
            "Description": "HyperPod observability",
            "AssumeRolePolicyDocument": {
                "Version": "2012-10-17",
                "Statement": [
                    {
                        "Effect": "Allow",
                        "Principal": {"Service": "pods.eks.amazonaws.com"},
                        "Action": ["sts:AssumeRole", "sts:TagSession"],
                        "Condition": {
                            "StringEquals": {
                                "aws:SourceAccount": {"Ref": "AWS::AccountId"},
                                "aws:SourceArn": {
                                    "Fn::Join": ["", Match.array_with([f":cluster/{cluster}"])]
                                },
                            }
                        },
                    }
                ],
            },
        },
    )


def test_logs_are_written_where_they_are_asked_for(made: Template) -> None:
    assert configuration(made)["metricsProvider"] == {"logging": {"enabled": True}}
    every = resources(made)
    (policy,) = [
        resource["Properties"]["PolicyDocument"]["Statement"]
        for name, resource in every.items()
        if resource["Type"] == "AWS::IAM::ManagedPolicy" and "ObservabilityIdentity" in name
    ]
    logs = next(one for one in policy if "logs:PutLogEvents" in one["Action"])
    assert all("/aws/sagemaker/Clusters/*" in json.dumps(resource) for resource in logs["Resource"])


def test_a_new_grafana_reads_this_workspace_and_is_kept(made: Template) -> None:
    made.has_resource(
        "AWS::Grafana::Workspace",
        {
            "DeletionPolicy": "RetainExceptOnCreate",
            "Properties": {
                "AccountAccessType": "CURRENT_ACCOUNT",
                "AuthenticationProviders": ["AWS_SSO"],
                "PermissionType": "CUSTOMER_MANAGED",
                "DataSources": ["PROMETHEUS", "CLOUDWATCH"],
                "Name": Match.any_value(),
                "RoleArn": Match.any_value(),
            },
        },
    )
    every = resources(made)
    workspace = one(every, "AWS::APS::Workspace")
    (policy,) = [
        resource
        for name, resource in every.items()
        if resource["Type"] == "AWS::IAM::ManagedPolicy" and "GrafanaPolicy" in name
    ]
    assert policy["DeletionPolicy"] == "RetainExceptOnCreate"
    reads = next(
        one
        for one in policy["Properties"]["PolicyDocument"]["Statement"]
        if "aps:QueryMetrics" in one["Action"]
    )
    assert reads["Resource"] == [{"Fn::GetAtt": [workspace, "Arn"]}]
    assert "arn" in configuration(made)["amgWorkspace"]


def test_a_grafana_that_is_there_is_told() -> None:
    deployed = observed(grafana=Grafana(name="mine", arn=GRAFANA))
    deployed.resource_count_is("AWS::Grafana::Workspace", 0)
    assert configuration(deployed)["amgWorkspace"] == {"workspaceName": "mine", "arn": GRAFANA}


def test_people_may_sign_in_by_saml_and_all_may_go() -> None:
    deployed = observed(
        grafana=Grafana(sign_in=GrafanaSignIn.SAML, name="mine"), removal_policy=RemovalPolicy.DESTROY
    )
    deployed.has_resource(
        "AWS::Grafana::Workspace",
        {"DeletionPolicy": "Delete", "Properties": Match.object_like({"AuthenticationProviders": ["SAML"]})},
    )


def test_a_closed_network_gets_the_ways() -> None:
    observed().resource_count_is("AWS::EC2::VPCEndpoint", 1)
    closed = template(nat_gateways=NatGateways.NONE, observability=Observability(logging=True))
    names = json.dumps(closed.find_resources("AWS::EC2::VPCEndpoint"))
    assert all(f".{service}" in names for service in ("aps-workspaces", "logs", "eks-auth"))


def test_it_goes_on_an_existing_control_plane_too() -> None:
    deployed = template(existing=True, cluster_arn=EKS_ARN, observability=Observability())
    deployed.has_resource_properties("AWS::EKS::Addon", {"AddonName": OBSERVABILITY, "ClusterName": "mine"})
    deployed.resource_count_is("AWS::EKS::Addon", 1)
