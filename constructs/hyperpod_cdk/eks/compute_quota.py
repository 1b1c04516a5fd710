"""ComputeQuotas: what each team has of a cluster, by our own custom resource.

CloudFormation has AWS::SageMaker::ComputeQuota since November 2026, in 15 Regions
(https://docs.aws.amazon.com/cdk/api/v2/docs/aws-cdk-lib.aws_sagemaker.CfnComputeQuota.html), and the CDK from
2.276.0 on.
"""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IDependable

from hyperpod_cdk.cluster.provider import HandlerProvider
from hyperpod_cdk.eks.quota_policy import statements
from hyperpod_cdk.eks.quota_request import create_compute_quota_request
from hyperpod_cdk.spec import Team

CUSTOM_TYPE = "Custom::HyperPodComputeQuota"
# Released formats of the resource's properties stay readable: a stack may be deleted by a newer handler.
_FORMAT = "1"


class ComputeQuota(Construct):
    """The quota of one team.

    Args:
        team: whose, and how much.
        cluster_arn: of the HyperPod cluster.
        service_token: of a `ComputeQuotaProvider`.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, team: Team, cluster_arn: str, service_token: str
    ) -> None:
        super().__init__(scope, construct_id)
        self.request = create_compute_quota_request(team, cluster_arn=cluster_arn)
        """The CreateComputeQuota request, in the API's own words."""
        self.resource = cdk.CustomResource(
            self,
            "Resource",
            service_token=service_token,
            resource_type=CUSTOM_TYPE,
            properties={"Format": _FORMAT, "Request": self.request},
        )
        self.compute_quota_arn = self.resource.get_att_string("ComputeQuotaArn")
        self.compute_quota_id = self.resource.get_att_string("ComputeQuotaId")
        self.namespace = self.resource.get_att_string("Namespace")
        """Kubernetes namespace of the team's jobs."""
        self.queue_name = self.resource.get_att_string("QueueName")
        """Value of the label ``kueue.x-k8s.io/queue-name`` of the team's jobs."""


class ComputeQuotas(Construct):
    """The quotas of a cluster's teams, with one handler for all.

    Args:
        teams: each with a name of its own.
        cluster_arn: of the HyperPod cluster.
        eks_cluster_name: of the EKS cluster.
        depends_on: what must be there before them, and is deleted after them: the cluster, the add-on, and
            the policy.
        log_retention: of the handler's logs. Default: three months.
        encryption_key: for the handler's logs. Default: AWS-managed keys.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        teams: Sequence[Team],
        cluster_arn: str,
        eks_cluster_name: str,
        depends_on: Sequence[IDependable],
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.provider = ComputeQuotaProvider(
            self, "Provider", log_retention=log_retention, encryption_key=encryption_key
        )
        self.quotas = {
            team.team_name: ComputeQuota(
                self,
                f"Team-{team.team_name}",
                team=team,
                cluster_arn=cluster_arn,
                service_token=self.provider.service_token,
            )
            for team in teams
        }
        """The quotas by team."""
        self.provider.allow_quotas(
            list(self.quotas.values()), cluster_arn=cluster_arn, eks_cluster_name=eks_cluster_name
        )
        for quota in self.quotas.values():
            quota.node.add_dependency(self.provider, *depends_on)


class ComputeQuotaProvider(HandlerProvider):
    """Creates, updates and deletes compute quotas for CloudFormation.

    Args:
        log_retention: of the functions' log groups. Default: three months.
        encryption_key: for the log groups. Default: AWS-managed keys.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            description="Creates, updates and deletes compute quotas of a cluster for CloudFormation",
            noun="HyperPod compute quota",
            log_retention=log_retention,
            encryption_key=encryption_key,
        )

    def allow_quotas(
        self, quotas: Sequence[ComputeQuota], *, cluster_arn: str, eks_cluster_name: str
    ) -> None:
        """Let the handler make the quotas, change them and delete them.

        Args:
            quotas: of one cluster.
            cluster_arn: of the HyperPod cluster.
            eks_cluster_name: of the EKS cluster.
        """
        stack = cdk.Stack.of(self)
        found = statements(
            stack,
            cluster_arn=cluster_arn,
            eks_cluster_name=eks_cluster_name,
            logical_ids=[_logical_id(stack, quota.resource) for quota in quotas],
        )
        self.policies.append(self._policy("Policy", found))


def _logical_id(stack: cdk.Stack, resource: cdk.CustomResource) -> str:
    element = resource.node.default_child
    assert isinstance(element, cdk.CfnElement)
    return stack.get_logical_id(element)
