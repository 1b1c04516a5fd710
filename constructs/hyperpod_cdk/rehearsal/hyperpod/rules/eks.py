"""Refusals about Amazon EKS.

docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-prerequisites.html and
…/dg/sagemaker-hyperpod-eks-autoscaling.html.
"""

from collections.abc import Iterator

from hyperpod_cdk.rehearsal.hyperpod.rules.common import Rule, groups, is_continuous, is_eks, types_of
from hyperpod_cdk.rehearsal.hyperpod.state import Spec
from hyperpod_cdk.service import instance_types


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


def restricted_groups_need_eks(request: Spec) -> Iterator[str]:
    """Restricted groups are for customizing Amazon Nova, on Amazon EKS alone.

    …/dg/nova-hp-cluster.html.
    """
    if is_eks(request):
        return
    for member in ("RestrictedInstanceGroups", "RestrictedInstanceGroupsConfig"):
        if member in request:
            yield f"{member} is only supported for clusters that Amazon EKS orchestrates."


def restricted_groups_have_a_file_system(request: Spec) -> Iterator[str]:
    """A restricted group works on a file system that the service makes: its own, or the cluster's shared one.

    …/dg/nova-hp-cluster.html: size and throughput must be given; that a shared one will do instead:
    …/APIReference/API_ClusterSharedEnvironmentConfig.html.
    """
    if "SharedEnvironmentConfig" in request.get("RestrictedInstanceGroupsConfig", {}):
        return
    for group in request.get("RestrictedInstanceGroups", []):
        if "FSxLustreConfig" not in group.get("EnvironmentConfig", {}):
            yield (
                f"EnvironmentConfig of restricted instance group '{group['InstanceGroupName']}' must have "
                "FSxLustreConfig where RestrictedInstanceGroupsConfig has none."
            )


def only_drained_nodes_have_a_drain_policy(request: Spec) -> Iterator[str]:
    """…/APIReference/API_ClusterAutoPatchConfig.html: DrainPolicy is valid with DrainFirst only."""
    for group in groups(request):
        config = group.get("AutoPatchConfig", {})
        if "DrainPolicy" in config and config["PatchingStrategy"] != "DrainFirst":
            yield (
                f"DrainPolicy of instance group '{group['InstanceGroupName']}' is only valid with "
                f"PatchingStrategy DrainFirst, not {config['PatchingStrategy']}."
            )


def checked_groups_have_no_taints(request: Spec) -> Iterator[str]:
    """Deep health checks run beside no taints of the user's, and on accelerators alone.

    …/dg/sagemaker-hyperpod-eks-resiliency-deep-health-checks.html.
    """
    if not is_eks(request):
        return
    for group in (group for group in groups(request) if group.get("OnStartDeepHealthChecks")):
        name = group["InstanceGroupName"]
        if group.get("KubernetesConfig", {}).get("Taints"):
            yield f"OnStartDeepHealthChecks of instance group '{name}' can not be used with custom taints."
        for type_name in types_of(group):
            kind = instance_types.find(type_name)
            if kind is not None and not kind.accelerators:
                yield (
                    f"OnStartDeepHealthChecks of instance group '{name}' need GPUs or Trainium, which "
                    f"{type_name} has not."
                )


EKS_RULES: tuple[Rule, ...] = (
    members_of_eks,
    eks_needs_a_vpc,
    autoscaling_is_complete,
    restricted_groups_need_eks,
    restricted_groups_have_a_file_system,
    only_drained_nodes_have_a_drain_policy,
    checked_groups_have_no_taints,
)
