"""Refusals about volumes and file systems.

docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-ref.html, …/dg/smcluster-cmk.html and
…/APIReference/API_ClusterEbsVolumeConfig.html.
"""

from collections.abc import Iterator

from hyperpod_cdk.rehearsal.hyperpod.rules.common import (
    Rule,
    groups,
    is_continuous,
    node_type,
    volumes,
)
from hyperpod_cdk.rehearsal.hyperpod.state import Spec

_KINDS = ("EbsVolumeConfig", "FsxLustreConfig", "FsxOpenZfsConfig")


def one_kind_each(request: Spec) -> Iterator[str]:
    """Each storage configuration is of exactly one kind."""
    for group in groups(request):
        for config in group.get("InstanceStorageConfigs", []):
            if sum(kind in config for kind in _KINDS) != 1:
                yield (
                    f"Each of InstanceStorageConfigs of instance group '{group['InstanceGroupName']}' must "
                    f"specify exactly one of {', '.join(_KINDS)}."
                )


def fsx_needs_a_vpc(request: Spec) -> Iterator[str]:
    """File systems are mounted in the user's VPC, by a cluster whose Slurm the API configures."""
    mounting = [group for group in groups(request) if volumes(group, _KINDS[1]) or volumes(group, _KINDS[2])]
    if mounting and "VpcConfig" not in request:
        yield "FSx configurations are only supported for Custom VPC."
    if mounting and not any(node_type(group) == "Controller" for group in groups(request)):
        yield "FSx configurations require an InstanceGroup with Controller node type in SlurmConfig."


def one_file_system_a_kind(request: Spec) -> Iterator[str]:
    """At most one Lustre and one OpenZFS file system for a group."""
    for group in groups(request):
        for kind in _KINDS[1:]:
            if len(volumes(group, kind)) > 1:
                yield (
                    f"Instance group '{group['InstanceGroupName']}' must have at most one {kind}, "
                    f"but has {len(volumes(group, kind))}."
                )


def one_volume_a_kind(request: Spec) -> Iterator[str]:
    """At most one root and one secondary volume for a group."""
    for group in groups(request):
        ebs = volumes(group, "EbsVolumeConfig")
        roots = sum(bool(volume.get("RootVolume")) for volume in ebs)
        if roots > 1 or len(ebs) - roots > 1:
            yield (
                f"Instance group '{group['InstanceGroupName']}' must have at most one root and one secondary "
                f"EbsVolumeConfig, but has {roots} and {len(ebs) - roots}."
            )


def volume_is_complete(request: Spec) -> Iterator[str]:
    """A root volume has a key and no size, a secondary volume has a size."""
    for group in groups(request):
        name = group["InstanceGroupName"]
        for volume in volumes(group, "EbsVolumeConfig"):
            if volume.get("RootVolume"):
                if "VolumeKmsKeyId" not in volume:
                    yield f"VolumeKmsKeyId is required for the root volume of instance group '{name}'."
                if "VolumeSizeInGB" in volume:
                    yield f"VolumeSizeInGB is not supported for the root volume of instance group '{name}'."
            elif "VolumeSizeInGB" not in volume:
                yield f"VolumeSizeInGB is required for the secondary volume of instance group '{name}'."


def key_needs_continuous(request: Spec) -> Iterator[str]:
    """Customer managed keys for volumes go with Continuous provisioning only."""
    for group in groups(request):
        has_key = any("VolumeKmsKeyId" in volume for volume in volumes(group, "EbsVolumeConfig"))
        if has_key and not is_continuous(request):
            yield (
                f"VolumeKmsKeyId of instance group '{group['InstanceGroupName']}' is only supported with "
                "NodeProvisioningMode Continuous."
            )


STORAGE_RULES: tuple[Rule, ...] = (
    one_kind_each,
    fsx_needs_a_vpc,
    one_file_system_a_kind,
    one_volume_a_kind,
    volume_is_complete,
    key_needs_continuous,
)
