"""HP990-HP992: what is on a cluster already that the stack would make, and what AWS does not show."""

from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, eks_plan
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.eks_add_ons import add_on_call, installed
from hyperpod_cdk.preflight.eks_existing import (
    control_plane,
    control_plane_call,
    has_control_plane,
)
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.eks_add_ons import TASK_GOVERNANCE
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec, TaskGovernance

_PATH = f"{eks_plan.PATH}.task_governance"
_GOING = ("Deleting", "Deleted")
_OWN = (apis.LIST_CLUSTERS, apis.DESCRIBE_CLUSTER, apis.LIST_STACK_RESOURCES)
_QUOTAS = ("Custom::HyperPodComputeQuota", "AWS::SageMaker::ComputeQuota")
_POLICY = "AWS::SageMaker::ClusterSchedulerConfig"


def _governance(spec: HyperPodSpec) -> TaskGovernance | None:
    eks = eks_plan.plane(spec)
    return eks.task_governance if eks else None


def _of_own_cluster(look: Look, summaries: list[Item]) -> list[Item]:
    """Those of the stack's own cluster that are not about to go."""
    own = {one["ClusterArn"] for one in look.own_clusters()}
    return [one for one in summaries if one.get("ClusterArn") in own and one["Status"] not in _GOING]


def _quotas(look: Look, rule: Rule) -> Iterator[Finding]:
    governance, mine = _governance(look.spec), set(look.in_stack(*_QUOTAS))
    taken: dict[str, Item] = {}
    for one in _of_own_cluster(look, look.aws.answer(apis.LIST_COMPUTE_QUOTAS())):
        cluster_id = one["ClusterArn"].rpartition("/")[2]
        if mine.isdisjoint({f"{cluster_id}/{one['Name']}", one["ComputeQuotaArn"], one["ComputeQuotaId"]}):
            taken[one["Name"]] = taken[one.get("ComputeQuotaTarget", {}).get("TeamName", "")] = one
    for index, team in enumerate(governance.teams if governance else ()):
        found = None if unresolved(team.team_name) else taken.get(team.team_name)
        if found:
            yield rule.finding(
                f"{_PATH}.teams[{index}].team_name",
                f"has the compute quota {found['Name']} already, {found['ComputeQuotaArn']}",
                given=team.team_name,
            )


def _policies(look: Look, rule: Rule) -> Iterator[Finding]:
    mine = set(look.in_stack(_POLICY))
    for one in _of_own_cluster(look, look.aws.answer(apis.LIST_SCHEDULER_CONFIGS())):
        if mine.isdisjoint({one["ClusterSchedulerConfigArn"], one["ClusterSchedulerConfigId"]}):
            yield rule.finding(
                _PATH, f"has a policy already: {one['Name']}, {one['ClusterSchedulerConfigArn']}"
            )


def _unseen(look: Look, rule: Rule) -> Iterator[Finding]:
    if control_plane(look) is None:
        return
    if not look.own_clusters():
        yield rule.finding(
            f"{eks_plan.PATH}.cluster_arn", "must have HyperPod's chart, of which AWS shows nothing"
        )
    if _governance(look.spec) and installed(look, TASK_GOVERNANCE) is None:
        yield rule.finding(_PATH, "must be the only Kueue there, and AWS shows no other")


CHECKS = (
    Check(
        name="compute-quotas",
        rule=Rule(
            code="HP990",
            title="a team that has a compute quota already",
            why="the service makes no second one of the name, and one of another stack is never touched",
            fix="delete the other, with `aws sagemaker delete-compute-quota`, or leave the team out",
            source=f"{API}API_CreateComputeQuota.html",
        ),
        apis=(*_OWN, apis.LIST_COMPUTE_QUOTAS),
        asks=lambda look: [apis.LIST_CLUSTERS(), look.stack_call(), apis.LIST_COMPUTE_QUOTAS()],
        needed=lambda spec: bool((governance := _governance(spec)) and governance.teams),
        find=_quotas,
    ),
    Check(
        name="cluster-policy",
        rule=Rule(
            code="HP991",
            title="a cluster that has a policy already",
            why="a cluster has one, and the stack can not make another beside it",
            fix="delete it, with `aws sagemaker delete-cluster-scheduler-config`, or leave task_governance "
            "out",
            source=f"{API}API_CreateClusterSchedulerConfig.html",
        ),
        apis=(*_OWN, apis.LIST_SCHEDULER_CONFIGS),
        asks=lambda look: [apis.LIST_CLUSTERS(), look.stack_call(), apis.LIST_SCHEDULER_CONFIGS()],
        needed=lambda spec: _governance(spec) is not None,
        find=_policies,
    ),
    Check(
        name="unseen-in-kubernetes",
        rule=Rule(
            code="HP992",
            title="what only Kubernetes knows of an existing control plane",
            why="without the chart the service refuses the cluster, and beside another Kueue the add-on "
            "fails",
            fix="look with `helm list -n kube-system` and `kubectl get deployments -A | grep kueue`, and "
            "acknowledge this",
            source=f"{GUIDE}sagemaker-hyperpod-eks-install-packages-using-helm-chart.html, "
            f"{GUIDE}sagemaker-hyperpod-eks-operate-console-ui-governance-setup.html",
            severity=Severity.WARNING,
        ),
        apis=(*_OWN, apis.DESCRIBE_CONTROL_PLANE, apis.DESCRIBE_ADD_ON),
        asks=lambda look: [
            *(apis.LIST_CLUSTERS(), look.stack_call(), control_plane_call(look)),
            *([add_on_call(look, TASK_GOVERNANCE)] if _governance(look.spec) else []),
        ],
        needed=has_control_plane,
        find=_unseen,
    ),
)
