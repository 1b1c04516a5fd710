"""What an add-on's pods need to work, beyond a node to run on."""

from __future__ import annotations

from hyperpod_cdk.rehearsal.eks.catalogue import AddOn
from hyperpod_cdk.rehearsal.eks.service import AmazonEks
from hyperpod_cdk.rehearsal.eks.state import ACTIVE, Cluster
from hyperpod_cdk.rehearsal.hyperpod.permissions import allows

AGENT = "eks-pod-identity-agent"
_TRAINING_OPERATOR = "hp-training-operator-controller-manager"
_LOOKS_AT_NODES = "sagemaker:DescribeClusterNode"
_TAG = ("SageMaker", "true")
"""AmazonSageMakerHyperPodTrainingOperatorAccess lets it see nodes of clusters with this tag alone.
docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html"""


def lacks(eks: AmazonEks, cluster: Cluster, add_on: AddOn) -> str:
    """Tell what an add-on's pods lack; empty when they can work.

    Args:
        eks: the service.
        cluster: where they run.
        add_on: whose pods.
    """
    if add_on.identity is None:
        return ""
    namespace, account = add_on.identity
    if cluster.add_ons.get(AGENT, {}).get("status") != ACTIVE:
        return f"service account {namespace}/{account} gets no credentials: {AGENT} is not there"
    found = [
        one
        for one in cluster.identities.values()
        if (one["namespace"], one["serviceAccount"]) == add_on.identity
    ]
    if not found:
        return f"service account {namespace}/{account} gets no credentials: no pod identity is associated"
    return _training_operator(eks, cluster, str(found[0]["roleArn"])) if account == _TRAINING_OPERATOR else ""


def _training_operator(eks: AmazonEks, cluster: Cluster, role_arn: str) -> str:
    for guest in (guest for tenant in eks.tenants for guest in tenant.guests(cluster.arn)):
        if guest.tags.get(_TAG[0]) != _TAG[1]:
            return f"{_LOOKS_AT_NODES} is denied: cluster {guest.name} has no tag {'='.join(_TAG)}"
        if not allows(eks.account, role_arn, _LOOKS_AT_NODES, guest.arn):
            return f"{_LOOKS_AT_NODES} is denied: {role_arn} does not allow it"
        return ""
    return f"no HyperPod cluster uses {cluster.arn}"
