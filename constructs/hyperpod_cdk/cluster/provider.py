"""The custom resource's provider: handler functions, their role, and CDK's provider framework round them."""

from collections.abc import Mapping, Sequence
from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import custom_resources as cr
from constructs import Construct

from hyperpod_cdk.cluster import permissions
from hyperpod_cdk.cluster.handler_code import handler_code

# CloudFormation gives up on a custom resource after 3600 s (CFN aws-resource-cloudformation-customresource);
# Lambda's own run time comes on top of the waiter's, so stay clear of it (field report 43).
MAX_WAIT = cdk.Duration.minutes(55)
_QUERY_INTERVAL = cdk.Duration.seconds(20)
# Above the handler's longest bounded wait; the provider framework advises at most 14 minutes.
_ON_EVENT_TIMEOUT = cdk.Duration.minutes(14)
_IS_COMPLETE_TIMEOUT = cdk.Duration.minutes(2)


class ClusterProvider(Construct):
    """Creates, updates and deletes HyperPod clusters for CloudFormation."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        execution_role_arns: Sequence[str],
        custom_images: bool = False,
        training_plan_arns: Sequence[str] = (),
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the provider of one cluster.

        Args:
            cluster_name: whose logs the handler may read.
            execution_role_arns: the only roles that the handler may pass on.
            custom_images: allow what CreateCluster asks of its caller for a custom AMI. Default: no.
            training_plan_arns: plans that the cluster draws on. Default: none.
            log_retention: of the functions' log groups. Default: 3 months.
            encryption_key: for the log groups. Default: AWS-managed keys.
        """
        super().__init__(scope, construct_id)
        self.log_group = self._log_group("Log", log_retention, encryption_key)
        self.framework_log_group = self._log_group("FrameworkLog", log_retention, encryption_key)
        self.waiter_log_group = self._log_group("WaiterLog", log_retention, encryption_key)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description="Creates, updates and deletes a HyperPod cluster for CloudFormation",
        )
        self.log_group.grant_write(self.role)
        self._grant(cluster_name, execution_role_arns, training_plan_arns, custom_images=custom_images)
        with handler_code() as path:
            code = lambda_.Code.from_asset(str(path))
            self.on_event = self._function("OnEvent", code, "on_event", _ON_EVENT_TIMEOUT)
            self.is_complete = self._function("IsComplete", code, "is_complete", _IS_COMPLETE_TIMEOUT)
        self.provider = cr.Provider(
            self,
            "Framework",
            on_event_handler=self.on_event,
            is_complete_handler=self.is_complete,
            query_interval=_QUERY_INTERVAL,
            total_timeout=MAX_WAIT,
            log_group=self.framework_log_group,
            waiter_state_machine_log_options=cr.LogOptions(
                destination=self.waiter_log_group,
                # the execution's input holds the ResponseURL, which is a secret
                include_execution_data=False,
                level=sfn.LogLevel.ERROR,
            ),
        )

    @property
    def service_token(self) -> str:
        """ARN that a custom resource names as its ServiceToken."""
        return self.provider.service_token

    def _log_group(
        self, construct_id: str, retention: logs.RetentionDays, key: kms.IKey | None
    ) -> logs.LogGroup:
        return logs.LogGroup(
            self,
            construct_id,
            retention=retention,
            encryption_key=key,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )

    def _function(
        self,
        construct_id: str,
        code: lambda_.Code,
        function: str,
        timeout: cdk.Duration,
    ) -> lambda_.Function:
        return lambda_.Function(
            self,
            construct_id,
            code=code,
            handler=f"handler.index.{function}",
            runtime=lambda_.Runtime.PYTHON_3_13,
            timeout=timeout,
            memory_size=256,
            role=self.role,
            log_group=self.log_group,
            environment={"AWS_DATA_PATH": "/var/task/models"},
            description=f"HyperPod cluster custom resource: {function}",
        )

    def _grant(
        self,
        cluster_name: str,
        execution_role_arns: Sequence[str],
        training_plan_arns: Sequence[str],
        *,
        custom_images: bool,
    ) -> None:
        stack = cdk.Stack.of(self)
        # A cluster's ARN ends in an id that the service draws, so its name cannot narrow the resource.
        clusters = stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")
        self._allow(
            "ManageClusters",
            [*permissions.READ_CLUSTER, *permissions.WRITE_CLUSTER],
            [clusters, *training_plan_arns],
        )
        self._allow(
            "PassExecutionRoles",
            ["iam:PassRole"],
            execution_role_arns,
            {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        )
        self._allow(
            "CreateServiceLinkedRole",
            ["iam:CreateServiceLinkedRole"],
            [
                stack.format_arn(
                    service="iam",
                    region="",
                    resource="role",
                    resource_name="aws-service-role/hyperpod.sagemaker.amazonaws.com/*",
                )
            ],
            {"StringEquals": {"iam:AWSServiceName": "hyperpod.sagemaker.amazonaws.com"}},
        )
        log_group = stack.format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"/aws/sagemaker/Clusters/{cluster_name}/*",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        self._allow("ReadNodeLogs", permissions.READ_NODE_LOGS, [log_group])
        self._allow("FindLingeringInterfaces", permissions.FIND_INTERFACES, ["*"])
        if custom_images:
            self._allow_custom_images(stack)

    def _allow_custom_images(self, stack: cdk.Stack) -> None:
        self._allow("ReadCustomImages", permissions.READ_IMAGES, ["*"])
        resources = [
            stack.format_arn(service="ec2", account="", resource=kind, resource_name="*")
            for kind in ("image", "snapshot")
        ]
        self._allow("ShareCustomImages", permissions.SHARE_IMAGES, resources)

    def _allow(
        self,
        sid: str,
        actions: Sequence[str],
        resources: Sequence[str],
        conditions: Mapping[str, Any] | None = None,
    ) -> None:
        self.role.add_to_policy(
            iam.PolicyStatement(sid=sid, actions=actions, resources=resources, conditions=conditions)
        )
