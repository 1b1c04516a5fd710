"""Inference: names and roles that the operator's policy demands, and everything it looks for before it."""

import json
from typing import Any

import pytest
from aws_cdk.assertions import Match, Template

from hyperpod_cdk.eks.load_balancing import controller_statements
from hyperpod_cdk.faults import ConstructError
from hyperpod_cdk.service.eks_add_ons import INFERENCE, INFERENCE_MINIMUM_VERSIONS
from hyperpod_cdk.spec import NatGateways
from hyperpod_cdk.spec.add_on import AddOn
from hyperpod_cdk.spec.eks_inference import Inference
from tests.unit.eks.order import before, one, resources
from tests.unit.eks.services import CLUSTER_ARN, EKS_ARN, HYPERPOD, PROVIDER, build, template
from tests.unit.eks.test_storage_drivers import statements

EVERYTHING = Inference(
    gated_models=True,
    gateway=True,
    model_buckets=["models"],
    add_on=AddOn(version="v2.1.0-eksbuild.1"),
)


@pytest.fixture(scope="module")
def plain() -> Template:
    return template(inference=Inference())


@pytest.fixture(scope="module")
def full() -> Template:
    return template(inference=EVERYTHING)


def configuration(template: Template) -> Any:
    """What the add-on is given; a role is shown as the account that may take it."""
    every = resources(template)
    parts = every[one(every, "AWS::EKS::Addon", AddonName=INFERENCE)]["Properties"]["ConfigurationValues"]
    shown = [part if isinstance(part, str) else _shown(every, part) for part in parts["Fn::Join"][1]]
    return json.loads("".join(shown))


def _shown(every: Any, reference: Any) -> str:
    if "Ref" in reference:
        return f"<{every[reference['Ref']]['Type']}>"
    return f"<{subject(every, reference['Fn::GetAtt'][0])}>"


def trust(every: Any, role: str) -> Any:
    document = every[role]["Properties"]["AssumeRolePolicyDocument"]
    if "Statement" in document:
        return document
    parts = document["Fn::Join"][1]
    return json.loads("".join(part if isinstance(part, str) else "ISSUER" for part in parts))


def subject(every: Any, role: str) -> str:
    (condition,) = trust(every, role)["Statement"][0]["Condition"].values()
    (found,) = [value for key, value in condition.items() if key.endswith(":sub")]
    return str(found).removeprefix("system:serviceaccount:")


SYSTEM = "hyperpod-inference-system"
BASE = {
    "executionRoleArn": f"<{SYSTEM}:hyperpod-inference-controller-manager>",
    "tlsCertificateS3Bucket": "<AWS::S3::Bucket>",
    "hyperpodClusterArn": CLUSTER_ARN,
    "alb": {
        "enabled": True,
        "serviceAccount": {"create": True, "roleArn": f"<{SYSTEM}:aws-load-balancer-controller>"},
    },
    "keda": {
        "enabled": True,
        "auth": {"aws": {"irsa": {"enabled": True, "roleArn": f"<{SYSTEM}:keda-operator>"}}},
    },
}


def test_the_add_on_is_told_its_roles_and_bucket(plain: Template) -> None:
    assert configuration(plain) == BASE


def test_gateway_and_gated_models_bring_their_roles(full: Template) -> None:
    assert configuration(full) == {
        **BASE,
        "jumpstartGatedModelDownloadRoleArn": "<*:hyperpod-inference-service-account*>",
        "inferenceOperator": {"enabled": True},
        "inferenceGateway": {
            "enabled": True,
            "serviceAccount": {"roleArn": f"<{SYSTEM}:inference-gateway-controller>"},
        },
    }
    full.has_resource_properties(
        "AWS::EKS::Addon", {"AddonName": INFERENCE, "AddonVersion": "v2.1.0-eksbuild.1"}
    )


def test_what_is_there_already_is_not_installed() -> None:
    found = configuration(template(inference=Inference(load_balancer_controller=False, autoscaling=False)))
    assert (found["alb"], found["keda"]) == ({"enabled": False}, {"enabled": False})


def test_a_wildcard_account_is_compared_as_one(full: Template) -> None:
    every = resources(full)
    roles = [name for name, resource in every.items() if resource["Type"] == "AWS::IAM::Role"]
    web = [name for name in roles if name.startswith(("ServicesInference", "ServicesMountpoint"))]
    operators = {subject(every, name): set(trust(every, name)["Statement"][0]["Condition"]) for name in web}
    assert {account for account, used in operators.items() if used == {"StringLike"}} == {
        "*:hyperpod-inference-service-account*"
    }
    assert len(operators) == 6


def test_names_are_those_of_the_managed_policy(plain: Template) -> None:
    """The operator may write to no bucket, and pass no role, of another name."""
    every = resources(plain)
    bucket = every[one(every, "AWS::S3::Bucket")]["Properties"]
    assert bucket["BucketName"]["Fn::Join"][1][0] == "hyperpod-tls-"
    named = [
        resource["Properties"]
        for resource in every.values()
        if resource["Type"] == "AWS::IAM::Role" and "RoleName" in resource["Properties"]
    ]
    assert len(named) == 1
    assert named[0]["RoleName"]["Fn::Join"][1][0] == "SageMakerHyperPodInference-"
    assert "AmazonSageMakerHyperPodInferenceAccess" in json.dumps(named[0]["ManagedPolicyArns"])
    document = json.dumps(named[0]["AssumeRolePolicyDocument"])
    assert "sagemaker.amazonaws.com" in document


def test_the_bucket_is_private_and_kept(plain: Template) -> None:
    plain.has_resource(
        "AWS::S3::Bucket",
        {
            "DeletionPolicy": "RetainExceptOnCreate",
            "Properties": Match.object_like(
                {
                    "VersioningConfiguration": {"Status": "Enabled"},
                    "PublicAccessBlockConfiguration": {
                        "BlockPublicAcls": True,
                        "BlockPublicPolicy": True,
                        "IgnorePublicAcls": True,
                        "RestrictPublicBuckets": True,
                    },
                }
            ),
        },
    )


def test_a_bucket_that_is_there_is_used() -> None:
    found = template(inference=Inference(tls_bucket_name="hyperpod-tls-mine"))
    found.resource_count_is("AWS::S3::Bucket", 0)
    assert configuration(found)["tlsCertificateS3Bucket"] == "hyperpod-tls-mine"


def test_everything_that_it_looks_for_comes_first(plain: Template) -> None:
    """Missing add-ons fail the installation; nothing of HyperPod's waits for it (field report 129)."""
    every = resources(plain)
    add_on = one(every, "AWS::EKS::Addon", AddonName=INFERENCE)
    earlier = before(every, add_on)
    assert HYPERPOD in earlier
    for name in INFERENCE_MINIMUM_VERSIONS:
        assert one(every, "AWS::EKS::Addon", AddonName=name) in earlier, name
    assert add_on not in before(every, HYPERPOD)


def test_models_of_ones_own_are_read_and_not_written(full: Template) -> None:
    assert statements(full, "MountpointDriver") == [
        (["s3:ListBucket"], ["arn:aws:s3:::models"]),
        (["s3:GetObject"], ["arn:aws:s3:::models/*"]),
    ]


def test_the_load_balancer_controller_changes_only_what_is_tagged_as_its_own() -> None:
    destructive = [one for one in controller_statements() if any("Delete" in a for a in one["Action"])]
    for one_statement in destructive:
        tagged = "aws:ResourceTag/elbv2.k8s.aws/cluster" in json.dumps(one_statement.get("Condition", {}))
        parts = all(
            action.split(":")[1] in ("DeleteListener", "DeleteRule", "AddListenerCertificates")
            or not action.split(":")[1].startswith("Delete")
            for action in one_statement["Action"]
        )
        assert tagged or parts, one_statement


def test_a_closed_network_gets_the_ways() -> None:
    closed = template(nat_gateways=NatGateways.NONE, inference=Inference())
    names = json.dumps(closed.find_resources("AWS::EC2::VPCEndpoint"))
    assert all(f".{service}" in names for service in ("sagemaker.api", "sts", "elasticloadbalancing"))


def test_an_existing_control_plane_gives_its_provider() -> None:
    found = template(existing=True, cluster_arn=EKS_ARN, oidc_provider_arn=PROVIDER, inference=Inference())
    every = resources(found)
    add_ons = [r["Properties"]["AddonName"] for r in found.find_resources("AWS::EKS::Addon").values()]
    assert add_ons == [INFERENCE], "the rest is its owner's"
    role = next(name for name in every if name.startswith("ServicesInferenceOperator"))
    statement = trust(every, role)["Statement"][0]
    assert statement["Principal"] == {"Federated": PROVIDER}
    issuer = PROVIDER.split(":oidc-provider/")[1]
    assert f"{issuer}:sub" in statement["Condition"]["StringEquals"]


def test_an_existing_control_plane_without_a_provider_is_refused() -> None:
    with pytest.raises(ConstructError, match="needs oidc_provider_arn"):
        build(existing=True, cluster_arn=EKS_ARN, inference=Inference())
