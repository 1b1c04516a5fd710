"""TaskGovernance: the add-on, the policy of a cluster, and what its teams have of it."""

from collections.abc import Sequence

import aws_cdk as cdk
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct, IDependable

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.eks.add_ons import add_on
from hyperpod_cdk.eks.compute_quota import ComputeQuotas
from hyperpod_cdk.spec import governance as spec

_NO_TYPE = "CloudFormation-Validate::F3006"
ADD_ON = "amazon-sagemaker-hyperpod-taskgovernance"


class TaskGovernance(Construct):
    """Kueue by the add-on alone, the policy by which it places jobs, and the quotas of teams.

    A Kueue of another release beside it breaks both (field report 135), so nothing here installs one with
    helm. The policy comes after the add-on, which must run before the service can write to it: made earlier
    it ends CreateFailed (failure mode 90). The quotas come last, and go first.

    Args:
        eks_cluster_name: of the EKS cluster.
        cluster_arn: of the HyperPod cluster.
        name: of the policy, 1-63 letters, digits and inner hyphens; another name is another policy.
        governance: what is asked for.
        depends_on: the HyperPod cluster: the add-on needs a node.
        log_retention: of the logs of the quotas' handler. Default: three months.
        encryption_key: for those logs. Default: AWS-managed keys.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        eks_cluster_name: str,
        cluster_arn: str,
        name: str,
        governance: spec.TaskGovernance,
        depends_on: Sequence[IDependable],
        log_retention: logs.RetentionDays = logs.RetentionDays.THREE_MONTHS,
        encryption_key: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        self.add_on = add_on(
            self, ADD_ON, cluster_name=eks_cluster_name, settings=governance.add_on, depends_on=depends_on
        )
        self.policy = sagemaker.CfnClusterSchedulerConfig(
            self,
            "Policy",
            cluster_arn=cluster_arn,
            name=name,
            scheduler_config=sagemaker.CfnClusterSchedulerConfig.SchedulerConfigProperty(
                fair_share=_switch(governance.fair_share),
                idle_resource_sharing=_switch(governance.idle_resource_sharing),
                priority_classes=[
                    sagemaker.CfnClusterSchedulerConfig.PriorityClassProperty(
                        name=one.name, weight=one.weight
                    )
                    for one in governance.priority_classes
                ]
                or None,
            ),
        )
        self.policy.node.add_dependency(self.add_on)
        told = cdk.Acknowledgment(id=_NO_TYPE, reason="HP529 tells of it: such lists lag behind")
        cdk.Validations.of(self.policy).acknowledge(told)
        self.quotas: ComputeQuotas | None = None
        """The quotas of teams; None where there are no teams."""
        if governance.teams:
            self.quotas = ComputeQuotas(
                self,
                "Quotas",
                teams=governance.teams,
                cluster_arn=cluster_arn,
                eks_cluster_name=eks_cluster_name,
                depends_on=[*depends_on, self.add_on, self.policy],
                log_retention=log_retention,
                encryption_key=encryption_key,
            )


def _switch(on: bool | None) -> str | None:
    return None if on is None else ("Enabled" if on else "Disabled")
