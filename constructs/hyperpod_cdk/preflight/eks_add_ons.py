"""HP975-HP978: add-ons of Amazon EKS, those that are there and those that come."""

import re
from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, eks_plan
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.eks_existing import (
    ABSENT,
    control_plane,
    control_plane_call,
    has_control_plane,
    name_of,
)
from hyperpod_cdk.preflight.eks_plan import Wanted
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import eks
from hyperpod_cdk.service import eks_add_ons as names
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_ARN = f"{eks_plan.PATH}.cluster_arn"
_TYPE = "AWS::EKS::Addon"
_SHOWN = 5


def add_on_call(look: Look, name: str) -> Call:
    """What describes an add-on of the existing control plane."""
    return apis.DESCRIBE_ADD_ON(clusterName=name_of(look.spec), addonName=name)


def installed(look: Look, name: str) -> Item | None:
    """An add-on of the existing control plane; None where it is none of its add-ons."""
    answer = look.ask(add_on_call(look, name), absent=ABSENT)
    return answer["addon"] if answer else None


def in_stack(look: Look, name: str) -> bool:
    """Whether an add-on is the stack's."""
    return any(re.split(r"[|/]", one)[-1] == name for one in look.in_stack(_TYPE))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))


def _network_plugin(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    if control_plane(look) is None:
        return
    found = installed(look, names.VPC_CNI)
    least = ".".join(map(str, eks.VPC_CNI_SINCE))
    if found is None:
        reason = (
            f"{names.VPC_CNI} is none of its add-ons, and AWS shows no other copy: see that "
            f"`kubectl -n kube-system describe daemonset aws-node` has {least} or later"
        )
        yield Unchecked(path=_ARN, reason=reason)
    elif _numbers(found["addonVersion"])[:3] < eks.VPC_CNI_SINCE:
        allowed = f"{least} or later"
        yield rule.finding(_ARN, f"has {names.VPC_CNI}", given=found["addonVersion"], allowed=allowed)


def _of_owner(look: Look, rule: Rule) -> Iterator[Finding]:
    plane = control_plane(look)
    if plane is None:
        return
    # EKS Auto Mode brings the agent by itself (userguide/automode.html, 2026-10)
    built_in = {names.POD_IDENTITY} if plane.get("computeConfig", {}).get("enabled") else set()
    for name, purpose in eks_plan.needed_of_owner(look.spec).items():
        path, found = f"{eks_plan.PATH}.{purpose}", installed(look, name)
        least = names.INFERENCE_MINIMUM_VERSIONS.get(name) if purpose == "inference" else None
        if found is None and name not in built_in:
            yield rule.finding(path, f"needs {name}, which is none of {plane['name']}'s add-ons")
        elif found and found["status"] not in ("ACTIVE", "CREATING", "UPDATING"):
            yield rule.finding(path, f"needs {name}, which is {found['status']}", allowed="ACTIVE")
        elif found and least and _numbers(found["addonVersion"]) < _numbers(least):
            yield rule.finding(
                path, f"needs {name}", given=found["addonVersion"], allowed=f"{least} or later"
            )


def _taken(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    if control_plane(look) is None:
        return
    for wanted in eks_plan.add_ons(look.spec):
        try:
            found = installed(look, wanted.name)
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=wanted.path, reason=str(reason))
            continue
        if found is not None and not in_stack(look, wanted.name):
            yield rule.finding(
                wanted.path,
                f"is there already: {wanted.name} {found['addonVersion']}, not of {look.stack_name}",
            )


# -- versions ------------------------------------------------------------------------------------------


def _versions_call(spec: HyperPodSpec, name: str) -> Call:
    made = eks_plan.new(spec)
    if made is None or unresolved(made.kubernetes_version):
        # of all versions of Kubernetes: an existing control plane's is another answer
        return apis.DESCRIBE_ADD_ON_VERSIONS(addonName=name)
    return apis.DESCRIBE_ADD_ON_VERSIONS(addonName=name, kubernetesVersion=made.kubernetes_version)


def _kubernetes(look: Look) -> str | None:
    made = eks_plan.new(look.spec)
    if made is not None:
        return None if unresolved(made.kubernetes_version) else made.kubernetes_version
    plane = control_plane(look)
    return str(plane["version"]) if plane else None


def _versions(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    kubernetes = _kubernetes(look)
    for wanted in eks_plan.add_ons(look.spec) if kubernetes else ():
        try:
            # an add-on that is not known, or not for this version of Kubernetes
            answer = look.ask(_versions_call(look.spec, wanted.name), absent=[*ABSENT, *_NOT_KNOWN])
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=wanted.path, reason=str(reason))
            continue
        yield from _fault(rule, wanted, _fitting(answer or [], str(kubernetes)), str(kubernetes))


_NOT_KNOWN = ("InvalidParameterException",)


def _fitting(answer: list[Item], kubernetes: str) -> list[str]:
    """Versions for a version of Kubernetes, the newest first."""
    found = [
        str(one["addonVersion"])
        for add_on in answer
        for one in add_on.get("addonVersions", ())
        if any(fit.get("clusterVersion") == kubernetes for fit in one.get("compatibilities", ()))
    ]
    return sorted(found, key=_numbers, reverse=True)


def _fault(rule: Rule, wanted: Wanted, fitting: list[str], kubernetes: str) -> Iterator[Finding]:
    version = wanted.settings.version
    if not fitting:
        yield rule.finding(
            wanted.path, f"has no version of {wanted.name} for Kubernetes {kubernetes}", given=version
        )
    elif version is not None and not unresolved(version) and version not in fitting:
        more = ", …" if len(fitting) > _SHOWN else ""
        yield rule.finding(
            f"{wanted.path}.add_on.version" if _is_nested(wanted) else f"{wanted.path}.version",
            f"is no version of {wanted.name} for Kubernetes {kubernetes}",
            given=version,
            allowed=", ".join(fitting[:_SHOWN]) + more,
        )


def _is_nested(wanted: Wanted) -> bool:
    """Whether the add-on's settings are one level below what asks for it."""
    return wanted.name in (names.TASK_GOVERNANCE, names.OBSERVABILITY, names.INFERENCE)


CHECKS = (
    Check(
        name="eks-network-plugin",
        rule=Rule(
            code="HP975",
            title="a network plugin that is too old",
            why="HyperPod nodes need the VPC CNI in version 1.18.3 or later, and no other plugin",
            fix="update the add-on vpc-cni",
            source=f"{GUIDE}sagemaker-hyperpod-eks-prerequisites.html",
        ),
        apis=(apis.DESCRIBE_ADD_ON, apis.DESCRIBE_CONTROL_PLANE),
        asks=lambda look: [control_plane_call(look), add_on_call(look, names.VPC_CNI)],
        needed=has_control_plane,
        find=_network_plugin,
    ),
    Check(
        name="eks-needed-add-ons",
        rule=Rule(
            code="HP976",
            title="a control plane without an add-on that another needs",
            why="the add-on that stands on it gets no certificates or no rights, and its installation fails "
            "or hangs; AWS does not show whether it was installed another way",
            fix="install it, or acknowledge this if it is there as a chart",
            source=f"{GUIDE}sagemaker-eks-operator-install.html",
            severity=Severity.WARNING,
        ),
        apis=(apis.DESCRIBE_ADD_ON, apis.DESCRIBE_CONTROL_PLANE),
        asks=lambda look: [
            control_plane_call(look),
            *(add_on_call(look, name) for name in eks_plan.needed_of_owner(look.spec)),
        ],
        needed=lambda spec: bool(eks_plan.needed_of_owner(spec)),
        find=_of_owner,
    ),
    Check(
        name="eks-taken-add-ons",
        rule=Rule(
            code="HP977",
            title="an add-on that somebody else installed",
            why="CloudFormation makes no add-on that is there, and the stack rolls back",
            fix="leave it out here, or delete it there with `aws eks delete-addon --preserve`, which leaves "
            "what it runs",
            source="https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateAddon.html",
        ),
        apis=(apis.DESCRIBE_ADD_ON, apis.DESCRIBE_CONTROL_PLANE, apis.LIST_STACK_RESOURCES),
        asks=lambda look: [
            *(control_plane_call(look), look.stack_call()),
            *(add_on_call(look, wanted.name) for wanted in eks_plan.add_ons(look.spec)),
        ],
        needed=lambda spec: has_control_plane(spec) and bool(eks_plan.add_ons(spec)),
        find=_taken,
    ),
    Check(
        name="eks-add-on-versions",
        rule=Rule(
            code="HP978",
            title="a version of an add-on that is not there for the Kubernetes version",
            why="Amazon EKS refuses it, half an hour into the deployment",
            fix="leave the version out, take one that is allowed, or use another Kubernetes version",
            source="https://docs.aws.amazon.com/eks/latest/APIReference/API_DescribeAddonVersions.html",
        ),
        apis=(apis.DESCRIBE_ADD_ON_VERSIONS, apis.DESCRIBE_CONTROL_PLANE),
        asks=lambda look: [
            *([control_plane_call(look)] if has_control_plane(look.spec) else []),
            *(_versions_call(look.spec, wanted.name) for wanted in eks_plan.add_ons(look.spec)),
        ],
        needed=lambda spec: bool(eks_plan.add_ons(spec)),
        find=_versions,
    ),
)
