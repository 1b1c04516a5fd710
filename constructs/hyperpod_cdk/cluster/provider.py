"""The custom resource's provider: handler functions, their role, and CDK's provider framework round them."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from aws_cdk import custom_resources as cr
from constructs import Construct

from hyperpod_cdk.access.keys import encrypted_log_group
from hyperpod_cdk.access.permissions import WRITE_LOG_STREAMS
from hyperpod_cdk.cluster import permissions
from hyperpod_cdk.cluster.findings import (
    acknowledge_framework,
    acknowledge_functions,
    acknowledge_node_logs,
    acknowledge_policy,
)
from hyperpod_cdk.cluster.handler_code import handler_code

# CloudFormation gives up on a custom resource after 3600 s (CFN aws-resource-cloudformation-customresource);
# Lambda's own run time comes on top of the waiter's, so stay clear of it (field report 43).
MAX_WAIT = cdk.Duration.minutes(55)
_QUERY_INTERVAL = cdk.Duration.seconds(20)
# Above the handler's longest bounded wait; the provider framework advises at most 14 minutes.
_ON_EVENT_TIMEOUT = cdk.Duration.minutes(14)
_IS_COMPLETE_TIMEOUT = cdk.Duration.minutes(2)
# A managed policy holds 6144 characters (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html,
# 2026-10); a role's ARN takes up to 120 of them.
_ROLES_IN_A_POLICY = 40


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
        self._cluster_name = cluster_name
        log_groups = {
            name: encrypted_log_group(self, name, retention=log_retention, encryption_key=encryption_key)
            for name in ("Log", "FrameworkLog", "WaiterLog")
        }
        self.log_group = log_groups["Log"]
        self.framework_log_group = log_groups["FrameworkLog"]
        self.waiter_log_group = log_groups["WaiterLog"]
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description="Creates, updates and deletes a HyperPod cluster for CloudFormation",
        )
        self.policies = [
            self._policy("Policy", self._statements(training_plan_arns, custom_images=custom_images)),
            *self._pass_role_policies(execution_role_arns),
        ]
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
            disable_waiter_state_machine_logging=False,
            waiter_state_machine_log_options=cr.LogOptions(
                destination=self.waiter_log_group,
                # the execution's input holds the ResponseURL, which is a secret
                include_execution_data=False,
                level=sfn.LogLevel.ALL,
            ),
        )
        functions = [self.on_event, self.is_complete]
        acknowledge_functions(functions)
        acknowledge_framework(self.provider, functions)
        acknowledge_policy(self.policies[0], cluster_name)

    def add_watch(self) -> lambda_.Function:
        """The function that looks once whether a cluster has its nodes, for a state machine that waits."""
        with handler_code() as path:
            watch = self._function("Look", lambda_.Code.from_asset(str(path)), "watch", _IS_COMPLETE_TIMEOUT)
        acknowledge_functions([watch])
        return watch

    def allow_start(self, state_machine: sfn.StateMachine) -> None:
        """Let the handler start a state machine.

        Args:
            state_machine: which waits on when the custom resource has answered.
        """
        start = _allow("StartWatch", permissions.START_WATCH, [state_machine.state_machine_arn])
        self.policies.append(self._policy("StartWatch", [start]))

    def allow_deleting_logs(self) -> None:
        """Let the handler delete the log groups of the cluster's nodes."""
        delete = _allow("DeleteNodeLogs", permissions.DELETE_NODE_LOGS, [self._node_logs])
        self.policies.append(self._policy("DeleteLogs", [delete]))
        acknowledge_node_logs(self.policies[-1], self._cluster_name)

    @property
    def _node_logs(self) -> str:
        return cdk.Stack.of(self).format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"/aws/sagemaker/Clusters/{self._cluster_name}/*",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )

    @property
    def service_token(self) -> str:
        """ARN that a custom resource names as its ServiceToken."""
        return self.provider.service_token

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
            runtime=lambda_.Runtime.PYTHON_3_14,
            timeout=timeout,
            memory_size=256,
            role=self.role,
            log_group=self.log_group,
            environment={"AWS_DATA_PATH": "/var/task/models"},
            description=f"HyperPod cluster custom resource: {function}",
        )

    def _policy(self, construct_id: str, statements: Sequence[iam.PolicyStatement]) -> iam.ManagedPolicy:
        return iam.ManagedPolicy(
            self,
            construct_id,
            roles=[self.role],
            statements=statements,
            description="What the HyperPod cluster custom resource uses",
        )

    def _pass_role_policies(self, role_arns: Sequence[str]) -> list[iam.ManagedPolicy]:
        return [
            self._policy(
                f"PassRoles{start // _ROLES_IN_A_POLICY or ''}",
                [
                    iam.PolicyStatement(
                        sid="PassExecutionRoles",
                        actions=permissions.PASS_ROLE,
                        resources=role_arns[start : start + _ROLES_IN_A_POLICY],
                        conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
                    )
                ],
            )
            for start in range(0, len(role_arns), _ROLES_IN_A_POLICY)
        ]

    def _statements(
        self, training_plan_arns: Sequence[str], *, custom_images: bool
    ) -> list[iam.PolicyStatement]:
        stack = cdk.Stack.of(self)
        # A cluster's ARN ends in an id that the service draws, so its name cannot narrow the resource.
        clusters = stack.format_arn(service="sagemaker", resource="cluster", resource_name="*")
        service_linked = stack.format_arn(
            service="iam",
            region="",
            resource="role",
            resource_name="aws-service-role/hyperpod.sagemaker.amazonaws.com/*",
        )
        statements = [
            _allow("WriteOwnLogs", WRITE_LOG_STREAMS, [self.log_group.log_group_arn]),
            _allow("ManageClusters", permissions.MANAGE_CLUSTER, [clusters, *training_plan_arns]),
            iam.PolicyStatement(
                sid="CreateServiceLinkedRole",
                actions=permissions.CREATE_SERVICE_LINKED_ROLE,
                resources=[service_linked],
                conditions={"StringEquals": {"iam:AWSServiceName": "hyperpod.sagemaker.amazonaws.com"}},
            ),
            _allow("ReadNodeLogs", permissions.READ_NODE_LOGS, [self._node_logs]),
            _allow("FindLingeringInterfaces", permissions.FIND_INTERFACES, ["*"]),
        ]
        if custom_images:
            images = [
                stack.format_arn(service="ec2", account="", resource=kind, resource_name="*")
                for kind in ("image", "snapshot")
            ]
            statements += [
                _allow("ReadImages", permissions.READ_IMAGES, ["*"]),
                _allow("ShareImages", permissions.SHARE_IMAGES, images),
            ]
        return statements


def _allow(sid: str, actions: Sequence[str], resources: Sequence[str]) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid=sid, actions=actions, resources=resources)
