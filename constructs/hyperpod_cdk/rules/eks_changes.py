"""HP59x: what Amazon EKS and Kubernetes make of a change of what is deployed."""

from collections.abc import Iterator
from typing import Any

from hyperpod_cdk.rules.change import SpecChange, told
from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.storage_changes import changed as changed_file_systems
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.fsx_changes import Change as Fate
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec, Network
from hyperpod_cdk.spec.eks_storage import Volume

_EKS = "cluster.orchestrator.eks"
_USER_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/"
_TEMPLATE = (
    "https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-eks-cluster.html"
)
_VOLUMES = "https://kubernetes.io/docs/concepts/storage/persistent-volumes/"


@checks(
    Rule(
        code="HP590",
        title="a Kubernetes version that can not be reached from the deployed one",
        why="Amazon EKS goes up by one minor version at a time, and the update of the stack fails; its way "
        "back is for 7 days after an upgrade, and nodes have to go before the control plane, which no update "
        "of a stack does",
        fix="deploy each minor version in turn; to go back, use Amazon EKS's own rollback, then write its "
        "version here",
        source=f"{_USER_GUIDE}update-cluster.html, {_USER_GUIDE}rollback-cluster.html",
    )
)
def unreachable_version(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    step = _version_step(change)
    if step is None:
        return
    was, now = step
    up = _minor(now) - _minor(was)
    if up not in (0, 1):
        message = f"was {was}: {'skips versions' if up > 0 else 'is older'}"
        following = f"1.{_minor(was) + 1}"
        yield rule.finding(
            f"{_EKS}.kubernetes_version",
            message,
            given=now,
            allowed=f"{was}, {following}",
            nearest=[following if up > 0 else was],
        )


@checks(
    Rule(
        code="HP591",
        title="an upgrade of Kubernetes that HyperPod's nodes do not follow by themselves",
        why="nodes keep the image of the version that they were made with, until their software is updated, "
        "and HyperPod wants them at most one version behind",
        fix="after this deployment update the software of every group (image_release_version, or aws "
        "sagemaker update-cluster-software), before the next upgrade",
        source=f"{GUIDE}sagemaker-hyperpod-eks-prerequisites.html",
        severity=Severity.WARNING,
    )
)
def nodes_stay_behind(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    step = _version_step(change)
    if step is not None and _minor(step[1]) == _minor(step[0]) + 1:
        yield rule.finding(f"{_EKS}.kubernetes_version", f"was {step[0]}", given=step[1])


@checks(
    Rule(
        code="HP592",
        title="another key for the secrets of a control plane",
        why="CloudFormation would have to replace the EKS cluster, whose name is taken, and the update fails",
        fix="keep kms_key_arn as it was; KMS rotates a key's material by itself",
        source=f"{_TEMPLATE} (EncryptionConfig, Name: Replacement)",
    )
)
def key_of_secrets(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    was, now = change.before.kms_key_arn, change.after.kms_key_arn
    if change.made_planes and was != now and not unresolved(was, now):
        yield rule.finding("kms_key_arn", f"was {told(was)} when the control plane was made", given=now)


@checks(
    Rule(
        code="HP593",
        title="another VPC under a control plane",
        why="Amazon EKS takes other subnets for a control plane, but none of another VPC",
        fix="keep network.cidr and the VPC; for another network deploy another stack",
        source="https://docs.aws.amazon.com/eks/latest/APIReference/API_UpdateClusterConfig.html",
    )
)
def another_vpc(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    was, now = _vpc(change.before.network), _vpc(change.after.network)
    known = was is not None and now is not None and not unresolved(was, now)
    if change.made_planes and known and was != now:
        path = "network.existing.vpc_id" if change.after.network.existing else "network.cidr"
        if bool(change.before.network.existing) is not bool(change.after.network.existing):
            path = "network.existing"
        yield rule.finding(path, f"was {was}", given=now)


@checks(
    Rule(
        code="HP594",
        title="another role for autoscaling that is on",
        why="the service refuses it",
        fix="deploy without auto_scaling first, then with the new role",
        source=f"{API}API_UpdateCluster.html (ClusterRole)",
    )
)
def scaling_role(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    before, after = change.before.cluster.auto_scaling, change.after.cluster.auto_scaling
    if before is None or after is None:
        return
    was, now = before.cluster_role_arn, after.cluster_role_arn
    if was != now and not unresolved(was, now):
        message = f"was {was or 'one made here'} when autoscaling was switched on"
        yield rule.finding("cluster.auto_scaling.cluster_role_arn", message, given=now)


@checks(
    Rule(
        code="HP595",
        title="an instance type that leaves a flexible group",
        why="the service refuses that while nodes of the type run",
        fix="see that none runs (aws sagemaker list-cluster-nodes), or delete those nodes first",
        source=f"{GUIDE}sagemaker-hyperpod-release-notes.html (16 April 2026)",
        severity=Severity.WARNING,
    )
)
def type_taken_away(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    old = {group.instance_group_name: group.instance_requirements for _, group in groups(change.before)}
    for path, group in groups(change.after):
        before, after = old.get(group.instance_group_name), group.instance_requirements
        if before is None or after is None or unresolved(before.instance_types, after.instance_types):
            continue
        gone = [name for name in before.instance_types if name not in after.instance_types]
        if gone:
            where = f"{path}.instance_requirements.instance_types"
            yield rule.finding(where, f"lack {', '.join(gone)}")


@checks(
    Rule(
        code="HP596",
        title="a team that goes, or changes its name",
        why="its quota is deleted, and jobs in its namespace wait for a queue that is gone; another name is "
        "another team with a namespace of its own",
        fix="let its jobs end first, or keep it with active: false",
        source=f"{GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance.html, "
        f"{API}API_DeleteComputeQuota.html",
        severity=Severity.WARNING,
    )
)
def team_gone(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    after = _teams(change.after)
    for name in _teams(change.before):
        if name not in after and not unresolved(name, *after):
            governance = change.planes and change.planes[1].task_governance
            path = f"{_EKS}.task_governance" + (".teams" if governance else "")
            yield rule.finding(path, f"lacks {name}, whose namespace is hyperpod-ns-{name}")


@checks(
    Rule(
        code="HP597",
        title="a change of a volume that Kubernetes refuses",
        why="what a persistent volume is of, and how and how large it is claimed, can not change once it is "
        "made, so that the update of the stack fails",
        fix="add a volume of another name, move the pods, and remove the old one; its data stays",
        source=f"{_VOLUMES}, https://github.com/kubernetes/kubernetes/issues/54562",
    )
)
def fixed_volumes(change: SpecChange, rule: Rule) -> Iterator[Finding]:
    planes = change.made_planes
    if planes is None:
        return
    anew = {path for path, *_ in changed_file_systems(change, Fate.REPLACED)}
    for name, after in planes[1].volumes.items():
        before = planes[0].volumes.get(name)
        if before is None:
            continue
        path = join(f"{_EKS}.volumes", name)
        for field, was in _fixed(before).items():
            now = _fixed(after)[field]
            if was != now and not unresolved(was, now):
                yield rule.finding(f"{path}.{field}", f"was {told(was)}", given=now)
        if after.storage == before.storage is not None and join("storage", str(after.storage)) in anew:
            yield rule.finding(f"{path}.storage", "is made anew, at another address", given=after.storage)


def _version_step(change: SpecChange) -> tuple[str, str] | None:
    """Version before and after of a control plane of ours; None where one is not known."""
    if change.made_planes is None:
        return None
    was, now = (plane.kubernetes_version for plane in change.made_planes)
    known = not unresolved(was, now) and was.startswith("1.") and now.startswith("1.")
    return (was, now) if known and was[2:].isdigit() and now[2:].isdigit() else None


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def _vpc(network: Network) -> str | None:
    """What tells a VPC from another; None where an existing one is not named."""
    return f"a VPC {network.cidr} made here" if network.existing is None else network.existing.vpc_id


def _teams(spec: HyperPodSpec) -> list[str]:
    plane = spec.cluster.orchestrator.eks
    governance = plane.task_governance if plane else None
    return [team.team_name for team in governance.teams] if governance else []


def _fixed(volume: Volume) -> dict[str, Any]:
    return {
        "storage": volume.storage,
        "bucket.bucket_name": volume.bucket.bucket_name if volume.bucket else None,
        "access": volume.access,
        "capacity_gib": volume.capacity_gib,
    }
