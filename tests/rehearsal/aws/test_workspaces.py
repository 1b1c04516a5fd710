"""Workspaces of metrics and Grafana, and providers of a cluster's tokens."""

import json
from typing import Any

import pytest

from hyperpod_cdk.rehearsal.aws import EmbeddedAws
from tests.rehearsal.aws.samples import Deployer, role

URL = "https://oidc.eks.us-west-2.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF"


def grafana(role_arn: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::Grafana::Workspace",
        "Properties": {
            "Name": "metrics",
            "AccountAccessType": "CURRENT_ACCOUNT",
            "AuthenticationProviders": ["AWS_SSO"],
            "PermissionType": "CUSTOMER_MANAGED",
            "DataSources": ["PROMETHEUS"],
            "RoleArn": role_arn,
        },
    }


def test_metrics_are_kept_and_looked_at(aws: EmbeddedAws, stack: Deployer) -> None:
    resources = {
        "Metrics": {
            "Type": "AWS::APS::Workspace",
            "Properties": {"Alias": stack.name, "Tags": [{"Key": "SageMaker", "Value": "true"}]},
        },
        "Reader": role(),
        "Grafana": grafana({"Fn::GetAtt": ["Reader", "Arn"]}),
    }
    outputs = {
        "Arn": {"Value": {"Fn::GetAtt": ["Metrics", "Arn"]}},
        "Id": {"Value": {"Fn::GetAtt": ["Grafana", "Id"]}},
    }
    created = stack.create(resources, Outputs=outputs)
    assert created.status == "CREATE_COMPLETE"
    (workspace,) = aws.client("amp").list_workspaces(alias=stack.name)["workspaces"]
    assert created.outputs["Arn"] == workspace["arn"]
    assert workspace["tags"] == {"SageMaker": "true"}
    assert created.outputs["Id"].startswith("g-")
    assert stack.delete().status == "DELETE_COMPLETE"
    assert aws.client("amp").list_workspaces(alias=stack.name)["workspaces"] == []


def test_grafana_needs_a_role_that_is_there(stack: Deployer) -> None:
    created = stack.create({"Grafana": grafana("arn:aws:iam::123456789012:role/none")})
    assert created.status == "ROLLBACK_COMPLETE"


def test_a_role_trusts_a_provider_by_text(aws: EmbeddedAws, stack: Deployer) -> None:
    """The issuer is part of keys, so that the document is text."""
    trust = json.dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {
                    "Effect": "Allow",
                    "Principal": {"Federated": "PROVIDER"},
                    "Action": "sts:AssumeRoleWithWebIdentity",
                    "Condition": {"StringEquals": {"issuer:sub": "system:serviceaccount:a:b"}},
                }
            ],
        }
    )
    first, last = trust.split("PROVIDER")
    provider = {"Fn::GetAtt": ["Provider", "Arn"]}
    resources = {
        "Provider": {
            "Type": "AWS::IAM::OIDCProvider",
            "Properties": {"Url": URL, "ClientIdList": ["sts.amazonaws.com"]},
        },
        "Taker": {
            "Type": "AWS::IAM::Role",
            "Properties": {"AssumeRolePolicyDocument": {"Fn::Join": ["", [first, provider, last]]}},
        },
    }
    created = stack.create(resources)
    assert created.status == "CREATE_COMPLETE"
    iam = aws.client("iam")
    found = iam.get_role(RoleName=created.id_of("Taker"))["Role"]["AssumeRolePolicyDocument"]
    assert found["Statement"][0]["Principal"]["Federated"] == created.id_of("Provider")
    assert stack.delete().status == "DELETE_COMPLETE"
    assert iam.list_open_id_connect_providers()["OpenIDConnectProviderList"] == []


@pytest.mark.parametrize("name", ["Alias", "Nonsense"])
def test_a_property_that_is_not_known_fails_by_name(stack: Deployer, name: str) -> None:
    created = stack.create({"Metrics": {"Type": "AWS::APS::Workspace", "Properties": {name: "x"}}})
    assert created.status == ("CREATE_COMPLETE" if name == "Alias" else "ROLLBACK_COMPLETE")
    stack.delete()
