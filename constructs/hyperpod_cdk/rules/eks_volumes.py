"""HP530 to HP535, HP566, HP568: disks of nodes on Amazon EKS, volumes of their pods, and namespaces."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import control_planes, groups, runs_our_scripts
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.instance_types import find
from hyperpod_cdk.service.sources import API
from hyperpod_cdk.spec import EksOrchestrator, HyperPodSpec, InstanceGroup
from hyperpod_cdk.spec.eks_storage import Volume, VolumeAccess
from hyperpod_cdk.spec.node_disk import NodeDiskPath

_EKS = "cluster.orchestrator.eks"
_NAMES = "https://kubernetes.io/docs/concepts/overview/working-with-objects/names/"
_LABEL = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_MOUNTPOINT = "https://github.com/awslabs/mountpoint-s3, doc/CONFIGURATION.md"
_SECONDS = range(10_000)
_TEAM = "hyperpod-ns-"
# https://kubernetes.io/docs/concepts/overview/working-with-objects/namespaces/, and that of HyperPod's chart
_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease", "aws-hyperpod")
_OPTIONS = {
    "prefix": "bucket.prefix",
    "read-only": "access",
    "allow-delete": "bucket.allow_delete",
    "allow-overwrite": "bucket.allow_delete",
}
"""Options of Mountpoint that have a setting of their own."""


@checks(
    Rule(
        code="HP530",
        title="a disk that nodes must have and do not get",
        why="every node of the group fails its set-up, again and again",
        fix="give the group a secondary_volume, or set node_disk.required: false",
        source="lifecycle_scripts/README.md",
    )
)
def required_disk(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        disk = plane.node_disk
        if unresolved(disk.required, disk.mount_path) or not disk.required:
            continue
        if disk.mount_path == NodeDiskPath.NONE:
            yield rule.finding(f"{_EKS}.node_disk.required", "requires a disk, and mount_path names none")
        if disk.mount_path != NodeDiskPath.SECONDARY_VOLUME:
            continue
        for path, group in groups(spec):
            if group.secondary_volume is None and runs_our_scripts(spec, group):
                yield rule.finding(f"{path}.secondary_volume", "is missing, and node_disk requires it")


@checks(
    Rule(
        code="HP568",
        title="container images on the root volume of nodes with accelerators",
        why="containerd keeps images on the root volume, whose 100 GB can not be set larger; images for "
        "training take 20 GB and more each, and on a full disk the kubelet evicts pods",
        fix="give the group a secondary_volume of 500 GB or more; or set node_disk.mount_path: "
        "/opt/dlami/nvme where the types have instance store, none where the root volume shall do",
        source=f"{API}API_ClusterEbsVolumeConfig.html (the root volume's size is the service's choice); "
        "https://github.com/awslabs/awsome-distributed-ai/issues/187 (100 GB) and pull/927 (what AWS's own "
        "script moves off it)",
        severity=Severity.WARNING,
    )
)
def images_on_root_volume(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        disk = plane.node_disk
        if unresolved(disk.mount_path, disk.required) or disk.mount_path != NodeDiskPath.SECONDARY_VOLUME:
            continue
        for path, group in groups(spec):
            types = list(filter(_has_accelerators, group.instance_types))
            # HP530 says it where nodes must have the disk
            if types and group.secondary_volume is None and not disk.required and _on_its_root(spec, group):
                yield rule.finding(f"{path}.secondary_volume", f"is missing on nodes of {types[0]}")


@checks(
    Rule(
        code="HP531",
        title="a wait for a disk that nodes do not understand",
        why="their scripts refuse the setting, and every node fails its set-up",
        fix="use 0 to 9999 seconds",
        source="lifecycle_scripts/README.md",
    )
)
def disk_wait(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        seconds = plane.node_disk.wait_seconds
        if not unresolved(seconds) and seconds not in _SECONDS:
            where = f"{_EKS}.node_disk.wait_seconds"
            nearest = [min(max(seconds, _SECONDS[0]), _SECONDS[-1])]
            yield rule.finding(where, "is out of range", given=seconds, allowed="0-9999", nearest=nearest)


@checks(
    Rule(
        code="HP532",
        title="a claim or namespace that Kubernetes does not take",
        why="kubectl refuses it when everything else is there already",
        fix="use 1-63 lower-case letters, digits and inner hyphens, and name each namespace once",
        source=_NAMES,
    )
)
def claim_names(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    allowed = "1-63 of a-z, 0-9 and inner -"
    for path, name, volume in _volumes(spec):
        if not unresolved(name) and not _LABEL.fullmatch(name):
            yield rule.finding(path, "is no name of a claim", given=name, allowed=allowed)
        namespaces = volume.namespaces
        if unresolved(namespaces):
            continue
        if not namespaces:
            yield rule.finding(f"{path}.namespaces", "names none, so that no pod can mount it")
        for index, namespace in enumerate(namespaces):
            where = f"{path}.namespaces[{index}]"
            if unresolved(namespace):
                continue
            if not _LABEL.fullmatch(namespace):
                yield rule.finding(where, "is no name of a namespace", given=namespace, allowed=allowed)
            elif namespace in namespaces[:index]:
                yield rule.finding(where, "has the claim already", given=namespace)


@checks(
    Rule(
        code="HP533",
        title="a volume of nothing, of two things, or of unknown storage",
        why="there is nothing that the claim could be of",
        fix="name either a file system of storage or a bucket",
        source="hyperpod_cdk.spec.eks_storage.Volume",
    )
)
def volume_source(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, _, volume in _volumes(spec):
        storage = volume.storage
        if (storage is None) == (volume.bucket is None):
            yield rule.finding(path, "needs storage or bucket", allowed="one of the two")
        elif storage is not None and not unresolved(storage, spec.storage) and storage not in spec.storage:
            known = ", ".join(spec.storage) or "none"
            yield rule.finding(f"{path}.storage", "is not in storage", given=storage, allowed=known)


@checks(
    Rule(
        code="HP534",
        title="a volume whose settings contradict each other, or that asks for nothing",
        why="Kubernetes or Mountpoint refuses it, or pods may less than was meant",
        fix="see what is said of it",
        source=f"hyperpod_cdk.spec.eks_storage.Volume, {_MOUNTPOINT}",
    )
)
def volume_settings(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, _, volume in _volumes(spec):
        if not unresolved(volume.capacity_gib) and volume.capacity_gib < 1:
            given = volume.capacity_gib
            where = f"{path}.capacity_gib"
            yield rule.finding(where, "is none", given=given, allowed="1 or more", nearest=[1])
        yield from _bucket_settings(path, volume, rule)


def _bucket_settings(path: str, volume: Volume, rule: Rule) -> Iterator[Finding]:
    bucket = volume.bucket
    if bucket is None:
        return
    prefix = bucket.prefix
    if prefix and not unresolved(prefix) and (prefix.startswith("/") or not prefix.endswith("/")):
        nearest = [f"{prefix.strip('/')}/"]
        where = f"{path}.bucket.prefix"
        yield rule.finding(where, "is no folder of keys", given=prefix, allowed="such as a/", nearest=nearest)
    if bucket.allow_delete is True and volume.access == VolumeAccess.READ_ONLY:
        yield rule.finding(f"{path}.bucket.allow_delete", "deletes from what is only read", given=True)
    for index, option in enumerate(volume.mount_options):
        word = "" if unresolved(option) else option.removeprefix("--").split()[0] if option.strip() else ""
        if word in _OPTIONS:
            message = f"is what {_OPTIONS[word]} says, which the role knows too"
            yield rule.finding(f"{path}.mount_options[{index}]", message, given=option)


@checks(
    Rule(
        code="HP535",
        title="something that an existing control plane does not give",
        why="there is no way to its Kubernetes API from here, and its tokens' provider is its owner's",
        fix="remove volumes, and name oidc_provider_arn for inference; or remove cluster_arn",
        source="hyperpod_cdk.spec.EksOrchestrator",
    )
)
def of_existing_plane(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        provider = plane.oidc_provider_arn
        if plane.cluster_arn is None:
            if provider is not None and not unresolved(provider):
                yield rule.finding(f"{_EKS}.oidc_provider_arn", "is made for a cluster that is made")
            continue
        if plane.volumes and not unresolved(plane.volumes):
            yield rule.finding(f"{_EKS}.volumes", "can not be applied to an existing control plane")
        if plane.inference is not None and provider is None:
            yield rule.finding(f"{_EKS}.oidc_provider_arn", "is missing, and inference needs it")
        if provider is not None and not unresolved(provider) and ":oidc-provider/" not in provider:
            allowed = "arn:…:oidc-provider/oidc.eks.…"
            where = f"{_EKS}.oidc_provider_arn"
            yield rule.finding(where, "is no identity provider", given=provider, allowed=allowed)


@checks(
    Rule(
        code="HP566",
        title="a namespace that nothing here makes",
        why="a new control plane has Kubernetes' own namespaces and those of the teams: kubectl refuses a "
        "claim in another once every node is there already, and access to it is access to nothing",
        fix="correct the name, or add the team to task_governance.teams; acknowledge this where you have "
        "made the namespace since",
        source=f"{_NAMES}, "
        "https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-"
        "policies.html (hyperpod-ns-<team>)",
        severity=Severity.WARNING,
    )
)
def known_namespaces(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for plane in control_planes(spec):
        teams = [one.team_name for one in plane.task_governance.teams] if plane.task_governance else []
        if plane.cluster_arn is not None or unresolved(teams):
            continue
        known = [*(f"{_TEAM}{team}" for team in teams), *_NAMESPACES]
        for path, namespace in _named_namespaces(plane):
            if not unresolved(namespace) and namespace not in known:
                nearest = get_close_matches(namespace, known, n=1)
                yield rule.finding(path, "is made by nothing here", given=namespace, nearest=nearest)


def _named_namespaces(plane: EksOrchestrator) -> Iterator[tuple[str, str]]:
    """Those of claims, and of access such as teams have; others may be made by hand before they count."""
    for name, volume in plane.volumes.items():
        for index, namespace in enumerate(() if unresolved(volume.namespaces) else volume.namespaces):
            yield f"{join(f'{_EKS}.volumes', name)}.namespaces[{index}]", namespace
    for entry, access in enumerate(plane.access):
        for number, policy in enumerate(access.policies):
            where = f"{_EKS}.access[{entry}].policies[{number}].namespaces"
            for index, namespace in enumerate(() if unresolved(policy.namespaces) else policy.namespaces):
                if namespace.startswith(_TEAM):
                    yield f"{where}[{index}]", namespace


def _volumes(spec: HyperPodSpec) -> Iterator[tuple[str, str, Volume]]:
    for plane in control_planes(spec):
        for name, volume in plane.volumes.items():
            yield join(f"{_EKS}.volumes", name), name, volume


def _on_its_root(spec: HyperPodSpec, group: InstanceGroup) -> bool:
    """Whether images of a group without a second volume lie on a root volume of the service's size."""
    own_image = group.image_id not in (None, "default")
    return runs_our_scripts(spec, group) and group.environment_config is None and not own_image


def _has_accelerators(instance_type: str) -> bool:
    known = find(instance_type)
    return known is not None and bool(known.accelerators)
