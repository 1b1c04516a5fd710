"""Refusals about the node provisioning mode.

docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-scaling-slurm.html.
"""

from collections.abc import Iterator

from hyperpod_cdk.rehearsal.hyperpod.rules.common import (
    Rule,
    groups,
    is_continuous,
    is_eks,
    node_type,
)
from hyperpod_cdk.rehearsal.hyperpod.state import Spec


def continuous_members(request: Spec) -> Iterator[str]:
    """Members of a group that only Continuous provisioning understands."""
    if is_continuous(request):
        return
    for group in groups(request):
        for member in ("MinInstanceCount", "InstanceRequirements"):
            if member in group:
                yield (
                    f"{member} of instance group '{group['InstanceGroupName']}' is only supported with "
                    "NodeProvisioningMode Continuous."
                )
        if "Spot" in group.get("CapacityRequirements", {}):
            yield (
                f"Spot capacity of instance group '{group['InstanceGroupName']}' is only supported with "
                "NodeProvisioningMode Continuous."
            )


def continuous_slurm_by_api(request: Spec) -> Iterator[str]:
    """With Continuous provisioning the API configures Slurm, on every group."""
    if not is_continuous(request) or is_eks(request):
        return
    for group in groups(request):
        if node_type(group) is None:
            yield (
                f"SlurmConfig is required for instance group '{group['InstanceGroupName']}' with "
                "NodeProvisioningMode Continuous."
            )


PROVISIONING_RULES: tuple[Rule, ...] = (continuous_members, continuous_slurm_by_api)
