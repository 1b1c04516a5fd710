"""Add-ons of Amazon EKS beside HyperPod's own operator: names, identities, least versions."""

from collections.abc import Mapping

from hyperpod_cdk.service.sources import GUIDE

VPC_CNI = "vpc-cni"
KUBE_PROXY = "kube-proxy"
POD_IDENTITY = "eks-pod-identity-agent"
DNS = "coredns"
CERTIFICATES = "cert-manager"

TRAINING_OPERATOR = "amazon-sagemaker-hyperpod-training-operator"
TASK_GOVERNANCE = "amazon-sagemaker-hyperpod-taskgovernance"
OBSERVABILITY = "amazon-sagemaker-hyperpod-observability"
INFERENCE = "amazon-sagemaker-hyperpod-inference"
FSX_LUSTRE = "aws-fsx-csi-driver"
MOUNTPOINT_S3 = "aws-mountpoint-s3-csi-driver"
METRICS_SERVER = "metrics-server"

OBSERVABILITY_SOURCE = f"{GUIDE}hyperpod-observability-addon-setup.html"
INFERENCE_SOURCE = f"{GUIDE}sagemaker-hyperpod-model-deployment-setup.html"

# https://docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-troubleshooting.html (2026-10)
OBSERVABILITY_ACCOUNT = ("hyperpod-observability", "hyperpod-observability-operator-otel-collector")
"""Namespace and service account."""

# what INFERENCE_SOURCE names, 2026-10
INFERENCE_NAMESPACE = "hyperpod-inference-system"
INFERENCE_MINIMUM_VERSIONS: Mapping[str, str] = {
    MOUNTPOINT_S3: "v1.14.1-eksbuild.1",
    FSX_LUSTRE: "v1.6.0-eksbuild.1",
    METRICS_SERVER: "v0.7.2-eksbuild.4",
    "cert-manager": "v1.18.2-eksbuild.2",
}
"""Of what the inference add-on demands; without it, or with an older one, it fails to install."""
GATEWAY_SINCE = "v2.0.0-eksbuild.2"
"""https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-inference-gateway.html,
2026-10."""

# https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AmazonSageMakerHyperPodInferenceAccess.html,
# v4 of 2026-07-20: it reads and writes buckets of this name, and passes a role of this one, and no others
TLS_BUCKET_PREFIX = "hyperpod-tls"
INFERENCE_ROLE_PREFIX = "SageMakerHyperPodInference"

# https://docs.aws.amazon.com/grafana/latest/userguide/what-is-Amazon-Managed-Service-Grafana.html (2026-10).
# aws/sagemaker-hyperpod-cluster-setup has the same without ap-northeast-2.
GRAFANA_REGIONS = frozenset(
    {
        *("us-east-1", "us-east-2", "us-west-2", "eu-central-1", "eu-west-1", "eu-west-2"),
        *("ap-northeast-1", "ap-northeast-2", "ap-southeast-1", "ap-southeast-2"),
    }
)

LEAST_SIZE = 4
"""The ``xlarge`` multiple of the smallest node with room for either add-on: OBSERVABILITY_SOURCE, and
sagemaker-hyperpod-model-deployment-ts-console-cfn-failures, which counts 13 pods (2026-10)."""
