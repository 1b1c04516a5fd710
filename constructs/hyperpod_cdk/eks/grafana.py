"""GrafanaWorkspace: where metrics are looked at."""

from collections.abc import Sequence

from aws_cdk import CfnResource, Names
from aws_cdk import aws_grafana as grafana
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.access.arns import ACCOUNT_ID, arn
from hyperpod_cdk.eks.identities import grant, statement
from hyperpod_cdk.removal import removal
from hyperpod_cdk.service import permissions
from hyperpod_cdk.spec import RemovalPolicy
from hyperpod_cdk.spec.eks_observability import Grafana

_MAX_NAME = 64


class GrafanaWorkspace(Construct):
    """A workspace of Amazon Managed Grafana, which reads one workspace of metrics; or one that is there.

    Args:
        settings: the new one's, or name and ARN of the one that is there.
        workspace_arn: of the metrics.
        logs: log groups and streams that it reads too. Default: none.
        removal_policy: of the new one.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        settings: Grafana,
        workspace_arn: str,
        logs: Sequence[str] = (),
        removal_policy: RemovalPolicy = RemovalPolicy.RETAIN,
    ) -> None:
        super().__init__(scope, construct_id)
        self.workspace: grafana.CfnWorkspace | None = None
        if settings.arn is not None and settings.name is not None:
            self.name, self.arn = settings.name, settings.arn
            return
        self.name = settings.name or Names.unique_resource_name(self, max_length=_MAX_NAME, separator="-")
        self.workspace = grafana.CfnWorkspace(
            self,
            "Resource",
            name=self.name,
            account_access_type="CURRENT_ACCOUNT",
            authentication_providers=[settings.sign_in.value],
            permission_type="CUSTOMER_MANAGED",
            role_arn=self._role(workspace_arn, logs, removal_policy).attr_arn,
            data_sources=["PROMETHEUS", *(["CLOUDWATCH"] if logs else [])],
        )
        self.workspace.apply_removal_policy(removal(removal_policy))
        self.arn = arn("grafana", f"/workspaces/{self.workspace.attr_id}")

    def _role(self, workspace_arn: str, logs: Sequence[str], policy: RemovalPolicy) -> iam.CfnRole:
        trust = {
            "Effect": "Allow",
            "Principal": {"Service": "grafana.amazonaws.com"},
            "Action": "sts:AssumeRole",
            "Condition": {"StringEquals": {"aws:SourceAccount": ACCOUNT_ID}},
        }
        role = iam.CfnRole(
            self,
            "Role",
            assume_role_policy_document={"Version": "2012-10-17", "Statement": [trust]},
            description="Grafana of a HyperPod cluster",
        )
        statements = [
            statement(permissions.LIST_METRICS_WORKSPACES, "*"),
            statement(permissions.READ_METRICS, workspace_arn),
            *(
                [statement(permissions.FIND_LOGS, "*"), statement(permissions.READ_LOGS, *logs)]
                if logs
                else []
            ),
        ]
        made: list[CfnResource | None] = [role, grant(self, role, statements)]
        for resource in made:
            if resource is not None:
                # a workspace that is kept keeps what it reads with
                resource.apply_removal_policy(removal(policy))
        return role
