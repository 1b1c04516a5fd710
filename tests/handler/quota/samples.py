"""Requests for compute quotas, as the custom resource's properties have them."""

from typing import Any

from hyperpod_cdk.rehearsal.hyperpod import HyperPodService
from hyperpod_cdk.rehearsal.hyperpod.governance import Governed
from tests.handler.cloudformation import Stack
from tests.handler.samples import ROLE, Request

TYPE = "ml.p4d.24xlarge"
VPC = {"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]}


def eks_cluster(service: HyperPodService, name: str = "k8s") -> str:
    """Make a cluster on Amazon EKS that is in service, without nodes; gives its ARN."""
    group = {
        "InstanceGroupName": "pool",
        "InstanceType": TYPE,
        "InstanceCount": 0,
        "ExecutionRole": ROLE,
        "LifeCycleConfig": {"SourceS3Uri": "s3://sagemaker-scripts/a", "OnCreate": "on_create.sh"},
    }
    eks = {"Eks": {"ClusterArn": f"arn:aws:eks:us-west-2:123456789012:cluster/{name}"}}
    request = {"ClusterName": name, "InstanceGroups": [group], "Orchestrator": eks, "VpcConfig": VPC}
    made = service.call("CreateCluster", request)
    service.clock.advance(3600)
    service.catch_up()
    return str(made["ClusterArn"])


def quota(cluster_arn: str, team: str = "vision", **members: Any) -> Request:
    """A quota of two instances for a team, called as the team."""
    return {
        "Name": team,
        "ClusterArn": cluster_arn,
        "ComputeQuotaConfig": {"ComputeQuotaResources": [{"InstanceType": TYPE, "Count": 2}]},
        "ComputeQuotaTarget": {"TeamName": team},
        **members,
    }


def with_count(request: Request, count: int) -> Request:
    """The same quota of another number of instances."""
    config = {"ComputeQuotaResources": [{"InstanceType": TYPE, "Count": count}]}
    return {**request, "ComputeQuotaConfig": {**request["ComputeQuotaConfig"], **config}}


def physical_id(request: Request) -> str:
    """What CloudFormation knows the quota of a request by."""
    return f"{request['ClusterArn'].rpartition('/')[-1]}/{request['Name']}"


def quota_stack(stack: Stack, logical_id: str = "Quota") -> Stack:
    """A stack with a quota, in which CloudFormation asks the same framework as in another."""
    return Stack(
        framework=stack.framework,
        logical_id=logical_id,
        resource_type="Custom::HyperPodComputeQuota",
        identity=physical_id,
    )


def there(service: HyperPodService) -> list[Governed]:
    """The quotas that are there, those on their way out too."""
    service.catch_up()
    return [one for one in service.governed.values() if one.is_there]
