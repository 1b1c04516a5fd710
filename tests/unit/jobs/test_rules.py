"""What is wrong with a training job: a row for what passes, what does not, and the last of each."""

from typing import Any

import pytest

from hyperpod_cdk.jobs import (
    ElasticPolicy,
    LogRule,
    Queue,
    Replicas,
    RestartPolicy,
    RunPolicy,
    VolumeMount,
    hangs_after,
    loss_spike,
)
from hyperpod_cdk.rules import RULES, check_job
from hyperpod_cdk.rules.training_jobs import JOB_CHECKS
from tests.unit.jobs.samples import job, with_rules


def pods(**changes: Any) -> list[Replicas]:
    return [Replicas(**{"name": "pods", "replicas": 4, **changes})]


def rule(**changes: Any) -> LogRule:
    base = {"name": "one", "log_pattern": r".*loss: (\d+)", "expected_start_cut_off_in_seconds": 60}
    return LogRule(**{**base, **changes})


def elastic(**changes: Any) -> ElasticPolicy:
    return ElasticPolicy(**{"min_replicas": 2, "max_replicas": 4, **changes})


def restart(**changes: Any) -> RunPolicy:
    policy = {"num_restart_before_full_job_restart": 0, "eval_period_seconds": 1, "max_full_job_restarts": 0}
    return RunPolicy(job_max_retry_count=0, restart_policy=RestartPolicy(**{**policy, **changes}))


ONE = "run_policy.log_rules[0]"
ROWS = [
    ("HP550", job(name="a" * 63), []),
    ("HP550", job(name="a" * 64), ["name"]),
    ("HP550", job(name="Training"), ["name"]),
    ("HP550", job(name="-a"), ["name"]),
    ("HP550", job(namespace="a_b"), ["namespace"]),
    ("HP550", job(replica_specs=pods(name="a.b")), ["replica_specs[0].name"]),
    ("HP550", job(queue=Queue(team_name="a" * 40)), []),
    ("HP550", job(queue=Queue(team_name="a" * 41)), ["queue.team_name"]),
    ("HP551", job(replica_specs=[]), ["replica_specs"]),
    ("HP551", job(replica_specs=pods(replicas=0)), ["replica_specs"]),
    ("HP551", job(replica_specs=pods(replicas=0, max_replicas=1)), []),
    ("HP551", job(replica_specs=pods(spares=-1)), ["replica_specs[0].spares"]),
    (
        "HP551",
        job(replica_specs=[*pods(), *pods(replicas=-1)]),
        ["replica_specs[1].replicas", "replica_specs"],
    ),
    ("HP552", job(accelerators=8, efa_interfaces=32, nproc_per_node=8), []),
    ("HP552", job(accelerators=9), ["accelerators"]),
    ("HP552", job(efa_interfaces=33), ["efa_interfaces"]),
    ("HP552", job(efa_interfaces=-1), ["efa_interfaces"]),
    ("HP552", job(nproc_per_node=9), ["nproc_per_node"]),
    ("HP552", job(nproc_per_node=0, instance_type="ml.m5.xlarge"), ["nproc_per_node"]),
    ("HP552", job(nproc_per_node=64, instance_type="ml.m5.xlarge"), []),
    ("HP552", job(accelerators=72, instance_type="ml.zz9.xlarge"), []),
    ("HP553", job(replica_specs=pods(spares=1), queue=Queue(team_name="a")), []),
    ("HP553", job(replica_specs=pods(spares=0)), []),
    ("HP553", job(replica_specs=pods(spares=1)), ["replica_specs[0].spares"]),
    ("HP554", with_rules(rule(metric_evaluation_data_points=1)), []),
    (
        "HP554",
        with_rules(rule(metric_evaluation_data_points=0)),
        [f"{ONE}.metric_evaluation_data_points"],
    ),
    ("HP554", with_rules(rule(log_pattern="(")), [f"{ONE}.log_pattern"]),
    ("HP554", with_rules(rule(stop_pattern="[")), [f"{ONE}.stop_pattern"]),
    ("HP554", with_rules(rule(metric_threshold=0.5, operator="gt")), [f"{ONE}.metric_threshold"]),
    ("HP554", with_rules(rule(), rule()), ["run_policy.log_rules"]),
    ("HP555", with_rules(rule()), []),
    ("HP555", with_rules(rule(expected_start_cut_off_in_seconds=None)), [ONE]),
    ("HP555", with_rules(rule(expected_start_cut_off_in_seconds=None, fault_on_match=True)), []),
    ("HP555", with_rules(rule(metric_threshold=0)), [ONE]),
    ("HP555", with_rules(rule(operator="gt")), [ONE]),
    ("HP555", with_rules(loss_spike(9, log_pattern=".*loss")), [f"{ONE}.log_pattern"]),
    ("HP556", with_rules(hangs_after(9, log_pattern=".*loss")), []),
    ("HP556", with_rules(hangs_after(9, log_pattern="^loss")), []),
    ("HP556", with_rules(hangs_after(9, log_pattern="loss")), [f"{ONE}.log_pattern"]),
    ("HP556", with_rules(rule(stop_pattern="done")), [f"{ONE}.stop_pattern"]),
    ("HP557", job(elastic_policy=elastic(replica_increment_step=2)), []),
    ("HP557", job(elastic_policy=elastic(min_replicas=4)), []),
    ("HP557", job(elastic_policy=elastic(min_replicas=5)), ["elastic_policy.min_replicas"]),
    ("HP557", job(elastic_policy=elastic(min_replicas=0)), ["elastic_policy.min_replicas"]),
    ("HP557", job(elastic_policy=elastic(max_replicas=5)), ["elastic_policy.max_replicas"]),
    (
        "HP557",
        job(elastic_policy=elastic(replica_increment_step=2, replica_discrete_values=[2, 4])),
        ["elastic_policy"],
    ),
    (
        "HP557",
        job(elastic_policy=elastic(replica_increment_step=0)),
        ["elastic_policy.replica_increment_step"],
    ),
    (
        "HP557",
        job(elastic_policy=elastic(replica_discrete_values=[1, 4])),
        ["elastic_policy.replica_discrete_values"],
    ),
    (
        "HP557",
        job(elastic_policy=elastic(replica_discrete_values=[2, 2])),
        ["elastic_policy.replica_discrete_values"],
    ),
    ("HP558", job(command=["bash", "-c", "hyperpodrun train.py"]), []),
    ("HP558", job(command=["torchrun", "train.py"]), ["command"]),
    ("HP559", job(volumes=[VolumeMount(claim_name="fsx", mount_path="/fsx")], huge_pages_2mi=2), []),
    ("HP559", job(volumes=[VolumeMount(claim_name="fsx", mount_path="fsx")]), ["volumes[0].mount_path"]),
    ("HP559", job(volumes=[VolumeMount(claim_name="fsx", mount_path="/fsx")] * 2), ["volumes"]),
    (
        "HP559",
        job(volumes=[VolumeMount(claim_name="a", mount_path="/dev/shm")], shared_memory_gib=1),
        ["volumes"],
    ),
    ("HP559", job(huge_pages_2mi=3), ["huge_pages_2mi"]),
    ("HP559", job(memory_mib=1, shared_memory_gib=1), []),
    ("HP559", job(memory_mib=0), ["memory_mib"]),
    ("HP559", job(shared_memory_gib=0), ["shared_memory_gib"]),
    ("HP560", job(run_policy=RunPolicy(job_max_retry_count=0)), []),
    ("HP560", job(run_policy=RunPolicy(job_max_retry_count=-1)), ["run_policy.job_max_retry_count"]),
    ("HP560", job(run_policy=restart()), []),
    (
        "HP560",
        job(run_policy=restart(eval_period_seconds=0)),
        ["run_policy.restart_policy.eval_period_seconds"],
    ),
    ("HP560", job(elastic_policy=elastic(scaling_timeout_in_seconds=1)), []),
    (
        "HP560",
        job(elastic_policy=elastic(scaling_timeout_in_seconds=0)),
        ["elastic_policy.scaling_timeout_in_seconds"],
    ),
]


@pytest.mark.parametrize(("code", "one", "paths"), ROWS)
def test_rows(code: str, one: Any, paths: list[str]) -> None:
    found = check_job(one)
    assert [finding.path for finding in found if finding.code == code] == paths
    assert all(finding.fix and finding.message for finding in found)


def test_every_rule_has_rows_of_both_kinds() -> None:
    codes = {check.rule.code for check in JOB_CHECKS}
    assert codes == {code for code, _, paths in ROWS if paths}
    assert codes == {code for code, _, paths in ROWS if not paths}


def test_codes_can_be_explained() -> None:
    assert all(RULES[check.rule.code] is check.rule for check in JOB_CHECKS)


def test_all_faults_come_at_once_errors_first_and_warnings_can_be_acknowledged() -> None:
    one = job(name="Upper", command=["python"], nproc_per_node=0)
    assert [finding.code for finding in check_job(one)] == ["HP550", "HP552", "HP558"]
    assert [finding.code for finding in check_job(one, acknowledged=["HP558", "HP550"])] == ["HP550", "HP552"]
