"""What a spec asks of Amazon EKS, as the checks see it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_cdk.preflight import places
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import eks_add_ons as names
from hyperpod_cdk.spec import EksOrchestrator, HyperPodSpec, LustreFileSystem
from hyperpod_cdk.spec.add_on import AddOn

PATH = "cluster.orchestrator.eks"
DEFAULT_STACK_NAME = "HyperPod"
"""As in `hyperpod_cdk.app`."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """An add-on that the stack installs; ``path`` is that of its settings, or of what asks for it."""

    name: str
    path: str
    settings: AddOn


def plane(spec: HyperPodSpec) -> EksOrchestrator | None:
    """Amazon EKS as the spec has it; None on Slurm."""
    return spec.cluster.orchestrator.eks


def existing(spec: HyperPodSpec) -> EksOrchestrator | None:
    """Amazon EKS, if the spec names a control plane that is there already."""
    found = plane(spec)
    return found if found and found.cluster_arn and not unresolved(found.cluster_arn) else None


def new(spec: HyperPodSpec) -> EksOrchestrator | None:
    """Amazon EKS, if the stack makes the control plane."""
    found = plane(spec)
    return found if found and found.cluster_arn is None else None


def new_name(spec: HyperPodSpec) -> str:
    """What the name of the stack's control plane begins with: CDK adds eight hexadecimal digits.

    It is cut for stacks with names of more than 80 characters.
    """
    stack = re.sub("[^A-Za-z0-9]", "", spec.stack_name or DEFAULT_STACK_NAME)
    return f"{stack}-Eks-ControlPlane-"


def add_ons(spec: HyperPodSpec) -> list[Wanted]:
    """Every add-on that the stack installs; on an existing control plane only what runs on its nodes."""
    found = plane(spec)
    return [*_of_owner(spec, found), *_of_stack(found)] if found else []


def _of_owner(spec: HyperPodSpec, eks: EksOrchestrator) -> Iterator[Wanted]:
    if eks.cluster_arn is not None:
        return
    wanted = [names.VPC_CNI, names.KUBE_PROXY, names.POD_IDENTITY, names.DNS]
    if eks.training_operator or eks.inference:
        wanted.append(names.CERTIFICATES)
    for name in (*wanted, *drivers(spec, eks)):
        settings = eks.add_ons.get(name)
        path = join(f"{PATH}.add_ons", name) if settings else f"{PATH}.kubernetes_version"
        yield Wanted(name=name, path=path, settings=settings or AddOn())


def drivers(spec: HyperPodSpec, eks: EksOrchestrator) -> list[str]:
    """Add-ons that volumes and inference stand on."""
    claims = [claim for _, claim in places.volumes(spec)]
    lustre = any(isinstance(spec.storage.get(one.storage or ""), LustreFileSystem) for one in claims)
    buckets = any(one.bucket for one in claims)
    needed = {
        names.FSX_LUSTRE: lustre or eks.inference is not None,
        names.MOUNTPOINT_S3: buckets or eks.inference is not None,
        names.METRICS_SERVER: eks.inference is not None,
    }
    return [name for name, wanted in needed.items() if wanted]


def _of_stack(eks: EksOrchestrator) -> Iterator[Wanted]:
    if eks.training_operator is not None:
        path = f"{PATH}.training_operator"
        yield Wanted(name=names.TRAINING_OPERATOR, path=path, settings=eks.training_operator)
    others = (
        (names.TASK_GOVERNANCE, "task_governance", eks.task_governance),
        (names.OBSERVABILITY, "observability", eks.observability),
        (names.INFERENCE, "inference", eks.inference),
    )
    for name, field, asked in others:
        if asked is not None:
            yield Wanted(name=name, path=f"{PATH}.{field}", settings=asked.add_on)


def needed_of_owner(spec: HyperPodSpec) -> dict[str, str]:
    """Add-ons that an existing control plane should have, and what they are for."""
    eks = existing(spec)
    if eks is None:
        return {}
    found = {}
    if eks.training_operator or eks.observability:
        found[names.POD_IDENTITY] = "training_operator" if eks.training_operator else "observability"
    if eks.training_operator or eks.inference:
        found[names.CERTIFICATES] = "training_operator" if eks.training_operator else "inference"
    if eks.inference:
        found |= dict.fromkeys((names.FSX_LUSTRE, names.MOUNTPOINT_S3, names.METRICS_SERVER), "inference")
    return found
