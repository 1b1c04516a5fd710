"""HP993, HP994: what the spec changes of a control plane that the stack has."""

import re
from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, eks_plan
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.eks_existing import ABSENT, name_of
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.eks_add_ons import TASK_GOVERNANCE
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_CLUSTER = "AWS::EKS::Cluster"
_UPGRADES = f"{GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-upgrade.html"
_OLD_KINDS, _WITHOUT_THEM = (1, 3), (1, 5)
"""Task governance up to the first stores kinds in a version that the second does not know (_UPGRADES,
2026-11; of 1.4 it says nothing)."""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))[:2]


def _upgraded(look: Look, rule: Rule) -> Iterator[Finding]:
    made = eks_plan.new(look.spec)
    wanted = made.kubernetes_version if made else ""
    for name in look.in_stack(_CLUSTER):
        answer = look.ask(apis.DESCRIBE_CONTROL_PLANE(name=name), absent=ABSENT)
        live = str(answer["cluster"]["version"]) if answer else wanted
        (major, now), goal = _numbers(live), _numbers(wanted)
        if goal not in ((major, now), (major, now + 1)):
            yield rule.finding(
                f"{eks_plan.PATH}.kubernetes_version",
                f"is {live} now",
                given=wanted,
                allowed=f"{live} or {major}.{now + 1}",
            )


def _governance(look: Look, rule: Rule) -> Iterator[Finding]:
    eks = eks_plan.plane(look.spec)
    wanted = eks.task_governance.add_on.version if eks and eks.task_governance else None
    names = [name_of(look.spec)] if name_of(look.spec) else look.in_stack(_CLUSTER)
    for name in names:
        call = apis.DESCRIBE_ADD_ON(clusterName=name, addonName=TASK_GOVERNANCE)
        answer = look.ask(call, absent=ABSENT)
        live = str(answer["addon"]["addonVersion"]) if answer else None
        if live and _numbers(live) <= _OLD_KINDS and _numbers(str(wanted)) >= _WITHOUT_THEM:
            yield rule.finding(
                f"{eks_plan.PATH}.task_governance.add_on.version",
                f"is {live} now",
                given=wanted,
                allowed="an earlier version than 1.5",
            )


def _has_version(spec: HyperPodSpec) -> bool:
    made = eks_plan.new(spec)
    return made is not None and not unresolved(made.kubernetes_version)


def _has_governance_version(spec: HyperPodSpec) -> bool:
    eks = eks_plan.plane(spec)
    version = eks.task_governance.add_on.version if eks and eks.task_governance else None
    return version is not None and not unresolved(version)


CHECKS = (
    Check(
        name="kubernetes-upgrade",
        rule=Rule(
            code="HP993",
            title="a way between versions of Kubernetes that there is not",
            why="a control plane goes up one minor version at a time, and never down; the update fails and "
            "rolls back",
            fix="go one version further, deploy, and go on",
            source="https://docs.aws.amazon.com/eks/latest/userguide/update-cluster.html",
        ),
        apis=(apis.LIST_STACK_RESOURCES, apis.DESCRIBE_CONTROL_PLANE),
        asks=lambda look: [look.stack_call()],
        needed=_has_version,
        find=_upgraded,
    ),
    Check(
        name="governance-upgrade",
        rule=Rule(
            code="HP994",
            title="a way between versions of task governance that there is not",
            why="up to 1.3 Kueue's kinds are stored as v1alpha1, which 1.5 does not have, and the update "
            "fails",
            fix="upgrade it in the console of SageMaker AI, which moves what is stored, then deploy",
            source=_UPGRADES,
        ),
        apis=(apis.LIST_STACK_RESOURCES, apis.DESCRIBE_ADD_ON),
        asks=lambda look: [
            look.stack_call(),
            *(
                [apis.DESCRIBE_ADD_ON(clusterName=name_of(look.spec), addonName=TASK_GOVERNANCE)]
                if name_of(look.spec)
                else []
            ),
        ],
        needed=_has_governance_version,
        find=_governance,
    ),
)
