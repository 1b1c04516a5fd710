"""The add-ons of Amazon EKS that are emulated, as data: what they bring, and what they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperpod_cdk.service.eks_add_ons import INFERENCE_MINIMUM_VERSIONS, LEAST_SIZE, OBSERVABILITY_ACCOUNT

HYPERPOD_LABEL = "sagemaker.amazonaws.com/compute-type"
HYPERPOD_NODE = "hyperpod"


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A kind of custom objects that an add-on brings.

    Args:
        group: of the API.
        kind: such as ``Certificate``.
        version: of the group.
        namespaced: whether its objects lie in a namespace.
    """

    group: str
    kind: str
    version: str = "v1"
    namespaced: bool = True

    @property
    def plural(self) -> str:
        """As in paths."""
        return self.kind.lower().removesuffix("y") + ("ies" if self.kind.endswith("y") else "s")

    def document(self) -> dict[str, Any]:
        """The CustomResourceDefinition."""
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"{self.plural}.{self.group}"},
            "spec": {
                "group": self.group,
                "names": {"kind": self.kind, "plural": self.plural},
                "scope": "Namespaced" if self.namespaced else "Cluster",
                "versions": [{"name": self.version, "served": True, "storage": True, "schema": schema}],
            },
        }


@dataclass(frozen=True, kw_only=True)
class AddOn:
    """An add-on.

    Args:
        version: that is installed when none is asked for.
        namespace: where its pods run.
        workload: name of its DaemonSet or Deployment.
        on_each_node: whether it is a DaemonSet, which is healthy without nodes.
        on_hyperpod: whether its pods run on HyperPod nodes alone.
        definitions: kinds that it brings.
        needs_kinds: groups of kinds without which its objects can not be made.
        needs_add_ons: add-ons without which it is not installed, with the least version of each.
        clashes_with: groups of kinds that nobody else may have brought.
        room: the ``xlarge`` multiple of the smallest node that has room for its pods.
        identity: namespace and service account that need an association; None when it needs no rights.
        takes_identity: whether CreateAddon takes podIdentityAssociations for it.
    """

    version: str
    namespace: str = "kube-system"
    workload: str
    on_each_node: bool = False
    on_hyperpod: bool = False
    definitions: tuple[Definition, ...] = ()
    needs_kinds: tuple[str, ...] = ()
    needs_add_ons: Mapping[str, str] = field(default_factory=dict)
    clashes_with: tuple[str, ...] = ()
    room: int = 0
    identity: tuple[str, str] | None = None
    takes_identity: bool = True


_CERTIFICATES = "cert-manager.io"
KUEUE = "kueue.x-k8s.io"
# Versions are examples (October 2026): no list of a Region's was at hand, so any version is taken
ADD_ONS: Mapping[str, AddOn] = {
    "vpc-cni": AddOn(version="v1.20.4-eksbuild.2", workload="aws-node", on_each_node=True),
    "kube-proxy": AddOn(
        version="v1.33.3-eksbuild.10", workload="kube-proxy", on_each_node=True, takes_identity=False
    ),
    "coredns": AddOn(version="v1.12.4-eksbuild.1", workload="coredns", takes_identity=False),
    "eks-pod-identity-agent": AddOn(
        version="v1.3.9-eksbuild.3",
        workload="eks-pod-identity-agent",
        on_each_node=True,
        takes_identity=False,
    ),
    # aws/containers-roadmap 2712: it refuses identities
    "cert-manager": AddOn(
        version="v1.19.1-eksbuild.1",
        namespace="cert-manager",
        workload="cert-manager",
        definitions=(
            Definition(group=_CERTIFICATES, kind="Certificate"),
            Definition(group=_CERTIFICATES, kind="Issuer"),
            Definition(group=_CERTIFICATES, kind="ClusterIssuer", namespaced=False),
        ),
        clashes_with=(_CERTIFICATES,),
        takes_identity=False,
    ),
    "aws-fsx-csi-driver": AddOn(version="v1.6.0-eksbuild.1", workload="fsx-csi-controller"),
    "aws-mountpoint-s3-csi-driver": AddOn(
        version="v2.1.0-eksbuild.1", workload="s3-csi-node", on_each_node=True
    ),
    "aws-ebs-csi-driver": AddOn(version="v1.51.0-eksbuild.1", workload="ebs-csi-controller"),
    "metrics-server": AddOn(version="v0.8.0-eksbuild.2", workload="metrics-server", takes_identity=False),
    # docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html; that it takes no identity
    # of its own since v1.2.1: awslabs/awsome-distributed-ai 1075
    "amazon-sagemaker-hyperpod-training-operator": AddOn(
        version="v1.3.0-eksbuild.1",
        namespace="aws-hyperpod",
        workload="hp-training-operator-controller-manager",
        on_hyperpod=True,
        definitions=(Definition(group="sagemaker.amazonaws.com", kind="HyperPodPyTorchJob"),),
        needs_kinds=(_CERTIFICATES,),
        identity=("aws-hyperpod", "hp-training-operator-controller-manager"),
        takes_identity=False,
    ),
    # docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-setup.html
    "amazon-sagemaker-hyperpod-taskgovernance": AddOn(
        version="v1.6.1-eksbuild.1",
        namespace="kueue-system",
        workload="kueue-controller-manager",
        on_hyperpod=True,
        definitions=(
            Definition(group=KUEUE, kind="ClusterQueue", version="v1beta1", namespaced=False),
            Definition(group=KUEUE, kind="LocalQueue", version="v1beta1"),
            Definition(group=KUEUE, kind="ResourceFlavor", version="v1beta1", namespaced=False),
            Definition(group=KUEUE, kind="WorkloadPriorityClass", version="v1beta1", namespaced=False),
            Definition(group=KUEUE, kind="Workload", version="v1beta1"),
        ),
        clashes_with=(KUEUE,),
        takes_identity=False,
    ),
    # docs.aws.amazon.com/sagemaker/latest/dg/hyperpod-observability-addon-setup.html
    "amazon-sagemaker-hyperpod-observability": AddOn(
        version="v1.2.0-eksbuild.1",
        namespace="hyperpod-observability",
        workload="hyperpod-observability-controller-manager",
        on_hyperpod=True,
        room=LEAST_SIZE,
        identity=OBSERVABILITY_ACCOUNT,
    ),
    # docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html
    "amazon-sagemaker-hyperpod-inference": AddOn(
        version="v2.1.0-eksbuild.1",
        namespace="hyperpod-inference-system",
        workload="hyperpod-inference-controller-manager",
        on_hyperpod=True,
        room=LEAST_SIZE,
        needs_kinds=(_CERTIFICATES,),
        needs_add_ons=INFERENCE_MINIMUM_VERSIONS,
    ),
}
BORN_WITH = ("vpc-cni", "kube-proxy", "coredns")
"""Installed unmanaged in a new cluster, unless it is asked to come without (bootstrapSelfManagedAddons)."""
