"""Requests for clusters, and what the tests ask of the answers."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

Request = dict[str, Any]
REGION = "us-west-2"


@cache
def client(name: str, region: str = REGION) -> Any:
    """Give a client that checks nothing itself and tries once, so that the service's answers are seen.

    One for all tests, since botocore takes a quarter of a second to make one.
    """
    config = Config(parameter_validation=False, retries={"total_max_attempts": 1})
    session = boto3.session.Session(aws_access_key_id="testing", aws_secret_access_key="testing")
    return session.client(name, region_name=region, config=config)


@dataclass(frozen=True, kw_only=True)
class Account:
    """Ids of what the emulated account has."""

    role_arn: str
    subnet_id: str
    small_subnet_id: str
    security_group_id: str
    bucket: str
    scaling_role_arn: str = "arn:aws:iam::123456789012:role/scaler"

    @property
    def vpc_config(self) -> Request:
        return {"Subnets": [self.subnet_id], "SecurityGroupIds": [self.security_group_id]}

    @property
    def scripts(self) -> str:
        return f"s3://{self.bucket}/scripts"

    def group(self, name: str, kind: str | None = "Compute", *, count: int = 1, **members: Any) -> Request:
        """A group; ``kind`` is its Slurm node type, None for one that the API does not configure."""
        slurm: Request = {"NodeType": kind}
        if kind == "Compute":
            slurm["PartitionNames"] = [name]
        return {
            "InstanceGroupName": name,
            "InstanceType": "ml.c5.large",
            "InstanceCount": count,
            "ExecutionRole": self.role_arn,
            "LifeCycleConfig": {"SourceS3Uri": self.scripts, "OnCreate": "on_create.sh"},
            **({"SlurmConfig": slurm} if kind else {}),
            **members,
        }

    def cluster(self, *groups: Request, continuous: bool = False, **members: Any) -> Request:
        """A Slurm cluster; without groups it has a controller and two compute nodes."""
        slurm: Request = {} if continuous else {"SlurmConfigStrategy": "Managed"}
        mode: Request = {"NodeProvisioningMode": "Continuous"} if continuous else {}
        return {
            "ClusterName": "ml",
            "InstanceGroups": list(groups)
            or [self.group("controller", "Controller"), self.group("compute", count=2)],
            "VpcConfig": self.vpc_config,
            "Orchestrator": {"Slurm": slurm},
            **mode,
            **members,
        }


def error_of(error: ClientError) -> tuple[str, str]:
    """Give code and message of an answer."""
    answer = error.response["Error"]
    return answer["Code"], answer["Message"]


def status(sagemaker: Any, name: str = "ml") -> str:
    """Give a cluster's status."""
    found: str = sagemaker.describe_cluster(ClusterName=name)["ClusterStatus"]
    return found


def counts(sagemaker: Any, name: str = "ml") -> dict[str, tuple[int, int]]:
    """Give each group's current and target count."""
    groups = sagemaker.describe_cluster(ClusterName=name)["InstanceGroups"]
    return {group["InstanceGroupName"]: (group["CurrentCount"], group["TargetCount"]) for group in groups}


def nodes(sagemaker: Any, name: str = "ml", **filters: Any) -> list[Request]:
    """Give a cluster's nodes, oldest first."""
    found: list[Request] = sagemaker.list_cluster_nodes(ClusterName=name, **filters)["ClusterNodeSummaries"]
    return found
