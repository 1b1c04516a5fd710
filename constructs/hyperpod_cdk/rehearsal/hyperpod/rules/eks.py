"""Refusals about Amazon EKS.

docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html and
…/dg/sagemaker-hyperpod-eks-autoscaling.html.
"""

from collections.abc import Iterator

from hyperpod_cdk.rehearsal.hyperpod.rules.common import Rule, groups, is_continuous, is_eks
from hyperpod_cdk.rehearsal.hyperpod.state import Spec


def members_of_eks(request: Spec) -> Iterator[str]:
    """Members that only a cluster on Amazon EKS understands."""
    if is_eks(request):
        return
    for member in ("TieredStorageConfig", "AutoScaling", "ClusterRole"):
        if member in request:
            yield f"{member} is only supported for clusters that Amazon EKS orchestrates."
    for group in groups(request):
        for member in ("KubernetesConfig", "AutoPatchConfig"):
            if member in group:
                yield (
                    f"{member} of instance group '{group['InstanceGroupName']}' is only supported for "
                    "clusters that Amazon EKS orchestrates."
                )


def eks_needs_a_vpc(request: Spec) -> Iterator[str]:
    """The nodes stand in the VPC of the EKS cluster."""
    if is_eks(request) and "VpcConfig" not in request:
        yield "VpcConfig is required for clusters that Amazon EKS orchestrates."


def autoscaling_is_complete(request: Spec) -> Iterator[str]:
    """Autoscaling acts through ClusterRole, on a cluster that provisions and recovers by itself."""
    if request.get("AutoScaling", {}).get("Mode") != "Enable":
        return
    if not is_continuous(request):
        yield "AutoScaling is only supported with NodeProvisioningMode Continuous."
    if "ClusterRole" not in request:
        yield "ClusterRole is required when AutoScaling is enabled."
    if request.get("NodeRecovery") == "None":
        yield "NodeRecovery must be Automatic when AutoScaling is enabled."


EKS_RULES: tuple[Rule, ...] = (members_of_eks, eks_needs_a_vpc, autoscaling_is_complete)
