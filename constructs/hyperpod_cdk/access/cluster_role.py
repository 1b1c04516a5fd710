"""ClusterRole: what HyperPod's autoscaling may do."""

from collections.abc import Sequence

from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.access.arns import arn
from hyperpod_cdk.nag import acknowledge, wildcards

# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-iam.html (2026-10)
_SERVICE = "hyperpod.sagemaker.amazonaws.com"
_ACTIONS = ["sagemaker:BatchAddClusterNodes", "sagemaker:BatchDeleteClusterNodes"]
_ANY_CLUSTER = "a cluster's ARN ends in an id that the service draws when it is made, after this role"


class ClusterRole(Construct):
    """Role with which the service adds and deletes nodes of a cluster that scales itself.

    Args:
        volume_key_arns: Customer-managed keys of the nodes' volumes. Default: none.
    """

    def __init__(self, scope: Construct, construct_id: str, *, volume_key_arns: Sequence[str] = ()) -> None:
        super().__init__(scope, construct_id)
        self.role = iam.Role(
            self,
            "Resource",
            assumed_by=iam.ServicePrincipal(_SERVICE),
            description="Autoscaling of a HyperPod cluster",
        )
        clusters = arn("sagemaker", "cluster/*")
        statements = [iam.PolicyStatement(sid="ScaleClusters", actions=_ACTIONS, resources=[clusters])]
        if volume_key_arns:
            use = iam.PolicyStatement(
                sid="UseVolumeKeys",
                actions=["kms:CreateGrant", "kms:DescribeKey"],
                resources=list(volume_key_arns),
                conditions={"Bool": {"kms:GrantIsForAWSResource": "true"}},
            )
            statements.append(use)
        self.policy = iam.ManagedPolicy(
            self,
            "Policy",
            description="Nodes of a cluster that scales itself",
            statements=statements,
            roles=[self.role],
        )
        acknowledge(self.policy, wildcards(self, [clusters], _ANY_CLUSTER))

    @property
    def role_arn(self) -> str:
        """Its ARN."""
        return self.role.role_arn
