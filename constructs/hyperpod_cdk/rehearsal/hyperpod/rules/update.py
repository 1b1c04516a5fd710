"""UpdateCluster: what it may change, and the cluster that it would make.

docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateCluster.html and
…/dg/smcluster-scale-down.html.
"""

from collections.abc import Iterator

from hyperpod_cdk.rehearsal.hyperpod.errors import ValidationError
from hyperpod_cdk.rehearsal.hyperpod.references import groups_of
from hyperpod_cdk.rehearsal.hyperpod.rules.common import node_type, volumes
from hyperpod_cdk.rehearsal.hyperpod.state import Spec

FIXED = (
    "InstanceType",
    "ExecutionRole",
    "ThreadsPerCore",
    "OverrideVpcConfig",
    "CapacityRequirements",
    "ImageId",
    "NetworkInterface",
)
"""Members of an instance group that stay as they were made; an update may leave them out."""

SETTINGS = (
    "NodeRecovery",
    "NodeProvisioningMode",
    "Orchestrator",
    "ClusterRole",
    "AutoScaling",
    "TieredStorageConfig",
    "RestrictedInstanceGroupsConfig",
)
"""Members of UpdateCluster that replace the cluster's own."""


def merge(current: Spec, update: Spec) -> Spec:
    """Give the cluster, as a CreateCluster request, that an update would make.

    A group of the update replaces the one of the same name, except that its fixed members and
    SlurmConfig stay when the update leaves them out. Groups that the update does not name stay.

    Args:
        current: the cluster as a CreateCluster request.
        update: an UpdateCluster request that the API model allows.

    Raises:
        ValidationError: the update changes what can not be changed.
    """
    for refusal in _refusals(current, update):
        raise ValidationError(refusal)
    merged = {**current, **{member: update[member] for member in SETTINGS if member in update}}
    deleted = set(update.get("InstanceGroupsToDelete", []))
    for member in ("InstanceGroups", "RestrictedInstanceGroups"):
        by_name = {group["InstanceGroupName"]: group for group in current.get(member, [])}
        for group in update.get(member, []):
            name = group["InstanceGroupName"]
            by_name[name] = _merge_group(by_name.get(name), group)
        merged[member] = [group for name, group in by_name.items() if name not in deleted]
    if merged.get("NodeProvisioningMode") == "Continuous" and "Orchestrator" not in update:
        merged["Orchestrator"] = _without_strategy(merged.get("Orchestrator"))
    return {member: value for member, value in merged.items() if value not in (None, [])}


def _merge_group(current: Spec | None, group: Spec) -> Spec:
    if current is None:
        return group
    kept = (*FIXED, "InstanceRequirements", "SlurmConfig")
    return {**{member: current[member] for member in kept if member in current}, **group}


def _without_strategy(orchestrator: Spec | None) -> Spec | None:
    if not orchestrator or "Slurm" not in orchestrator:
        return orchestrator
    slurm = {key: value for key, value in orchestrator["Slurm"].items() if key != "SlurmConfigStrategy"}
    return {**orchestrator, "Slurm": slurm}


def _refusals(current: Spec, update: Spec) -> Iterator[str]:
    existing = {group["InstanceGroupName"]: group for group in groups_of(current)}
    yield from _refuse_deletions(existing, update)
    yield from _refuse_orchestrator(current, update)
    yield from _refuse_role(current, update)
    for group in groups_of(update):
        name = group["InstanceGroupName"]
        if name in existing:
            yield from _refuse_changes(existing[name], group)
        elif group["InstanceCount"] < 1:
            yield f"InstanceCount of the new instance group '{name}' must be at least 1."


def _refuse_deletions(existing: dict[str, Spec], update: Spec) -> Iterator[str]:
    kept = {group["InstanceGroupName"] for group in groups_of(update)}
    deleted = update.get("InstanceGroupsToDelete", [])
    for name in deleted:
        if name not in existing:
            yield f"Instance group '{name}' in InstanceGroupsToDelete does not exist."
        elif name in kept:
            yield f"Instance group '{name}' must not be in both InstanceGroups and InstanceGroupsToDelete."
        elif node_type(existing[name]) == "Controller":
            yield f"The Controller instance group '{name}' can not be deleted."
    if deleted and not (set(existing) | kept) - set(deleted):
        yield "At least one instance group must remain in the cluster."


def _refuse_orchestrator(current: Spec, update: Spec) -> Iterator[str]:
    before, after = current.get("Orchestrator", {}), update.get("Orchestrator")
    if after is None:
        return
    if before.get("Eks") != after.get("Eks"):
        yield "The Amazon EKS orchestrator of a cluster can not be changed."
    database = before.get("Slurm", {}).get("AccountingDatabase")
    if database and not after.get("Slurm", {}).get("AccountingDatabase"):
        yield "AccountingDatabase can not be removed once it is attached."


def _refuse_role(current: Spec, update: Spec) -> Iterator[str]:
    """…/dg/sagemaker-hyperpod-eks-autoscaling-cluster.html: not while the role is at work."""
    parts = (current, {**current, **update})
    scales = all(part.get("AutoScaling", {}).get("Mode") == "Enable" for part in parts)
    before, after = current.get("ClusterRole"), update.get("ClusterRole")
    if scales and before and after and before != after:
        yield "ClusterRole can not be changed while AutoScaling is enabled."


def _refuse_changes(before: Spec, after: Spec) -> Iterator[str]:
    name = before["InstanceGroupName"]
    for member in FIXED:
        if member in after and after[member] != before.get(member):
            yield (
                f"{member} of instance group '{name}' can not be changed from {before.get(member)} to "
                f"{after[member]}. Create a new instance group instead."
            )
    if ("InstanceRequirements" in after) and "InstanceRequirements" not in before:
        yield f"Instance group '{name}' can not change from InstanceType to InstanceRequirements."
    old_type, new_type = node_type(before), node_type(after)
    if old_type and new_type and old_type != new_type:
        yield f"NodeType of instance group '{name}' can not be changed from {old_type} to {new_type}."
    if "InstanceStorageConfigs" in after and _keys(before) != _keys(after):
        yield f"VolumeKmsKeyId of instance group '{name}' can not be changed."


def _keys(group: Spec) -> set[tuple[bool, str]]:
    return {
        (bool(volume.get("RootVolume")), volume["VolumeKmsKeyId"])
        for volume in volumes(group, "EbsVolumeConfig")
        if "VolumeKmsKeyId" in volume
    }
