"""HP50x: Slurm and Amazon EKS exclude each other, and each has settings of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from hyperpod_cdk.rules.defaults import is_default
from hyperpod_cdk.rules.finding import Finding
from hyperpod_cdk.rules.look import groups, is_eks
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec, LifecycleMode, SlurmOrchestrator

_SLURM = "cluster.orchestrator.slurm"
# sagemaker-hyperpod-eks-autoscaling, managed-tier-checkpointing-setup, sagemaker-hyperpod-ami-auto-patching,
# sagemaker-hyperpod-release-notes (16 April 2026: flexible groups) and API_ClusterKubernetesConfig, 2026-10:
# each of them speaks of clusters on Amazon EKS alone
_EKS_CLUSTER = {
    "tiered_storage_config": "keeps checkpoints in the memory of EKS nodes",
    "auto_scaling": "is by Karpenter, which schedules pods",
    "shared_environment_config": "is for restricted groups, which are on Amazon EKS",
}
_EKS_GROUP = {
    "kubernetes_config": "is Kubernetes's",
    "instance_requirements": "is documented for Amazon EKS; make a group of each type",
    "auto_patch_config": "waits for pods; scheduled_update_config works on Slurm",
    "environment_config": "makes a restricted group, which is on Amazon EKS",
}
_SLURM_GROUP = {
    "slurm_config": "is Slurm's; kubernetes_config labels nodes",
    "mounts": "is done by Slurm's node scripts; orchestrator.eks.volumes gives pods file systems",
}
_SLURM_LIFECYCLE = {
    "users": "are accounts on Slurm's nodes; orchestrator.eks.access says who may use Kubernetes",
    "user_groups": "are for accounts on Slurm's nodes",
    "removed_users": "are accounts on Slurm's nodes",
    "slurm": "is slurm.conf",
    "accounting": "is Slurm's; orchestrator.eks.task_governance gives teams quotas",
    "containers": "are Slurm's; Kubernetes runs containers by itself",
    "directory": "is for accounts on Slurm's nodes",
    "bucket_mounts": "are done by Slurm's node scripts; orchestrator.eks.volumes gives pods buckets",
    "monitoring": "is by exporters of Slurm's nodes; orchestrator.eks.observability is the add-on for it",
    "downloads": "are for Slurm's node scripts, the one for Amazon EKS fetches nothing",
}


@checks(
    Rule(
        code="HP500",
        title="two orchestrators",
        why="a cluster is run by Slurm or by Amazon EKS, and never changes from one to the other",
        fix="remove orchestrator.slurm or orchestrator.eks",
        source=f"{GUIDE}sagemaker-hyperpod-eks.html",
    )
)
def one_orchestrator(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    slurm = spec.cluster.orchestrator.slurm
    if is_eks(spec) and slurm != SlurmOrchestrator() and not unresolved(*vars(slurm).values()):
        yield rule.finding(_SLURM, "stands beside orchestrator.eks")


@checks(
    Rule(
        code="HP501",
        title="a setting that only clusters on Amazon EKS have",
        why="the service refuses it, or drops it without a word, in a cluster on Slurm",
        fix="remove it, or make a cluster on Amazon EKS with orchestrator.eks",
        source=f"{GUIDE}sagemaker-hyperpod-eks.html",
    )
)
def only_on_eks(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if is_eks(spec):
        return
    yield from _given(rule, "cluster", spec.cluster, _EKS_CLUSTER)
    for path, group in groups(spec):
        yield from _given(rule, path, group, _EKS_GROUP)


@checks(
    Rule(
        code="HP502",
        title="a setting that only clusters on Slurm have",
        why="nothing reads it in a cluster on Amazon EKS: its nodes run pods, and get one small script",
        fix="remove it",
        source=f"{GUIDE}sagemaker-hyperpod-eks.html, hyperpod_cdk.spec",
    )
)
def only_on_slurm(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if not is_eks(spec):
        return
    yield from _given(rule, "lifecycle", spec.lifecycle, _SLURM_LIFECYCLE)
    for path, group in groups(spec):
        yield from _given(rule, path, group, _SLURM_GROUP)
    modes: list[tuple[str, LifecycleMode | None]] = [("lifecycle.mode", spec.lifecycle.mode)]
    modes += [(f"{path}.lifecycle_mode", group.lifecycle_mode) for path, group in groups(spec)]
    for path, mode in modes:
        if mode in (LifecycleMode.LEGACY, LifecycleMode.AMI):
            yield rule.finding(path, "is a mode of Slurm", given=mode, allowed="custom, or left out")


def _given(rule: Rule, path: str, part: Any, reasons: Mapping[str, str]) -> Iterator[Finding]:
    """Fields with a value other than their default."""
    for field in fields(part):
        value = getattr(part, field.name)
        if field.name in reasons and not is_default(value, field) and not unresolved(value):
            yield rule.finding(f"{path}.{field.name}", reasons[field.name])
