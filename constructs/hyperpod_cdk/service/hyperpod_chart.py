"""The chart of what HyperPod needs in Kubernetes: its parts, and by which value each is switched.

Source: helm_chart/HyperPodHelmChart of aws/sagemaker-hyperpod-cli, Chart.yaml and values.yaml; where images
come from: values and templates of its parts, and aws/eks-charts, aws-efa-k8s-device-plugin (2026-11-30).
The chart itself is not part of this library.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

RELEASE = "hyperpod-dependencies"
"""Name of the release (developer guide, sagemaker-hyperpod-eks-install-packages-using-helm-chart)."""
NAMESPACE = "kube-system"


class NodesOf(StrEnum):
    """Nodes of what a part's pods keep to."""

    NVIDIA = "NVIDIA"
    NEURON = "Neuron"
    EFA = "EFA"


@dataclass(frozen=True, kw_only=True)
class SubChart:
    """A part of the chart."""

    condition: str
    """Path of the value that switches it."""
    enabled: bool
    """Whether the chart's own values switch it on."""
    add_on: str | None = None
    """The add-on of Amazon EKS that brings the same, and so excludes it."""
    required: bool = False
    """Whether HyperPod's resilience, or pods on the nodes that it is for, count on it."""
    registry: str | None = None
    """Where its image comes from, if not from ECR of the cluster's Region; a Region: from ECR of that."""
    nodes: NodesOf | None = None
    """What its pods keep to; None: they run anywhere."""


SUB_CHARTS: Mapping[str, SubChart] = {
    "health-monitoring-agent": SubChart(
        condition="health-monitoring-agent.enabled", enabled=True, required=True
    ),
    "deep-health-check": SubChart(condition="deep-health-check.enabled", enabled=True, required=True),
    "job-auto-restart": SubChart(condition="job-auto-restart.enabled", enabled=True, required=True),
    "hyperpod-patching": SubChart(condition="hyperpod-patching.enabled", enabled=True),
    "nvidia-device-plugin": SubChart(
        condition="nvidia-device-plugin.devicePlugin.enabled",
        enabled=True,
        required=True,
        registry="nvcr.io",
        nodes=NodesOf.NVIDIA,
    ),
    "neuron-device-plugin": SubChart(
        condition="neuron-device-plugin.devicePlugin.enabled",
        enabled=True,
        required=True,
        registry="public.ecr.aws",
        nodes=NodesOf.NEURON,
    ),
    "aws-efa-k8s-device-plugin": SubChart(
        condition="aws-efa-k8s-device-plugin.devicePlugin.enabled",
        enabled=True,
        required=True,
        registry="us-west-2",
        nodes=NodesOf.EFA,
    ),
    "training-operators": SubChart(condition="trainingOperators.enabled", enabled=True, registry="docker.io"),
    "mpi-operator": SubChart(condition="mpi-operator.enabled", enabled=True, registry="docker.io"),
    "cluster-role-and-bindings": SubChart(condition="cluster-role-and-bindings.enabled", enabled=False),
    "namespaced-role-and-bindings": SubChart(condition="namespaced-role-and-bindings.enabled", enabled=False),
    "team-role-and-bindings": SubChart(condition="team-role-and-bindings.enabled", enabled=False),
    "storage": SubChart(condition="storage.enabled", enabled=False),
    "mlflow": SubChart(condition="mlflow.enabled", enabled=False),
    # helm takes a condition that no value answers as true, and these two have none
    "gpu-operator": SubChart(condition="gpu-operator.enabled", enabled=False),
    "hyperpod-ray-endpoint-operator": SubChart(
        condition="hyperpod-ray-endpoint-operator.enabled", enabled=False
    ),
    "cert-manager": SubChart(condition="cert-manager.enabled", enabled=False, add_on="cert-manager"),
    "hyperpod-inference-operator": SubChart(
        condition="inferenceOperators.enabled", enabled=False, add_on="amazon-sagemaker-hyperpod-inference"
    ),
}
"""The parts by name."""
