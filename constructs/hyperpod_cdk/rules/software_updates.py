"""HP16x: software updates by the calendar."""

import re
from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, node_type
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import (
    BatchSize,
    BatchSizeType,
    HyperPodSpec,
    InstanceGroup,
    NodeType,
    ScheduledUpdateConfig,
)

_FIELDS = 6
_CRON = re.compile(r"cron\((?P<fields>[^()]*)\)")
_SOFTWARE = f"{GUIDE}sagemaker-hyperpod-operate-slurm-cli-command.html"


@checks(
    Rule(
        code="HP160",
        title="a batch of more than the whole group",
        why="a percentage over 100 can not be meant",
        fix="use 1 to 100 percent, or INSTANCE_COUNT",
        source=f"{API}API_CapacitySizeConfig.html",
    )
)
def batch_percentage(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, size in _batch_sizes(spec):
        counts_percent = size.type == BatchSizeType.CAPACITY_PERCENTAGE
        if counts_percent and not unresolved(size.value) and size.value > 100:
            yield rule.finding(
                f"{path}.value",
                "is more than the whole group",
                given=size.value,
                allowed="1 to 100",
                nearest=(100,),
            )


@checks(
    Rule(
        code="HP161",
        title="a schedule that is no cron expression",
        why="the service takes cron expressions only; of which form, its pages do not say",
        fix="write cron(minutes hours day-of-month month day-of-week year), such as cron(0 3 ? * SUN *)",
        source=f"{API}API_ScheduledUpdateConfig.html",
        severity=Severity.WARNING,
    )
)
def schedule_form(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, _, config in _scheduled(spec):
        expression = config.schedule_expression
        if unresolved(expression):
            continue
        found = _CRON.fullmatch(expression)
        if found is None or len(found["fields"].split()) != _FIELDS:
            message = "is no cron expression of six fields"
            yield rule.finding(
                f"{path}.schedule_expression", message, given=expression, allowed="cron(…) with six fields"
            )


@checks(
    Rule(
        code="HP162",
        title="a scheduled update of the node that keeps the accounting",
        why="an update replaces the root volume, and with it the controller's own accounting database",
        fix="give the cluster an accounting_database outside of it, or update the controller by hand, after "
        "a backup",
        source=_SOFTWARE,
        severity=Severity.WARNING,
    )
)
def scheduled_controller(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    slurm = spec.cluster.orchestrator.slurm
    if slurm.accounting_database is not None or slurm.multi_head is not None:
        return
    for path, group, _ in _scheduled(spec):
        if node_type(group) == NodeType.CONTROLLER:
            yield rule.finding(path, "wipes the accounting of all jobs")


@checks(
    Rule(
        code="HP163",
        title="scheduled updates of an image that is pinned",
        why="the schedule moves the group to the newest image while the setting asks for another: the two "
        "work against each other",
        fix="remove scheduled_update_config, or image_release_version and image_id",
        source=f"{API}API_ClusterInstanceGroupSpecification.html, {GUIDE}hyperpod-custom-ami-support.html",
        severity=Severity.WARNING,
    )
)
def scheduled_and_pinned(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    for path, group, _ in _scheduled(spec):
        for name in ("image_release_version", "image_id"):
            given = getattr(group, name)
            if given not in (None, "default") and not unresolved(given):
                message = f"contradicts {name}, which is given too"
                yield rule.finding(path, message, given=given)


def _scheduled(spec: HyperPodSpec) -> Iterator[tuple[str, InstanceGroup, ScheduledUpdateConfig]]:
    for path, group in groups(spec):
        if group.scheduled_update_config is not None:
            yield f"{path}.scheduled_update_config", group, group.scheduled_update_config


def _batch_sizes(spec: HyperPodSpec) -> Iterator[tuple[str, BatchSize]]:
    configs = [
        (f"{path}.deployment_config", config.deployment_config) for path, _, config in _scheduled(spec)
    ]
    configs.append(("deployment.software_update", spec.deployment.software_update))
    for path, config in configs:
        policy = config.rolling_update_policy if config else None
        for name in ("maximum_batch_size", "rollback_maximum_batch_size") if policy else ():
            size = getattr(policy, name)
            if size is not None:
                yield f"{path}.rolling_update_policy.{name}", size
