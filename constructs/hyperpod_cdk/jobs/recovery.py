"""When a job counts as faulty, and what is done about it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class CleanPodPolicy(StrEnum):
    """Which pods go when the job has ended."""

    ALL = "All"
    ONLY_COMPLETE = "OnlyComplete"
    NONE = "None"


class Comparison(StrEnum):
    """How a number in the log is held against the threshold; where it holds, the job is slow."""

    ABOVE = "gt"
    AT_LEAST = "gteq"
    BELOW = "lt"
    AT_MOST = "lteq"
    EQUAL = "eq"


@dataclass(frozen=True, kw_only=True)
class LogRule:
    """What the elastic agent looks for in the lines that training prints to stdout.

    A line matches when the pattern fits from its first character on, so that most patterns begin with ``.*``
    (hyperpod-elastic-agent 1.1.3, LogEvaluator; read and run). A job that a rule finds hanging, slow or
    faulty is restarted as the run policy says.
    """

    name: str
    """Shown as the reason of the restart; one rule a name."""
    log_pattern: str
    """Regular expression of Python. Its first group, if it has one, is the number that is compared."""
    expected_start_cut_off_in_seconds: int | None = None
    """Hanging, if no line matches within so many seconds of the start. Default: no limit."""
    expected_recurring_frequency_in_seconds: int | None = None
    """Hanging, if so many seconds pass after a match without another. Default: no limit."""
    metric_threshold: int | None = None
    """Whole number, since the agent cuts off everything after the point."""
    operator: Comparison | None = None
    """Slow, where it holds of the number in the line and the threshold."""
    metric_evaluation_data_points: int | None = None
    """So many matches in a row must be slow. Default: the agent's, 1."""
    stop_pattern: str | None = None
    """A line that ends the rule's watch. Default: none."""
    fault_on_match: bool = False
    """Faulty with the first match, whatever else is said."""


def starts_within(seconds: int, *, log_pattern: str, name: str = "JobStart") -> LogRule:
    """Restart a job that has not printed a line like ``log_pattern`` after so many seconds."""
    return LogRule(name=name, log_pattern=log_pattern, expected_start_cut_off_in_seconds=seconds)


def hangs_after(seconds: int, *, log_pattern: str, name: str = "JobHanging") -> LogRule:
    """Restart a job whose lines like ``log_pattern`` stop for so many seconds.

    Args:
        seconds: silence that is too long, such as 10 times a training step.
        log_pattern: a line of every step, such as ``.*loss: .*``.
        name: of the rule.
    """
    return LogRule(name=name, log_pattern=log_pattern, expected_recurring_frequency_in_seconds=seconds)


def loss_spike(above: int, *, log_pattern: str, steps: int = 5, name: str = "LossSpike") -> LogRule:
    """Restart a job whose loss stays above a limit for some steps.

    Args:
        above: highest loss that is well, a whole number.
        log_pattern: the line of a step; its first group is the loss.
        steps: so many in a row, 1 or more.
        name: of the rule.
    """
    return LogRule(
        name=name,
        log_pattern=log_pattern,
        metric_threshold=above,
        operator=Comparison.ABOVE,
        metric_evaluation_data_points=steps,
    )


def low_throughput(below: int, *, log_pattern: str, steps: int = 25, name: str = "LowThroughput") -> LogRule:
    """Restart a job whose throughput stays below a limit for some steps.

    Args:
        below: lowest throughput that is well, a whole number in the unit of the line.
        log_pattern: the line of a step; its first group is the throughput.
        steps: so many in a row, 1 or more.
        name: of the rule.
    """
    return LogRule(
        name=name,
        log_pattern=log_pattern,
        metric_threshold=below,
        operator=Comparison.BELOW,
        metric_evaluation_data_points=steps,
    )


def fails_on(log_pattern: str, *, name: str) -> LogRule:
    """Restart a job as soon as it prints a line like ``log_pattern``, such as ``.*OutOfMemoryError.*``."""
    return LogRule(name=name, log_pattern=log_pattern, fault_on_match=True)


@dataclass(frozen=True, kw_only=True)
class RestartPolicy:
    """Processes are restarted first, the whole job after them (sagemaker-eks-operator-usage)."""

    num_restart_before_full_job_restart: int
    """Restarts of processes before one of the whole job, within the period."""
    eval_period_seconds: int
    """Length of the period, in seconds."""
    max_full_job_restarts: int
    """Full restarts within the period before the job fails."""


@dataclass(frozen=True, kw_only=True)
class RunPolicy:
    """How much goes wrong before a job is given up, and what is left of it."""

    job_max_retry_count: int
    """Restarts of processes over the job's life, 0 or more."""
    restart_policy: RestartPolicy | None = None
    """Default: the operator's."""
    clean_pod_policy: CleanPodPolicy = CleanPodPolicy.NONE
    """NONE keeps the pods, so that their logs can be read."""
    log_rules: Sequence[LogRule] = field(default_factory=tuple)
    """What counts as hanging, slow or faulty, besides a process that exits. Default: nothing."""


@dataclass(frozen=True, kw_only=True)
class ElasticPolicy:
    """A job that grows and shrinks with the capacity there is; training operator 1.2.0 or newer.

    Not together with Spot capacity or tiered checkpoints (developer guide, sagemaker-eks-elastic-training).
    """

    min_replicas: int
    """Fewest pods that train, 1 or more."""
    max_replicas: int
    """Most pods that train."""
    replica_increment_step: int | None = None
    """Pods come and go by so many at a time; excludes ``replica_discrete_values``."""
    replica_discrete_values: Sequence[int] = ()
    """The only counts that training can run with; excludes ``replica_increment_step``."""
    graceful_shutdown_timeout_in_seconds: int | None = None
    """Time for a checkpoint before the pods are stopped by force."""
    scaling_timeout_in_seconds: int | None = None
    """Wait before growing, so that a job does not swing."""
    faulty_scale_down_timeout_in_seconds: int | None = None
    """Wait for a faulty pod's recovery before shrinking."""
