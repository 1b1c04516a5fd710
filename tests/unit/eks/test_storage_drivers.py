"""Drivers of storage: narrow roles, on system nodes, never before HyperPod's."""

import json
from typing import Any

import pytest
from aws_cdk.assertions import Template

from hyperpod_cdk.service.eks_add_ons import FSX_LUSTRE, METRICS_SERVER, MOUNTPOINT_S3
from hyperpod_cdk.spec.add_on import AddOn
from hyperpod_cdk.spec.eks_inference import Inference
from hyperpod_cdk.spec.eks_storage import BucketVolume, Volume, VolumeAccess
from tests.unit.eks.order import before, one, resources
from tests.unit.eks.services import HYPERPOD, template

KEY = "arn:aws:kms:us-west-2:111122223333:key/00000000-0000-0000-0000-000000000000"
BUCKET = BucketVolume(bucket_name="data", prefix="raw/", kms_key_arn=KEY)
VOLUMES = {
    "scratch": Volume(storage="scratch"),
    "data": Volume(bucket=BUCKET, access=VolumeAccess.READ_ONLY),
    "out": Volume(bucket=BucketVolume(bucket_name="out", allow_delete=True)),
}


@pytest.fixture(scope="module")
def deployed() -> Template:
    return template(
        storage=True,
        volumes=VOLUMES,
        add_ons={
            FSX_LUSTRE: AddOn(version="v1.9.0-eksbuild.1"),
            MOUNTPOINT_S3: AddOn(configuration={"node": {"logLevel": 2}}),
        },
    )


def add_on(template: Template, name: str) -> Any:
    every = resources(template)
    return every[one(every, "AWS::EKS::Addon", AddonName=name)]["Properties"]


def statements(template: Template, driver: str) -> list[tuple[Any, Any]]:
    """Actions and resources of a driver's policy."""
    every = resources(template)
    policies = [
        resource["Properties"]["PolicyDocument"]["Statement"]
        for name, resource in every.items()
        if resource["Type"] == "AWS::IAM::ManagedPolicy" and driver in name
    ]
    assert len(policies) == 1
    return [(one["Action"], [_text(resource) for resource in one["Resource"]]) for one in policies[0]]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "".join(part if isinstance(part, str) else "aws" for part in value["Fn::Join"][1])


@pytest.mark.parametrize("name", [FSX_LUSTRE, MOUNTPOINT_S3])
def test_129_a_driver_waits_for_system_nodes_and_nothing_of_hyperpod_for_it(
    deployed: Template, name: str
) -> None:
    every = resources(deployed)
    driver = one(every, "AWS::EKS::Addon", AddonName=name)
    earlier = before(every, driver)
    assert one(every, "AWS::EKS::Nodegroup") in earlier
    assert one(every, "AWS::EKS::Addon", AddonName="coredns") in earlier
    assert HYPERPOD not in earlier
    assert driver not in before(every, HYPERPOD)


def test_lustre_has_a_pod_identity_that_only_looks(deployed: Template) -> None:
    every = resources(deployed)
    identity = one(
        every,
        "AWS::EKS::PodIdentityAssociation",
        Namespace="kube-system",
        ServiceAccount="fsx-csi-controller-sa",
    )
    assert identity in before(every, one(every, "AWS::EKS::Addon", AddonName=FSX_LUSTRE))
    assert one(every, "AWS::EKS::Cluster") in before(every, identity)
    assert statements(deployed, "LustreDriver") == [(["fsx:DescribeFileSystems"], ["*"])]
    assert add_on(deployed, FSX_LUSTRE)["AddonVersion"] == "v1.9.0-eksbuild.1"


def test_s3_may_do_what_the_volumes_do_and_no_more(deployed: Template) -> None:
    assert statements(deployed, "MountpointDriver") == [
        (["s3:ListBucket"], ["arn:aws:s3:::data"]),
        (["s3:GetObject"], ["arn:aws:s3:::data/raw/*"]),
        (["kms:Decrypt"], [KEY]),
        (["s3:ListBucket"], ["arn:aws:s3:::out"]),
        (
            ["s3:GetObject", "s3:AbortMultipartUpload", "s3:PutObject", "s3:DeleteObject"],
            ["arn:aws:s3:::out/*"],
        ),
    ]


def test_s3_takes_its_role_by_the_clusters_tokens(deployed: Template) -> None:
    every = resources(deployed)
    role = add_on(deployed, MOUNTPOINT_S3)["ServiceAccountRoleArn"]["Fn::GetAtt"][0]
    trust = every[role]["Properties"]["AssumeRolePolicyDocument"]["Fn::Join"][1]
    document = json.loads("".join(part if isinstance(part, str) else "ISSUER" for part in trust))
    assert document["Statement"] == [
        {
            "Effect": "Allow",
            "Principal": {"Federated": "ISSUER"},
            "Action": "sts:AssumeRoleWithWebIdentity",
            "Condition": {
                "StringEquals": {
                    "ISSUER:aud": "sts.amazonaws.com",
                    "ISSUER:sub": "system:serviceaccount:kube-system:s3-csi-driver-sa",
                }
            },
        }
    ]
    provider = every[one(every, "AWS::IAM::OIDCProvider")]["Properties"]
    assert provider["ClientIdList"] == ["sts.amazonaws.com"]
    assert provider["Url"] == {"Fn::GetAtt": [one(every, "AWS::EKS::Cluster"), "OpenIdConnectIssuerUrl"]}


def test_s3_runs_on_tainted_nodes_too_and_keeps_the_users_settings(deployed: Template) -> None:
    configuration = json.loads(add_on(deployed, MOUNTPOINT_S3)["ConfigurationValues"])
    assert configuration == {"node": {"tolerateAllTaints": True, "logLevel": 2}}


@pytest.mark.parametrize(
    ("arguments", "drivers"),
    [
        ({}, set()),
        ({"volumes": {"home": Volume(storage="home")}, "storage": True}, set()),
        ({"volumes": {"old": Volume(storage="old")}, "storage": True}, {FSX_LUSTRE}),
        ({"volumes": {"out": VOLUMES["out"]}}, {MOUNTPOINT_S3}),
        ({"inference": Inference()}, {FSX_LUSTRE, MOUNTPOINT_S3, METRICS_SERVER}),
    ],
)
def test_there_are_only_the_drivers_that_something_needs(arguments: Any, drivers: set[str]) -> None:
    found = template(**arguments).find_resources("AWS::EKS::Addon").values()
    names = {resource["Properties"]["AddonName"] for resource in found}
    assert names & {FSX_LUSTRE, MOUNTPOINT_S3, METRICS_SERVER} == drivers
