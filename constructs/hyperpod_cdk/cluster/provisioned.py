"""What makes the cluster: our custom resource, or CloudFormation's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IDependable

from hyperpod_cdk.cluster.provider import ClusterProvider
from hyperpod_cdk.cluster.update_request import update_deployment
from hyperpod_cdk.cluster.waiting import MinimumCounts
from hyperpod_cdk.spec import Deployment, RemovalPolicy, Wait

CUSTOM_TYPE = "Custom::HyperPodCluster"
NATIVE_TYPE = "AWS::SageMaker::Cluster"
# Released formats of the resource's properties stay readable: a stack may be deleted by a newer handler.
_FORMAT = "1"
_WAITS = {Wait.ACCEPTED: "Accepted", Wait.IN_SERVICE: "InService", Wait.MINIMUM_COUNTS: "MinimumCounts"}


@dataclass(frozen=True, kw_only=True)
class Provisioned:
    """The cluster's resource and what it tells."""

    resource: Construct
    cluster_name: str
    cluster_arn: str
    cluster_id: str
    log_group_name: str
    controller_ssm_target: str | None
    """None: not told by this kind of resource."""
    provider: ClusterProvider | None = None
    minimum_counts: MinimumCounts | None = None


def custom_resource(
    scope: Construct,
    construct_id: str,
    request: dict[str, Any],
    *,
    controller_group: str | None,
    provider: ClusterProvider,
    deployment: Deployment,
    log_retention: logs.RetentionDays,
    encryption_key: kms.IKey | None,
    depends_on: Sequence[IDependable],
) -> Provisioned:
    """The cluster as our custom resource.

    Args:
        scope: the cluster's construct.
        construct_id: of the resource in it.
        request: the CreateCluster request.
        controller_group: which a legacy cluster's request does not tell.
        provider: of the handler.
        deployment: what to wait for, and what to leave.
        log_retention: of log groups made here.
        encryption_key: for log groups made here.
        depends_on: what must be there before the cluster.
    """
    watch = _watch(
        scope,
        request,
        provider=provider,
        deployment=deployment,
        log_retention=log_retention,
        encryption_key=encryption_key,
    )
    removes_logs = deployment.log_group_removal_policy is RemovalPolicy.DESTROY
    if removes_logs:
        provider.allow_deleting_logs()
    resource = cdk.CustomResource(
        scope,
        construct_id,
        service_token=provider.service_token,
        resource_type=CUSTOM_TYPE,
        properties={
            "Format": _FORMAT,
            "Request": request,
            "ControllerGroup": controller_group,
            "Wait": None if deployment.wait is Wait.IN_SERVICE else _WAITS[deployment.wait],
            "Watch": watch
            and {
                "StateMachine": watch.state_machine.state_machine_arn,
                "Handle": watch.handle.ref,
                "Seconds": int(watch.timeout.to_seconds()),
            },
            "DeploymentConfig": update_deployment(deployment.software_update),
            "GroupByGroup": deployment.group_by_group or None,
            "LogGroupRemoval": "Delete" if removes_logs else None,
        },
    )
    provider.allow_cluster(resource, request)
    resource.node.add_dependency(provider, *depends_on)
    if watch:
        watch.condition.node.add_dependency(resource)
    return Provisioned(
        resource=resource,
        cluster_name=resource.ref,
        cluster_arn=resource.get_att_string("ClusterArn"),
        cluster_id=resource.get_att_string("ClusterId"),
        log_group_name=resource.get_att_string("LogGroupName"),
        controller_ssm_target=resource.get_att_string("ControllerSsmTarget"),
        provider=provider,
        minimum_counts=watch,
    )


def native_resource(
    scope: Construct, request: dict[str, Any], *, depends_on: Sequence[IDependable]
) -> Provisioned:
    """The cluster as AWS::SageMaker::Cluster, which takes the request as it is.

    Args:
        scope: the cluster's construct.
        request: the CreateCluster request.
        depends_on: what must be there before the cluster.
    """
    resource = cdk.CfnResource(scope, "Resource", type=NATIVE_TYPE, properties=request)
    resource.node.add_dependency(*depends_on)
    arn = resource.get_att("ClusterArn").to_string()
    cluster_id = cdk.Fn.select(1, cdk.Fn.split("/", arn))
    name = str(request["ClusterName"])
    return Provisioned(
        resource=resource,
        cluster_name=name,
        cluster_arn=arn,
        cluster_id=cluster_id,
        log_group_name=f"/aws/sagemaker/Clusters/{name}/{cluster_id}",
        controller_ssm_target=None,
    )


def _watch(
    scope: Construct,
    request: dict[str, Any],
    *,
    provider: ClusterProvider,
    deployment: Deployment,
    log_retention: logs.RetentionDays,
    encryption_key: kms.IKey | None,
) -> MinimumCounts | None:
    if deployment.wait is not Wait.MINIMUM_COUNTS:
        return None
    look = provider.add_watch()
    watch = MinimumCounts(
        scope,
        "MinimumCounts",
        request=request,
        look=look,
        timeout=cdk.Duration.hours(deployment.wait_timeout_hours),
        log_retention=log_retention,
        encryption_key=encryption_key,
    )
    provider.allow_start(watch.state_machine)
    return watch
