"""HP14x: what deploys the cluster, and what it waits for."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups_of, is_continuous
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec, NodeType, Provisioning, RemovalPolicy, Wait

# CFN aws-resource-cloudformation-waitcondition.html, 2026-10: Timeout at most 43200 seconds
_MAX_HOURS = 12
# the page of HP143: 90 minutes of DCGM, 15 of NCCL, 5 of EFA, 2 of stress, and the node's start
_CHECK_HOURS = 3


@checks(
    Rule(
        code="HP140",
        title="a wish that CloudFormation's own resource does not grant",
        why="AWS::SageMaker::Cluster waits until the cluster is in service, leaves the nodes' logs, and asks "
        "for no software update",
        fix="use the custom resource, or leave the setting at its default",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
        "aws-resource-sagemaker-cluster.html",
    )
)
def only_custom_resource(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    deployment = spec.deployment
    if unresolved(deployment.provisioning) or deployment.provisioning is not Provisioning.CLOUDFORMATION:
        return
    for name, given, allowed in (
        ("wait", deployment.wait, Wait.IN_SERVICE),
        ("log_group_removal_policy", deployment.log_group_removal_policy, RemovalPolicy.RETAIN),
        ("software_update", deployment.software_update, None),
        ("group_by_group", deployment.group_by_group, False),
    ):
        if not unresolved(given) and given != allowed:
            message = "needs the custom resource"
            yield rule.finding(f"deployment.{name}", message, given=given, allowed=str(allowed or "nothing"))


@checks(
    Rule(
        code="HP141",
        title="a wait that no condition lasts",
        why="a WaitCondition of CloudFormation waits for 12 hours at most",
        fix="choose 1 to 12 hours",
        source="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/"
        "aws-resource-cloudformation-waitcondition.html",
    )
)
def wait_timeout(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    hours = spec.deployment.wait_timeout_hours
    if unresolved(hours) or 1 <= hours <= _MAX_HOURS:
        return
    nearest = 1 if hours < 1 else _MAX_HOURS
    message = "is no time that can be waited"
    yield rule.finding(
        "deployment.wait_timeout_hours", message, given=hours, allowed="1 to 12", nearest=[nearest]
    )


@checks(
    Rule(
        code="HP142",
        title="a wait for minimum counts where none is set",
        why="with Continuous provisioning a compute group's minimum is 0 by default: nothing is waited for",
        fix="set min_instance_count of the compute groups, or wait: in-service",
        source=f"{GUIDE}sagemaker-hyperpod-scaling-slurm.html",
        severity=Severity.WARNING,
    )
)
def nothing_to_wait_for(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    wait = spec.deployment.wait
    if unresolved(wait) or wait is not Wait.MINIMUM_COUNTS or not is_continuous(spec):
        return
    compute = [group for _, group in groups_of(spec, NodeType.COMPUTE)]
    if compute and all(group.min_instance_count is None for group in compute):
        yield rule.finding("deployment.wait", "waits for no compute node", given=wait)


@checks(
    Rule(
        code="HP143",
        title="a wait shorter than the checks before it",
        why="nodes count once they have passed their deep health checks, which take up to two hours beside "
        "the nodes' own start",
        fix="wait 3 hours or longer, or remove on_start_deep_health_checks",
        source=f"{GUIDE}sagemaker-hyperpod-resiliency-slurm-deep-health-checks.html",
        severity=Severity.WARNING,
    )
)
def wait_for_checks(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    hours = spec.deployment.wait_timeout_hours
    if spec.deployment.wait != Wait.MINIMUM_COUNTS or unresolved(hours) or hours >= _CHECK_HOURS:
        return
    if any(group.on_start_deep_health_checks for _, group in groups_of(spec, NodeType.COMPUTE)):
        message = "ends before the deep health checks may have"
        yield rule.finding(
            "deployment.wait_timeout_hours",
            message,
            given=hours,
            allowed=f"{_CHECK_HOURS} to {_MAX_HOURS}",
            nearest=[_CHECK_HOURS],
        )
