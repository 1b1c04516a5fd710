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

from hyperpod_cdk.access.keys import encrypted_log_group
from hyperpod_cdk.cluster import permissions
from hyperpod_cdk.cluster.findings import (
    acknowledge_framework,
    acknowledge_functions,
    acknowledge_policy,
)
from hyperpod_cdk.cluster.handler_code import handler_code
from hyperpod_cdk.cluster.handler_policy import allow, policies
from hyperpod_cdk.service.permissions import WRITE_LOG_STREAMS

# CloudFormation gives up on a custom resource after 3600 s (CFN aws-resource-cloudformation-customresource);
# Lambda's own run time comes on top of the waiter's, so stay clear of it (field report 43).
MAX_WAIT = cdk.Duration.minutes(55)
_QUERY_INTERVAL = cdk.Duration.seconds(20)
# Above the handler's longest bounded wait; the provider framework advises at most 14 minutes.
_ON_EVENT_TIMEOUT = cdk.Duration.minutes(14)
_IS_COMPLETE_TIMEOUT = cdk.Duration.minutes(5)


class HandlerProvider(Construct):
    """The handler's functions with a role of their own, in the framework that CloudFormation calls.

    Args:
        description: of the role; what it does.
        noun: what the functions make, for people.
        log_retention: of the functions' log groups. Default: 3 months.
        encryption_key: for the log groups. Default: AWS-managed keys.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        description: str,
        noun: str,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self._noun = noun
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
            description=description,
        )
        self.policies = [self._policy("Logs", [*self._log_statements()])]
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

    @property
    def service_token(self) -> str:
        """ARN that a custom resource names as its ServiceToken."""
        return self.provider.service_token

    def _log_statements(self) -> Sequence[iam.PolicyStatement]:
        return [allow("WriteOwnLogs", WRITE_LOG_STREAMS, [self.log_group.log_group_arn])]

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
            description=f"{self._noun} custom resource: {function}",
        )

    def _policy(self, construct_id: str, statements: Sequence[iam.PolicyStatement]) -> iam.ManagedPolicy:
        policy = iam.ManagedPolicy(
            self,
            construct_id,
            roles=[self.role],
            statements=statements,
            description=f"What the {self._noun} custom resource uses",
        )
        acknowledge_policy(policy, statements)
        return policy


class ClusterProvider(HandlerProvider):
    """Creates, updates and deletes HyperPod clusters for CloudFormation."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_names: str,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        """Make the provider of one cluster.

        Args:
            cluster_names: whose logs the handler may read; ``?`` stands for any character.
            log_retention: of the functions' log groups. Default: 3 months.
            encryption_key: for the log groups. Default: AWS-managed keys.
        """
        self.node_logs = cdk.Stack.of(scope).format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"/aws/sagemaker/Clusters/{cluster_names}/*",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        """ARN of the log groups of the cluster's nodes, which end in an id that the service draws."""
        super().__init__(
            scope,
            construct_id,
            description="Creates, updates and deletes a HyperPod cluster for CloudFormation",
            noun="HyperPod cluster",
            log_retention=log_retention,
            encryption_key=encryption_key,
        )

    def allow_cluster(self, resource: cdk.CustomResource, request: Mapping[str, Any]) -> None:
        """Let the handler make the cluster, change it and delete it.

        Args:
            resource: whose cluster it is.
            request: the CreateCluster request.
        """
        stack = cdk.Stack.of(resource)
        element = resource.node.default_child
        assert isinstance(element, cdk.CfnElement)
        found = policies(request, stack=stack, logical_id=stack.get_logical_id(element))
        for name, statements in found.items():
            self.policies.append(self._policy(name, statements))

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
        self._allow_more(allow("StartWatch", permissions.START_WATCH, [state_machine.state_machine_arn]))

    def allow_deleting_logs(self) -> None:
        """Let the handler delete the log groups of the cluster's nodes."""
        self._allow_more(allow("DeleteNodeLogs", permissions.DELETE_NODE_LOGS, [self.node_logs]))

    def _log_statements(self) -> Sequence[iam.PolicyStatement]:
        read = allow("ReadNodeLogs", permissions.READ_NODE_LOGS, [self.node_logs])
        return [*super()._log_statements(), read]

    def _allow_more(self, statement: iam.PolicyStatement) -> None:
        # not in a policy of its own: a role takes ten
        self.policies[0].add_statements(statement)
        acknowledge_policy(self.policies[0], [statement])
