"""Whether what lies round a cluster on Amazon EKS is as it should be, and came in the right order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hyperpod_cdk.rehearsal.aws.stacks.records import Event, Resource, Stack
from hyperpod_cdk.rehearsal.driver.outcome import RehearsalError
from hyperpod_cdk.rehearsal.eks import AmazonEks, Cluster

CLUSTERS = ("Custom::HyperPodCluster", "AWS::SageMaker::Cluster")
CHART = "Custom::AWSCDK-EKS-HelmChart"
_CONTROL_PLANE = "AWS::EKS::Cluster"
_IDENTITY = "AWS::EKS::PodIdentityAssociation"
_GROUP_LABEL = "sagemaker.amazonaws.com/instance-group-name"
ORDER: Sequence[tuple[str, str]] = (
    (_CONTROL_PLANE, "vpc-cni"),
    (_CONTROL_PLANE, "AWS::EKS::AccessEntry"),
    ("vpc-cni", "AWS::EKS::Nodegroup"),
    ("AWS::EKS::Nodegroup", "coredns"),
    ("coredns", "cert-manager"),
    ("vpc-cni", "cluster"),
    (CHART, "cluster"),
    ("cert-manager", "amazon-sagemaker-hyperpod-training-operator"),
    ("eks-pod-identity-agent", "amazon-sagemaker-hyperpod-training-operator"),
    (f"{_IDENTITY} hp-training-operator-controller-manager", "amazon-sagemaker-hyperpod-training-operator"),
    ("cluster", "amazon-sagemaker-hyperpod-training-operator"),
    ("cluster", "amazon-sagemaker-hyperpod-taskgovernance"),
    ("amazon-sagemaker-hyperpod-taskgovernance", "AWS::SageMaker::ClusterSchedulerConfig"),
    ("AWS::SageMaker::ClusterSchedulerConfig", "Custom::HyperPodComputeQuota"),
    ("cluster", "amazon-sagemaker-hyperpod-observability"),
    ("cluster", "amazon-sagemaker-hyperpod-inference"),
)
"""What must be there before what, by type, by an add-on's name or by an identity's service account: made so,
and unmade the other way round."""


def control_plane(eks: AmazonEks, description: Mapping[str, Any]) -> Cluster | None:
    """Give the EKS cluster of a HyperPod cluster; None where Slurm orchestrates it.

    Args:
        eks: the emulated Amazon EKS.
        description: DescribeCluster's answer.
    """
    arn = description.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
    return eks.by_arn(arn) if arn else None


def expect_platform(eks: AmazonEks, plane: Cluster, running: Mapping[str, int]) -> str:
    """Require that every node has joined Kubernetes, and every add-on works.

    Args:
        eks: the emulated Amazon EKS.
        plane: the control plane.
        running: HyperPod's nodes by instance group.

    Returns:
        What is there, for people.

    Raises:
        RehearsalError: naming what is wrong.
    """
    eks.catch_up()
    labels = [node["metadata"].get("labels", {}) for node in plane.api.objects("nodes")]
    joined = dict(Counter(one[_GROUP_LABEL] for one in labels if _GROUP_LABEL in one))
    if joined != dict(running):
        raise RehearsalError(f"in Kubernetes there are the nodes {joined}; HyperPod has {dict(running)}")
    states = {name: add_on["status"] for name, add_on in plane.add_ons.items()}
    wrong = {name: state for name, state in states.items() if state != "ACTIVE"}
    if wrong:
        raise RehearsalError(f"add-ons are not ACTIVE: {wrong}")
    return f"{sum(joined.values())} nodes in Kubernetes; add-ons ACTIVE: {', '.join(sorted(states))}"


def expect_order(stack: Stack, events: Sequence[Event], *, deleting: bool) -> int:
    """Require that resources were made, or unmade, in the order in which they need one another.

    Args:
        stack: the stack.
        events: of one operation.
        deleting: whether it was destroyed.

    Returns:
        How many pairs were compared.

    Raises:
        RehearsalError: naming the pairs that came the wrong way round.
    """
    verb = "DELETE" if deleting else "CREATE"
    began, ended = (_places(stack, events, f"{verb}_{state}") for state in ("IN_PROGRESS", "COMPLETE"))
    pairs = [(one, other) for one, other in ORDER if one in ended and other in began]
    first = [(other, one) if deleting else (one, other) for one, other in pairs]
    wrong = [f"{one} before {other}" for one, other in first if max(ended[one]) > min(began[other])]
    if wrong:
        raise RehearsalError(f"{verb.lower()}d in the wrong order; should be: {'; '.join(wrong)}")
    return len(pairs)


def _places(stack: Stack, events: Sequence[Event], status: str) -> dict[str, list[int]]:
    """Where in the history things of each kind have a status."""
    found: dict[str, list[int]] = {}
    for number, event in enumerate(events):
        if event.ResourceStatus == status:
            found.setdefault(_kind(event, stack.resources.get(event.LogicalResourceId)), []).append(number)
    return found


def _kind(event: Event, resource: Resource | None) -> str:
    if event.ResourceType in CLUSTERS:
        return "cluster"
    if event.ResourceType == "AWS::EKS::Addon":
        name = (
            resource.properties.get("AddonName") if resource else event.PhysicalResourceId.rpartition("|")[2]
        )
        return str(name)
    if event.ResourceType == _IDENTITY and resource is not None:
        return f"{_IDENTITY} {resource.properties.get('ServiceAccount')}"
    return event.ResourceType
