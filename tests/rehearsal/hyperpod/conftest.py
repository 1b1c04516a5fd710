"""An emulated account with what a cluster needs, and the service in it."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import requests
from botocore.exceptions import ClientError
from moto import mock_aws

from hyperpod_cdk.rehearsal import hyperpod
from tests.rehearsal.hyperpod.samples import REGION, Account, client, error_of

SCALES = {
    "Version": "2012-10-17",
    "Statement": [
        {
            "Effect": "Allow",
            "Action": ["sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"],
            "Resource": "arn:aws:sagemaker:us-west-2:123456789012:cluster/*",
        }
    ],
}


@pytest.fixture(autouse=True)
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("MOTO_EC2_LOAD_DEFAULT_AMIS", "false")  # half a second a test
    hyperpod.install()
    with mock_aws():
        yield


@pytest.fixture
def service(aws: None) -> hyperpod.HyperPodService:
    return hyperpod.service(region=REGION)


@pytest.fixture
def sagemaker(aws: None) -> Any:
    return client("sagemaker")


@pytest.fixture
def account(aws: None) -> Account:
    ec2, s3, iam = map(client, ("ec2", "s3", "iam"))
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=cidr, AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for cidr, zone in (("10.0.0.0/24", "us-west-2a"), ("10.0.1.0/28", "us-west-2b"))
    ]
    group = ec2.create_security_group(GroupName="cluster", Description="cluster", VpcId=vpc)["GroupId"]
    location = {"LocationConstraint": REGION}
    s3.create_bucket(Bucket="sagemaker-scripts", CreateBucketConfiguration=location)
    s3.put_object(Bucket="sagemaker-scripts", Key="scripts/on_create.sh", Body=b"#!/bin/bash\n")
    _role(iam, "scaler", "hyperpod.sagemaker.amazonaws.com")
    iam.put_role_policy(RoleName="scaler", PolicyName="scale", PolicyDocument=json.dumps(SCALES))
    return Account(
        role_arn=_role(iam, "node", "sagemaker.amazonaws.com"),
        subnet_id=subnets[0],
        small_subnet_id=subnets[1],
        security_group_id=group,
        bucket="sagemaker-scripts",
    )


@pytest.fixture
def in_service(
    account: Account, service: hyperpod.HyperPodService, sagemaker: Any
) -> Callable[..., dict[str, Any]]:
    """Create a cluster and wait until it is in service or has failed; gives its description."""

    def create(**request: Any) -> dict[str, Any]:
        request = request or account.cluster()
        sagemaker.create_cluster(**request)
        service.clock.advance(1200)
        described: dict[str, Any] = sagemaker.describe_cluster(ClusterName=request["ClusterName"])
        return described

    return create


@pytest.fixture
def refused() -> Callable[..., tuple[str, str]]:
    """Call an operation that must be refused; gives code and message."""

    def call(operation: Callable[..., Any], **request: Any) -> tuple[str, str]:
        with pytest.raises(ClientError) as caught:
            operation(**request)
        return error_of(caught.value)

    return call


@pytest.fixture
def post(aws: None) -> Callable[[str, Any], tuple[int, dict[str, Any]]]:
    """Send a body as it is, which no client would; gives HTTP status and answer."""

    def send(operation: str, body: Any) -> tuple[int, dict[str, Any]]:
        answer = requests.post(
            f"https://api.sagemaker.{REGION}.amazonaws.com/",
            data=body if isinstance(body, str) else json.dumps(body),
            headers={
                "X-Amz-Target": f"SageMaker.{operation}",
                "Content-Type": "application/x-amz-json-1.1",
                "Authorization": f"AWS4-HMAC-SHA256 Credential=x/20260101/{REGION}/sagemaker/aws4_request",
            },
            timeout=10,
        )
        return answer.status_code, answer.json()

    return send


def _role(iam: Any, name: str, service_name: str) -> str:
    statement = {"Effect": "Allow", "Principal": {"Service": service_name}, "Action": "sts:AssumeRole"}
    trust = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    arn: str = iam.create_role(RoleName=name, AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    return arn
