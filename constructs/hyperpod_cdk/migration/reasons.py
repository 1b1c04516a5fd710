"""Why something is not carried over."""

import re

from hyperpod_cdk.migration.part import Part

_EKS = "belongs to clusters on Amazon EKS"
_OF_EKS = (
    (r"SlurmConfig|^Orchestrator\.Slurm", "belongs to clusters on Slurm"),
    (
        r"InstanceStorageConfigs.*Fsx",
        "belongs to clusters on Slurm: pods mount file systems by volumes of Kubernetes",
    ),
    (r"^ClusterRole", "is for autoscaling, which is off"),
    (r"^AutoScaling|^TieredStorageConfig", "says no Mode, without which it means nothing"),
    (r"InstanceStorageConfigs.*EbsVolumeConfig", "a group has one root and one secondary volume"),
    (r"Tags\[", "a key stands twice, or a tag has none"),
)
_OF_SLURM = (
    (r"AutoPatchConfig", f"{_EKS}; scheduled_update_config updates Slurm nodes by the calendar"),
    (r"KubernetesConfig|AutoScaling|ClusterRole|TieredStorageConfig|RestrictedInstanceGroups", _EKS),
    (r"InstanceRequirements", "a group has one type here: make a group of its own for each"),
    (r"InstanceStorageConfigs.*EbsVolumeConfig", "a group has one root and one secondary volume"),
    (
        r"InstanceStorageConfigs.*Fsx",
        "stands twice, or is without SlurmConfig, without which the service mounts nothing",
    ),
    (r"^Orchestrator", "without SlurmConfig on its groups the API does not describe Slurm"),
    (r"Tags\[", "a key stands twice, or a tag has none"),
    (r"^provisioning_parameters", "no setting of ours has it, and no documentation knows it"),
)


def reason(part: Part, *, eks: bool) -> str:
    """Why a value of a source has no place.

    Args:
        part: the value, at a path such as ``InstanceGroups[0].AutoPatchConfig``.
        eks: whether the cluster is on Amazon EKS, and not on Slurm.
    """
    if part.value in ({}, [], ""):
        return "is empty, and says nothing"
    known = (text for pattern, text in (_OF_EKS if eks else _OF_SLURM) if re.search(pattern, part.path))
    return next(known, "no setting of ours has it")
