"""Amazon EKS as the orchestrator: the control plane, and what is installed on it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.spec.add_on import AddOn
from hyperpod_cdk.spec.eks_inference import Inference
from hyperpod_cdk.spec.eks_observability import Observability
from hyperpod_cdk.spec.eks_storage import Volume
from hyperpod_cdk.spec.governance import TaskGovernance
from hyperpod_cdk.spec.node_disk import NodeDisk


@dataclass(frozen=True, kw_only=True)
class AccessPolicy:
    """A policy of Amazon EKS for a principal."""

    name: str
    """Such as ``AmazonEKSClusterAdminPolicy``."""
    namespaces: Sequence[str] = ()
    """Kubernetes namespaces in which it holds. Default: the whole cluster."""


@dataclass(frozen=True, kw_only=True)
class AccessEntry:
    """Who may do what in Kubernetes."""

    principal_arn: str
    """ARN of a role or user."""
    kubernetes_groups: Sequence[str] = ()
    """Groups of the cluster's own role bindings, such as ``hyperpod-scientist-user-cluster-level``."""
    policies: Sequence[AccessPolicy] = ()


@dataclass(frozen=True, kw_only=True)
class SystemNodes:
    """A few ordinary nodes for pods that no accelerator should wait for: DNS, certificates, webhooks."""

    instance_type: str = "m6i.large"
    """Of EC2, without ``ml.``."""
    count: int = 2
    """1 or more; 2 lie in two zones."""


@dataclass(frozen=True, kw_only=True)
class HelmChart:
    """Where the chart of what HyperPod needs in Kubernetes comes from: one of three places.

    It is ``helm_chart/HyperPodHelmChart`` of aws/sagemaker-hyperpod-cli, with its dependencies under
    ``charts/`` (``helm dependency update``).
    """

    path: str | None = None
    """Folder of the chart on this machine."""
    s3_uri: str | None = None
    """Zip of that folder's content in S3, ``s3://bucket/key.zip``."""
    oci_uri: str | None = None
    """Chart in a registry, ``oci://…``; needs ``version``."""
    version: str | None = None
    sub_charts: Mapping[str, bool] = field(default_factory=dict)
    """On or off, by name, such as ``mpi-operator: false``. Default: as the chart comes."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Further values, as in a values file."""


@dataclass(frozen=True, kw_only=True)
class EksOrchestrator:
    """Amazon EKS runs the jobs. One EKS cluster carries one HyperPod cluster."""

    cluster_arn: str | None = None
    """An EKS cluster that is there already, ``arn:…:eks:…:cluster/<name>``. Its access, its own add-ons and
    HyperPod's chart are then its owner's. Default: one is made."""
    kubernetes_version: str = "1.33"
    """1.30 to 1.35; the training operator is documented up to 1.33."""
    public_access_cidrs: Sequence[str] = ()
    """Ranges that may reach the API from outside. Default: none; it is private."""
    access: Sequence[AccessEntry] = ()
    """Default: nobody but the deployment's own functions."""
    system_nodes: SystemNodes = field(default_factory=SystemNodes)
    helm_chart: HelmChart | None = None
    add_ons: Mapping[str, AddOn] = field(default_factory=dict)
    """Versions and settings of the add-ons that are installed, by name, such as ``vpc-cni``."""
    training_operator: AddOn | None = field(default_factory=AddOn)
    """HyperPodPyTorchJob, and what it needs: certificates, identity, a tag on the cluster. None: without."""
    task_governance: TaskGovernance | None = None
    """Queues, priorities and quotas of teams. Default: none."""
    observability: Observability | None = None
    """Metrics, and dashboards for them. Default: none."""
    inference: Inference | None = None
    """Models that are served. Default: none."""
    volumes: Mapping[str, Volume] = field(default_factory=dict)
    """File systems and buckets that pods mount, by their claim's name; not on an existing EKS cluster."""
    node_disk: NodeDisk = field(default_factory=NodeDisk)
    """Where nodes keep images and pods' files."""
    oidc_provider_arn: str | None = None
    """IAM identity provider of an existing EKS cluster, ``arn:…:oidc-provider/oidc.eks.…``; ``inference``
    needs it. Default: one is made for an EKS cluster that is made."""
