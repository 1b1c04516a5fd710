"""HP55x: training jobs on Amazon EKS. They are checked one by one, apart from a cluster's spec."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from hyperpod_cdk.jobs import HyperPodPyTorchJob, LogRule
from hyperpod_cdk.jobs.resources import accelerators, processes
from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.rule import Check, Rule, checks
from hyperpod_cdk.service.instance_types import find

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
# the API's TeamName (CreateComputeQuota), in the lower case that a namespace wants
_TEAM = re.compile(r"[a-z0-9](-*[a-z0-9]){0,39}")
_AGENT = "hyperpod-elastic-agent 1.1.3, LogEvaluator (read and run)"
_USAGE = "developer guide, sagemaker-eks-operator-usage"
_ELASTIC = "developer guide, sagemaker-eks-elastic-training"
_FROM_THE_START = (".*", ".+", "^", r"\s*", r"\S*")


@checks(
    Rule(
        code="HP550",
        title="a name that Kubernetes does not take",
        why="the API server refuses the job, or its pods can not be named after it",
        fix="use lower-case letters, digits and inner hyphens: 1 to 63, of a team at most 40",
        source="Kubernetes, Object Names and IDs (RFC 1123 label names); API CreateComputeQuota",
    )
)
def names(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    named = [("name", job.name, _LABEL)]
    named += [
        (f"replica_specs[{index}].name", one.name, _LABEL) for index, one in enumerate(job.replica_specs)
    ]
    if job.namespace is not None:
        named.append(("namespace", job.namespace, _LABEL))
    if job.queue:
        named.append(("queue.team_name", job.queue.team_name, _TEAM))
    for path, name, allowed in named:
        if not allowed.fullmatch(name):
            yield rule.finding(path, "is no name in Kubernetes", given=name)


@checks(
    Rule(
        code="HP551",
        title="pods that are not there",
        why="a job without pods never starts, and of two specs of one name the operator takes one",
        fix="give every spec a name of its own, and counts of 0 or more with at least one pod in all",
        source=_USAGE,
    )
)
def replicas(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    counts = [(f"replica_specs[{index}]", one) for index, one in enumerate(job.replica_specs)]
    if not sum(max(one.replicas, one.max_replicas or 0) for _, one in counts):
        yield rule.finding("replica_specs", "asks for no pod")
    for path, one in counts:
        for field in ("replicas", "max_replicas", "spares"):
            count = getattr(one, field)
            if count is not None and count < 0:
                yield rule.finding(
                    f"{path}.{field}", "is no number of pods", given=count, allowed="0 or more"
                )
    yield from _twice(rule, "replica_specs", [one.name for _, one in counts])


@checks(
    Rule(
        code="HP552",
        title="more devices or processes than a node has",
        why="no node can take such a pod, and it stays pending",
        fix="leave the counts out: they follow the instance type",
        source="the catalogue of instance types",
    )
)
def devices(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    known = find(job.instance_type)
    for field in ("accelerators", "efa_interfaces"):
        count, most = getattr(job, field), getattr(known, field, None)
        if count is not None and not 0 <= count <= (count if most is None else most):
            yield rule.finding(
                field,
                f"is not what {job.instance_type} has",
                given=count,
                allowed="0 or more" if most is None else f"0 to {most}",
            )
    if job.nproc_per_node is not None and job.nproc_per_node < 1:
        yield rule.finding(
            "nproc_per_node", "is no number of processes", given=job.nproc_per_node, allowed="1 or more"
        )
    devices_of_pod = accelerators(job)
    if devices_of_pod and processes(job) > devices_of_pod:
        yield rule.finding(
            "nproc_per_node",
            "gives more than one process an accelerator",
            given=job.nproc_per_node,
            allowed=f"1 to {devices_of_pod}",
        )


@checks(
    Rule(
        code="HP553",
        title="spares without a queue",
        why="the operator keeps spare pods by way of Kueue; without it they are ordinary pods that wait",
        fix="name a queue, or leave the spares out",
        source=_USAGE,
    )
)
def spares(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    for index, one in enumerate(job.replica_specs):
        if one.spares and job.queue is None:
            yield rule.finding(f"replica_specs[{index}].spares", "needs a queue", given=one.spares)


@checks(
    Rule(
        code="HP554",
        title="a log rule that can not be read",
        why="the elastic agent compiles the patterns as training starts, and fails if it can not",
        fix="use a regular expression of Python, a whole threshold, positive times, and one name a rule",
        source=_AGENT,
    )
)
def log_rules(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    for path, one in _log_rules(job):
        for field in ("log_pattern", "stop_pattern"):
            pattern = getattr(one, field)
            if pattern is not None and (fault := _fault(pattern)):
                yield rule.finding(f"{path}.{field}", f"is no regular expression ({fault})", given=pattern)
        for field in (
            "expected_start_cut_off_in_seconds",
            "expected_recurring_frequency_in_seconds",
            "metric_evaluation_data_points",
        ):
            value = getattr(one, field)
            if value is not None and value < 1:
                yield rule.finding(f"{path}.{field}", "is out of range", given=value, allowed="1 or more")
        if one.metric_threshold is not None and one.metric_threshold != int(one.metric_threshold):
            yield rule.finding(
                f"{path}.metric_threshold",
                "loses what stands after the point",
                given=one.metric_threshold,
                nearest=(int(one.metric_threshold), int(one.metric_threshold) + 1),
            )
    yield from _twice(rule, "run_policy.log_rules", [one.name for one in job.run_policy.log_rules])


@checks(
    Rule(
        code="HP555",
        title="a log rule that never finds anything",
        why="a job that hangs or slows down would go on, and nobody be told",
        fix="give it a time limit; a threshold, an operator and a group in the pattern; or fault_on_match",
        source=_AGENT,
    )
)
def blind_log_rules(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    for path, one in _log_rules(job):
        times = one.expected_start_cut_off_in_seconds or one.expected_recurring_frequency_in_seconds
        measures = one.metric_threshold is not None and one.operator is not None
        if not (times or measures or one.fault_on_match):
            yield rule.finding(path, "looks for nothing", given=one.name)
        elif (one.metric_threshold is None) != (one.operator is None):
            yield rule.finding(path, "has one of threshold and operator, and so compares nothing")
        elif measures and not _fault(one.log_pattern) and not re.compile(one.log_pattern).groups:
            yield rule.finding(
                f"{path}.log_pattern", "has no group for the number to compare", given=one.log_pattern
            )


@checks(
    Rule(
        code="HP556",
        title="a pattern that fits a line from its first character only",
        why="the agent matches from the start of the line, and most lines start with a time or a level",
        fix="begin the pattern with .*",
        source=_AGENT,
        severity=Severity.WARNING,
    )
)
def anchored_patterns(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    for path, one in _log_rules(job):
        for field in ("log_pattern", "stop_pattern"):
            pattern = getattr(one, field)
            if pattern and not pattern.startswith(_FROM_THE_START):
                yield rule.finding(
                    f"{path}.{field}",
                    "fits only lines that start with it",
                    given=pattern,
                    nearest=(f".*{pattern}",),
                )


@checks(
    Rule(
        code="HP557",
        title="an elastic policy that does not fit its pods",
        why="the operator could reach no count of pods that the policy allows",
        fix="1 <= min_replicas <= max_replicas = the pods' most in all; one of step and discrete values",
        source=_ELASTIC,
    )
)
def elasticity(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    policy = job.elastic_policy
    if policy is None:
        return
    lowest, highest = policy.min_replicas, policy.max_replicas
    if not 1 <= lowest <= highest:
        yield rule.finding(
            "elastic_policy.min_replicas", "is out of range", given=lowest, allowed=f"1 to {highest}"
        )
    if policy.replica_increment_step and policy.replica_discrete_values:
        yield rule.finding("elastic_policy", "has both a step and discrete values")
    if policy.replica_increment_step is not None and policy.replica_increment_step < 1:
        yield rule.finding(
            "elastic_policy.replica_increment_step", "is no step", given=policy.replica_increment_step
        )
    if len(set(policy.replica_discrete_values)) < len(policy.replica_discrete_values):
        yield rule.finding(
            "elastic_policy.replica_discrete_values",
            "has a value twice",
            given=policy.replica_discrete_values,
        )
    outside = [value for value in policy.replica_discrete_values if not lowest <= value <= highest]
    if outside:
        yield rule.finding(
            "elastic_policy.replica_discrete_values",
            "lie outside the policy",
            given=outside,
            allowed=f"{lowest} to {highest}",
        )
    most = sum(max(one.replicas, one.max_replicas or 0) for one in job.replica_specs)
    if most != highest:
        yield rule.finding(
            "elastic_policy.max_replicas", "is not the pods' most in all", given=highest, nearest=(most,)
        )


@checks(
    Rule(
        code="HP558",
        title="a command that the training operator does not see",
        why="processes are watched and restarted by the elastic agent, which hyperpodrun starts",
        fix="start training with hyperpodrun, which takes torchrun's arguments; acknowledge if a script does",
        source=_USAGE,
        severity=Severity.WARNING,
    )
)
def launcher(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    if not any("hyperpodrun" in word for word in job.command):
        yield rule.finding("command", "does not name hyperpodrun", given=" ".join(job.command))


@checks(
    Rule(
        code="HP559",
        title="a volume where it can not be",
        why="the API server refuses relative and doubled mount paths, and huge pages of half a page",
        fix="use absolute paths, each once; huge pages by twos of MiB; sizes above 0",
        source="Kubernetes, Volumes and Manage HugePages",
    )
)
def volumes(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    for index, volume in enumerate(job.volumes):
        if not volume.mount_path.startswith("/") or ":" in volume.mount_path:
            yield rule.finding(f"volumes[{index}].mount_path", "is no absolute path", given=volume.mount_path)
    paths = [volume.mount_path for volume in job.volumes]
    yield from _twice(rule, "volumes", [*paths, *(["/dev/shm"] if job.shared_memory_gib else [])])
    if job.huge_pages_2mi is not None and (job.huge_pages_2mi < 0 or job.huge_pages_2mi % 2):
        yield rule.finding("huge_pages_2mi", "is no number of pages of 2 MiB", given=job.huge_pages_2mi)
    for field in ("shared_memory_gib", "memory_mib"):
        value = getattr(job, field)
        if value is not None and value < 1:
            yield rule.finding(field, "is no size", given=value, allowed="1 or more")


@checks(
    Rule(
        code="HP560",
        title="a limit that is none",
        why="the API server refuses negative counts, and a wait of no time never ends well",
        fix="use 0 or more restarts, and times of 1 second or more",
        source=f"{_USAGE}, {_ELASTIC}",
    )
)
def limits(job: HyperPodPyTorchJob, rule: Rule) -> Iterator[Finding]:
    policy, restart, elastic = job.run_policy, job.run_policy.restart_policy, job.elastic_policy
    numbers = [("run_policy.job_max_retry_count", policy.job_max_retry_count, 0)]
    if restart:
        path = "run_policy.restart_policy"
        numbers += [
            (f"{path}.num_restart_before_full_job_restart", restart.num_restart_before_full_job_restart, 0),
            (f"{path}.eval_period_seconds", restart.eval_period_seconds, 1),
            (f"{path}.max_full_job_restarts", restart.max_full_job_restarts, 0),
        ]
    if elastic:
        numbers += [
            (f"elastic_policy.{field}", getattr(elastic, field), 1)
            for field in (
                "graceful_shutdown_timeout_in_seconds",
                "scaling_timeout_in_seconds",
                "faulty_scale_down_timeout_in_seconds",
            )
        ]
    for path, number, lowest in numbers:
        if number is not None and number < lowest:
            yield rule.finding(path, "is out of range", given=number, allowed=f"{lowest} or more")


JOB_CHECKS: tuple[Check[HyperPodPyTorchJob], ...] = (
    *(names, replicas, devices, spares, log_rules, blind_log_rules, anchored_patterns),
    *(elasticity, launcher, volumes, limits),
)
"""Every check of a training job."""


def check_job(job: HyperPodPyTorchJob, *, acknowledged: Iterable[str] = ()) -> list[Finding]:
    """Everything that is wrong or doubtful about a training job, errors first.

    Args:
        job: what is to run.
        acknowledged: codes of warnings that are not to be told again; errors can not be acknowledged.
    """
    silent = frozenset(acknowledged)
    findings = [finding for one in JOB_CHECKS for finding in one(job)]
    told = [one for one in findings if one.severity is Severity.ERROR or one.code not in silent]
    return sorted(told, key=lambda finding: finding.severity is not Severity.ERROR)


def _log_rules(job: HyperPodPyTorchJob) -> Iterator[tuple[str, LogRule]]:
    for index, one in enumerate(job.run_policy.log_rules):
        yield f"run_policy.log_rules[{index}]", one


def _twice(rule: Rule, path: str, values: Iterable[str]) -> Iterator[Finding]:
    for value, count in Counter(values).items():
        if count > 1:
            yield rule.finding(path, f"has {value} {count} times", given=value)


def _fault(pattern: str) -> str | None:
    try:
        re.compile(pattern)
    except re.error as error:
        return str(error)
    return None
