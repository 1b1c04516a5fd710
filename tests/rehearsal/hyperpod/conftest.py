"""An emulated account with what a cluster needs, and the service in it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from hyperpod_cdk.rehearsal import hyperpod

REGION = "us-west-2"


@dataclass(frozen=True, kw_only=True)
class Account:
    """Ids of what the account has."""

    role_arn: str
    subnet_id: str
    other_subnet_id: str
    security_group_id: str
    bucket: str

    @property
    def vpc_config(self) -> dict[str, Any]:
        return {"Subnets": [self.subnet_id], "SecurityGroupIds": [self.security_group_id]}

    @property
    def scripts(self) -> str:
        return f"s3://{self.bucket}/scripts"


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    hyperpod.install()
    with mock_aws():
        yield


@pytest.fixture
def service(aws: None) -> hyperpod.HyperPodService:
    return hyperpod.service(region=REGION)


@pytest.fixture
def sagemaker(aws: None) -> Any:
    """A client that checks nothing itself and tries once, so that the service's answers are seen."""
    config = Config(parameter_validation=False, retries={"total_max_attempts": 1})
    return boto3.client("sagemaker", region_name=REGION, config=config)


@pytest.fixture
def account(aws: None) -> Account:
    ec2, s3, iam = (boto3.client(name, region_name=REGION) for name in ("ec2", "s3", "iam"))
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for cidr, zone in (("10.0.0.0/24", "us-west-2a"), ("10.0.1.0/28", "us-west-2b"))
    ]
    group = ec2.create_security_group(GroupName="cluster", Description="cluster", VpcId=vpc)["GroupId"]
    s3.create_bucket(
        Bucket="sagemaker-scripts", CreateBucketConfiguration={"LocationConstraint": "us-west-2"}
    )
    s3.put_object(Bucket="sagemaker-scripts", Key="scripts/on_create.sh", Body=b"#!/bin/bash\n")
    return Account(
        role_arn=_role(iam, "node", "sagemaker.amazonaws.com"),
        subnet_id=subnets[0],
        other_subnet_id=subnets[1],
        security_group_id=group,
        bucket="sagemaker-scripts",
    )


def _role(iam: Any, name: str, service_name: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": service_name}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    arn: str = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    return arn
