"""TrainingOperator: HyperPodPyTorchJob on a cluster."""

from collections.abc import Sequence

from aws_cdk import aws_eks as eks
from aws_cdk import aws_iam as iam
from constructs import Construct, IDependable

from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.eks.add_ons import add_on
from hyperpod_cdk.nag import acknowledge, aws_policies
from hyperpod_cdk.network import IHyperPodNetwork
from hyperpod_cdk.spec.add_on import AddOn

ADD_ON = "amazon-sagemaker-hyperpod-training-operator"
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html (2026-10)
NAMESPACE = "aws-hyperpod"
SERVICE_ACCOUNT = "hp-training-operator-controller-manager"
MANAGED_POLICY = "AmazonSageMakerHyperPodTrainingOperatorAccess"


class TrainingOperator(Construct):
    """The training operator, with an identity of its own.

    The identity is associated before the add-on comes, and apart from it: some versions of the add-on refuse
    one of their own (field report 126). The operator's pods run on HyperPod nodes, so it waits for the
    cluster, which must carry the tag ``SageMaker=true``: without it the managed policy lets the operator see
    no node (field report 127). Whoever makes the cluster gives it.

    Args:
        cluster_name: of the EKS cluster.
        settings: version and configuration of the add-on.
        depends_on: the HyperPod cluster, cert-manager, and the pod identity agent.
        network: of the nodes; gets ways to SageMaker and the identity agent's service, if it is closed.
            Default: there is nothing to add.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        settings: AddOn,
        depends_on: Sequence[IDependable],
        network: IHyperPodNetwork | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        if network is not None:
            network.reach("sagemaker.api", "eks-auth")
        pods = iam.ServicePrincipal("pods.eks.amazonaws.com")
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=pods,
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name(MANAGED_POLICY)],
            description="HyperPod training operator",
        )
        trust = self.role.assume_role_policy
        assert trust is not None
        trust.add_statements(iam.PolicyStatement(actions=["sts:TagSession"], principals=[pods]))
        why = "the policy that the service names: it reads nodes of clusters with one tag"
        acknowledge(self.role, aws_policies([MANAGED_POLICY], why))
        self.association = eks.CfnPodIdentityAssociation(
            self,
            "Identity",
            cluster_name=cluster_name,
            namespace=NAMESPACE,
            service_account=SERVICE_ACCOUNT,
            role_arn=self.role.role_arn,
        )
        # a name alone makes it wait for nothing, not even for the control plane
        self.association.node.add_dependency(*depends_on)
        self.add_on = add_on(
            self,
            ADD_ON,
            cluster_name=cluster_name,
            settings=settings,
            depends_on=[self.association, *depends_on],
        )
