"""HyperPod clusters on the account's control plane, and what governs them."""

from typing import Any
from unittest.mock import patch

from tests.preflight.account import BUCKET, PREFIX, SCRIPT, Account
from tests.preflight.changes import deploy
from tests.preflight.eks_specs import TEAM


def _cluster(account: Account, name: str) -> dict[str, Any]:
    scripts = {"SourceS3Uri": f"s3://{BUCKET}/{PREFIX}/", "OnCreate": SCRIPT}
    group = {
        "InstanceGroupName": "mixed",
        "InstanceType": "ml.c5.xlarge",
        "InstanceCount": 1,
        "ExecutionRole": account.role,
        "LifeCycleConfig": scripts,
    }
    return {
        "ClusterName": name,
        "InstanceGroups": [group],
        "Orchestrator": {"Eks": {"ClusterArn": account.control_plane}},
        "VpcConfig": {"Subnets": [account.subnet], "SecurityGroupIds": [account.group]},
        "NodeProvisioningMode": "Continuous",
    }


def on_control_plane(account: Account) -> None:
    """Let somebody else's HyperPod cluster be on the control plane."""
    service = account.hyperpod
    with patch.object(service, "check_references", new=False):
        service.call("CreateCluster", _cluster(account, "other"))
    account.undo.append(lambda: service.clusters.pop("other"))


def deployed(account: Account) -> str:
    """Let the stack have its cluster on the control plane; gives the cluster's ARN."""
    deploy(account, {"Cluster": {"Type": "AWS::SageMaker::Cluster", "Properties": _cluster(account, "full")}})
    return str(account.hyperpod.call("DescribeCluster", {"ClusterName": "full"})["ClusterArn"])


def existing_quota(account: Account, team: str = TEAM.team_name) -> None:
    """Let a team have a compute quota that is not the stack's."""
    request = {
        "Name": "by-hand",
        "ClusterArn": deployed(account),
        "ComputeQuotaTarget": {"TeamName": team},
        "ComputeQuotaConfig": {"ResourceSharingConfig": {"Strategy": "LendAndBorrow"}},
    }
    account.hyperpod.call("CreateComputeQuota", request)


def existing_policy(account: Account) -> None:
    """Let the cluster have a policy that is not the stack's."""
    request = {
        "Name": "by-hand",
        "ClusterArn": deployed(account),
        "SchedulerConfig": {"FairShare": "Enabled"},
    }
    account.hyperpod.call("CreateClusterSchedulerConfig", request)
