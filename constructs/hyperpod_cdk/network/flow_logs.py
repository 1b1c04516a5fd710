"""Flow logs of a VPC in CloudWatch Logs."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.access.keys import encrypted_log_group
from hyperpod_cdk.service import permissions


class FlowLogs(Construct):
    """Log every accepted and rejected flow of a VPC.

    Args:
        vpc_id: The VPC.
        retention: How long flows are kept.
        encryption_key: Customer-managed key of the log group. Default: encrypted by CloudWatch Logs.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc_id: str,
        retention: logs.RetentionDays,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.log_group = encrypted_log_group(
            self,
            "LogGroup",
            retention=retention,
            encryption_key=encryption_key,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("vpc-flow-logs.amazonaws.com"),
            description="VPC flow logs write to their log group",
        )
        self.policy = iam.ManagedPolicy(
            self,
            "Policy",
            roles=[self.role],
            statements=[
                iam.PolicyStatement(
                    sid="WriteFlowLogs",
                    actions=permissions.WRITE_LOG_STREAMS,
                    resources=[self.log_group.log_group_arn],
                )
            ],
        )
        self.flow_log = ec2.CfnFlowLog(
            self,
            "Resource",
            resource_id=vpc_id,
            resource_type="VPC",
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_group_name=self.log_group.log_group_name,
            deliver_logs_permission_arn=self.role.role_arn,
        )
        self.flow_log.node.add_dependency(self.policy)
