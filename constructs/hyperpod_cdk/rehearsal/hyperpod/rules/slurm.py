"""Refusals about Slurm that the API configures.

docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html and
…/dg/sagemaker-hyperpod-slurm-api-config-migration.html.
"""

from collections.abc import Iterator

from hyperpod_cdk.rehearsal.hyperpod.rules.common import (
    Rule,
    configures_slurm,
    groups,
    is_continuous,
    is_eks,
    node_type,
)
from hyperpod_cdk.rehearsal.hyperpod.state import Spec


def one_orchestrator(request: Spec) -> Iterator[str]:
    """Amazon EKS or Slurm, not both."""
    if {"Eks", "Slurm"} <= set(request.get("Orchestrator", {})):
        yield "Orchestrator must specify exactly one of Eks and Slurm."
    if is_eks(request) and any(map(node_type, groups(request))):
        yield "SlurmConfig is not supported for clusters that Amazon EKS orchestrates."


def one_controller_group(request: Spec) -> Iterator[str]:
    """Exactly one group of controllers."""
    if not configures_slurm(request):
        return
    found = [group for group in groups(request) if node_type(group) == "Controller"]
    if not found:
        yield f"Cluster {request['ClusterName']} has no InstanceGroup with Controller node type."
    if len(found) > 1:
        names = ", ".join(group["InstanceGroupName"] for group in found)
        yield (
            "Cluster must have exactly one InstanceGroup with Controller node type, "
            f"{len(found)} Controller Groups found: {names}."
        )


def one_controller(request: Spec) -> Iterator[str]:
    """Several controllers are a matter of provisioning_parameters.json only."""
    for group in groups(request):
        if node_type(group) == "Controller" and group["InstanceCount"] != 1:
            yield (
                f"InstanceCount of the Controller instance group '{group['InstanceGroupName']}' must be 1 "
                f"with SlurmConfig, but is {group['InstanceCount']}."
            )


def one_login_group(request: Spec) -> Iterator[str]:
    """At most one group of login nodes."""
    found = [group["InstanceGroupName"] for group in groups(request) if node_type(group) == "Login"]
    if len(found) > 1:
        yield (
            "Cluster must have at most one InstanceGroup with Login node type, "
            f"{len(found)} found: {', '.join(found)}."
        )


def partitions_on_compute(request: Spec) -> Iterator[str]:
    """Compute groups have a partition, others none."""
    for group in groups(request):
        kind, partitions = node_type(group), group.get("SlurmConfig", {}).get("PartitionNames")
        if kind in ("Controller", "Login") and partitions:
            yield (
                "Partitions can only be assigned to Compute node types, but instance group "
                f"'{group['InstanceGroupName']}' of type {kind} has {', '.join(partitions)}."
            )
        if kind == "Compute" and not partitions:
            yield f"Compute instance group '{group['InstanceGroupName']}' must have PartitionNames."


def strategy_fits_mode(request: Spec) -> Iterator[str]:
    """SlurmConfigStrategy is required, or refused with Continuous provisioning."""
    slurm = request.get("Orchestrator", {}).get("Slurm")
    if slurm is None:
        return
    given = "SlurmConfigStrategy" in slurm
    if is_continuous(request) and given:
        yield "SlurmConfigStrategy is not supported with NodeProvisioningMode Continuous."
    if not is_continuous(request) and not given:
        yield "SlurmConfigStrategy is required when Orchestrator.Slurm is specified."


def accounting_needs_continuous(request: Spec) -> Iterator[str]:
    """An external accounting database goes with Continuous provisioning only."""
    slurm = request.get("Orchestrator", {}).get("Slurm", {})
    if "AccountingDatabase" in slurm and not is_continuous(request):
        yield "AccountingDatabase is only supported with NodeProvisioningMode Continuous."


SLURM_RULES: tuple[Rule, ...] = (
    one_orchestrator,
    one_controller_group,
    one_controller,
    one_login_group,
    partitions_on_compute,
    strategy_fits_mode,
    accounting_needs_continuous,
)
