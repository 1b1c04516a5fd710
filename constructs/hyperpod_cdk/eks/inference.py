"""Inference: models that are served on a cluster."""

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import Aws, Fn
from constructs import Construct, IDependable

from hyperpod_cdk.access.arns import arn
from hyperpod_cdk.arguments import checked_arguments
from hyperpod_cdk.eks.add_ons import add_on
from hyperpod_cdk.eks.identities import OidcProvider, Statement, WebIdentityRole, statement
from hyperpod_cdk.eks.load_balancing import controller_statements
from hyperpod_cdk.eks.tls_bucket import TlsBucket
from hyperpod_cdk.network import IHyperPodNetwork
from hyperpod_cdk.service import permissions
from hyperpod_cdk.service.eks_add_ons import INFERENCE, INFERENCE_NAMESPACE, INFERENCE_ROLE_PREFIX
from hyperpod_cdk.spec import eks_inference as spec

_SAGEMAKER = "sagemaker.amazonaws.com"
_SERVICES = ("sagemaker.api", "sts", "ecr.api", "ecr.dkr", "elasticloadbalancing", "monitoring", "logs")


class Inference(Construct):
    """The inference add-on, its roles, and its bucket.

    The operator takes its roles by the cluster's own tokens alone. Its execution role and bucket have names
    that its managed policy demands. The add-on waits for those that it looks for, and for HyperPod nodes.

    Args:
        cluster_name: of the EKS cluster.
        cluster_arn: of the HyperPod cluster; told, since the operator finds it on HyperPod nodes alone.
        provider: of the EKS cluster's tokens.
        settings: what is asked for.
        depends_on: the HyperPod cluster; certificates, metrics server and the two drivers; and Kueue, if it
            is there: its webhook refuses what comes before it is ready.
        network: of the nodes; gets ways to what the operator calls, if it is closed. Default: there is
            nothing to add.
    """

    @checked_arguments
    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster_name: str,
        cluster_arn: str,
        provider: OidcProvider,
        settings: spec.Inference,
        depends_on: Sequence[IDependable],
        network: IHyperPodNetwork | None = None,
    ) -> None:
        super().__init__(scope, construct_id)
        if network is not None:
            network.reach(*_SERVICES)
        self._provider = provider
        self.tls_bucket_name = settings.tls_bucket_name or self._tls_bucket(settings)
        """Bucket of the endpoints' certificates."""
        self.roles: dict[str, WebIdentityRole] = {}
        """Roles by what takes them."""
        configuration = {
            "executionRoleArn": self._execution_role(),
            "tlsCertificateS3Bucket": self.tls_bucket_name,
            "hyperpodClusterArn": cluster_arn,
            "alb": self._load_balancing(settings),
            "keda": self._autoscaling(settings),
            **self._gated_models(settings),
            **self._gateway(settings),
        }
        self.add_on = add_on(
            self,
            INFERENCE,
            cluster_name=cluster_name,
            settings=settings.add_on,
            configuration=configuration,
            depends_on=[*self.roles.values(), *depends_on],
        )

    def _tls_bucket(self, settings: spec.Inference) -> str:
        return TlsBucket(self, "TlsBucket", removal_policy=settings.removal_policy).bucket.bucket_name

    def _execution_role(self) -> str:
        stack = Fn.select(0, Fn.split("-", Fn.select(2, Fn.split("/", Aws.STACK_ID))))
        return self._role(
            "Operator",
            "hyperpod-inference-controller-manager",
            managed_policies=["AmazonSageMakerHyperPodInferenceAccess"],
            role_name=f"{INFERENCE_ROLE_PREFIX}-{stack}-{self.node.addr[:8]}",
            service=_SAGEMAKER,
        )

    def _load_balancing(self, settings: spec.Inference) -> Mapping[str, Any]:
        if not settings.load_balancer_controller:
            return {"enabled": False}
        role = self._role("LoadBalancing", "aws-load-balancer-controller", statements=controller_statements())
        return {"enabled": True, "serviceAccount": {"create": True, "roleArn": role}}

    def _autoscaling(self, settings: spec.Inference) -> Mapping[str, Any]:
        if not settings.autoscaling:
            return {"enabled": False}
        # which figures a model scales by, and of which workspace, is said with the model
        workspaces = arn("aps", "workspace/*")
        role = self._role(
            "Autoscaling",
            "keda-operator",
            statements=[
                statement(permissions.READ_FIGURES, "*"),
                statement(permissions.QUERY_METRICS, workspaces),
            ],
        )
        return {"enabled": True, "auth": {"aws": {"irsa": {"enabled": True, "roleArn": role}}}}

    def _gated_models(self, settings: spec.Inference) -> Mapping[str, Any]:
        if not settings.gated_models:
            return {}
        role = self._role(
            "GatedModels",
            "hyperpod-inference-service-account*",
            namespace="*",
            managed_policies=["AmazonSageMakerHyperPodGatedModelAccess"],
            service=_SAGEMAKER,
        )
        return {"jumpstartGatedModelDownloadRoleArn": role}

    def _gateway(self, settings: spec.Inference) -> Mapping[str, Any]:
        if not settings.gateway:
            return {}
        role = self._role(
            "Gateway",
            "inference-gateway-controller",
            managed_policies=["AmazonSageMakerHyperPodInferenceGatewayAccess"],
        )
        return {
            "inferenceOperator": {"enabled": True},
            "inferenceGateway": {"enabled": True, "serviceAccount": {"roleArn": role}},
        }

    def _role(
        self,
        name: str,
        service_account: str,
        *,
        namespace: str = INFERENCE_NAMESPACE,
        managed_policies: Sequence[str] = (),
        statements: Sequence[Statement] = (),
        role_name: str | None = None,
        service: str | None = None,
    ) -> str:
        made = WebIdentityRole(
            self,
            name,
            provider=self._provider,
            account=(namespace, service_account),
            description=f"HyperPod inference: {name}",
            role_name=role_name,
            managed_policies=managed_policies,
            statements=statements,
            service=service,
        )
        self.roles[name] = made
        return made.role_arn
