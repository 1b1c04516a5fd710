"""What the training operator is given."""

import json
import subprocess
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from hyperpod_cdk.jobs import (
    CleanPodPolicy,
    Comparison,
    ElasticPolicy,
    HyperPodPyTorchJob,
    LogRule,
    Queue,
    Replicas,
    RestartPolicy,
    RunPolicy,
    VolumeMount,
    to_manifest,
)
from hyperpod_cdk.jobs.text import to_yaml
from hyperpod_cdk.rules import check_job, errors
from tests.unit.jobs.samples import job

EXAMPLES = sorted((Path(__file__).parents[3] / "examples" / "jobs").glob("*.py"))
SCHEMA = json.loads(files("hyperpod_cdk.jobs").joinpath("schema.json").read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
# those that HyperPod and the training operator share (service.md of the facts, section 10)
KUBERNETES = ("1.30", "1.31", "1.32", "1.33")

MAXIMAL = job(
    namespace="research",
    queue=Queue(team_name="research", priority_class="training"),
    replica_specs=[
        Replicas(name="base", replicas=2, spares=1, priority_class_name="high"),
        Replicas(name="elastic", replicas=0, max_replicas=6, priority_class_name="low"),
    ],
    elastic_policy=ElasticPolicy(
        min_replicas=2,
        max_replicas=8,
        replica_increment_step=2,
        graceful_shutdown_timeout_in_seconds=600,
        scaling_timeout_in_seconds=60,
        faulty_scale_down_timeout_in_seconds=30,
    ),
    run_policy=RunPolicy(
        job_max_retry_count=50,
        restart_policy=RestartPolicy(
            num_restart_before_full_job_restart=3, eval_period_seconds=21600, max_full_job_restarts=1
        ),
        clean_pod_policy=CleanPodPolicy.ALL,
        log_rules=[
            LogRule(
                name="everything",
                log_pattern=r".*loss: (\d+).*",
                expected_start_cut_off_in_seconds=120,
                expected_recurring_frequency_in_seconds=600,
                metric_threshold=0,
                operator=Comparison.AT_LEAST,
                metric_evaluation_data_points=100,
                stop_pattern=".*done.*",
                fault_on_match=True,
            )
        ],
    ),
    volumes=[
        VolumeMount(claim_name="fsx", mount_path="/fsx"),
        VolumeMount(claim_name="fsx", mount_path="/data", read_only=True),
    ],
    shared_memory_gib=64,
    service_account_name="trainer",
    environment={"FI_PROVIDER": "efa"},
    node_selector={"sagemaker.amazonaws.com/node-health-status": "Schedulable"},
    labels={"team": "research"},
    annotations={"note": "of a test"},
)


def pods(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The pods that the operator makes of the templates."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "pod", **one["template"].get("metadata", {})},
            "spec": one["template"]["spec"],
        }
        for one in manifest["spec"]["replicaSpecs"]
    ]


def assert_is_accepted(manifest: dict[str, Any]) -> None:
    """By the operator's schema, and its pods by Kubernetes' own, which knows no stray member."""
    VALIDATOR.validate(manifest)
    for pod in pods(manifest):
        for version in KUBERNETES:
            kubernetes_validate.validate(pod, version, strict=True)


def container(one: HyperPodPyTorchJob) -> Any:
    return to_manifest(one)["spec"]["replicaSpecs"][0]["template"]["spec"]["containers"][0]


def test_every_member_reaches_the_manifest() -> None:
    manifest = to_manifest(MAXIMAL)
    assert errors(check_job(MAXIMAL)) == []
    assert_is_accepted(manifest)
    assert manifest["spec"]["elasticPolicy"] == {
        "minReplicas": 2,
        "maxReplicas": 8,
        "replicaIncrementStep": 2,
        "gracefulShutdownTimeoutInSeconds": 600,
        "scalingTimeoutInSeconds": 60,
        "faultyScaleDownTimeoutInSeconds": 30,
    }
    assert manifest["spec"]["runPolicy"] == {
        "jobMaxRetryCount": 50,
        "restartPolicy": {
            "numRestartBeforeFullJobRestart": 3,
            "evalPeriodSeconds": 21600,
            "maxFullJobRestarts": 1,
        },
        "cleanPodPolicy": "All",
        "logMonitoringConfiguration": [
            {
                "name": "everything",
                "logPattern": r".*loss: (\d+).*",
                "expectedStartCutOffInSeconds": 120,
                "expectedRecurringFrequencyInSeconds": 600,
                "metricThreshold": 0,
                "operator": "gteq",
                "metricEvaluationDataPoints": 100,
                "stopPattern": ".*done.*",
                "faultOnMatch": True,
            }
        ],
    }


def test_the_schema_has_no_member_that_nothing_makes() -> None:
    made = json.dumps(to_manifest(MAXIMAL)) + json.dumps(
        to_manifest(
            job(elastic_policy=ElasticPolicy(min_replicas=2, max_replicas=4, replica_discrete_values=[2]))
        )
    )
    known = {
        name
        for part in (SCHEMA["properties"]["spec"], *SCHEMA["$defs"].values())
        for name in part.get("properties", {})
    }
    assert not [name for name in known if f'"{name}"' not in made]


def test_the_team_gives_namespace_queue_and_priority() -> None:
    manifest = to_manifest(job(queue=Queue(team_name="vision", priority_class="inference")))
    assert manifest["metadata"]["namespace"] == "hyperpod-ns-vision"
    assert manifest["metadata"]["labels"] == {
        "kueue.x-k8s.io/queue-name": "hyperpod-ns-vision-localqueue",
        "kueue.x-k8s.io/priority-class": "inference-priority",
    }


@pytest.mark.parametrize(
    ("instance_type", "processes", "resources"),
    [
        (
            "ml.p5.48xlarge",
            "8",
            {"nvidia.com/gpu": "8", "vpc.amazonaws.com/efa": "32", "hugepages-2Mi": "5120Mi"},
        ),
        (
            "ml.trn1.32xlarge",
            "16",
            {"aws.amazon.com/neuron": "16", "vpc.amazonaws.com/efa": "8", "hugepages-2Mi": "5120Mi"},
        ),
        ("ml.g5.xlarge", "1", {"nvidia.com/gpu": "1"}),
        ("ml.m5.xlarge", "1", {}),
        ("ml.zz9.xlarge", "1", {}),
    ],
)
def test_devices_follow_the_instance_type(
    instance_type: str, processes: str, resources: dict[str, str]
) -> None:
    one = job(instance_type=instance_type)
    manifest = to_manifest(one)
    assert manifest["spec"]["nprocPerNode"] == processes
    assert container(one).get("resources", {}).get("limits", {}) == resources
    assert pods(manifest)[0]["spec"]["nodeSelector"] == {"node.kubernetes.io/instance-type": instance_type}


def test_huge_pages_come_with_memory_as_kubernetes_wants() -> None:
    assert container(job())["resources"]["requests"]["memory"] == "32000Mi"
    assert container(job(memory_mib=64000))["resources"]["requests"]["memory"] == "64000Mi"
    assert "memory" not in container(job(huge_pages_2mi=0))["resources"]["requests"]


def test_numbers_that_are_given_win() -> None:
    one = job(accelerators=4, nproc_per_node=2, efa_interfaces=0)
    assert to_manifest(one)["spec"]["nprocPerNode"] == "2"
    assert container(one)["resources"]["limits"] == {"nvidia.com/gpu": "4"}


def test_a_claim_mounted_twice_is_one_volume() -> None:
    spec = pods(to_manifest(MAXIMAL))[0]["spec"]
    assert [volume["name"] for volume in spec["volumes"]] == ["fsx", "shared-memory"]
    assert [mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]] == [
        "/fsx",
        "/data",
        "/dev/shm",
    ]


@pytest.mark.parametrize("example", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_examples_are_well_and_print_what_kubectl_takes(example: Path) -> None:
    run = subprocess.run([sys.executable, example], capture_output=True, text=True, check=True)
    assert_is_accepted(YAML(typ="safe").load(run.stdout))
    namespace: dict[str, Any] = {"__name__": "example"}
    exec(compile(example.read_text(encoding="utf-8"), example, "exec"), namespace)
    assert check_job(namespace["JOB"]) == []
    assert to_yaml(namespace["JOB"]) == run.stdout


def mostly(*good: Any, bad: Sequence[Any] = ()) -> st.SearchStrategy[Any]:
    """What is allowed, and now and then what is not, so that most jobs have one fault or none."""
    return st.sampled_from([*good * (1 + 20 * len(bad) // len(good)), *bad])


NAMES = st.sampled_from(["a", "b", "c-1", "a" * 63])
COUNTS = mostly(None, 1, 4, bad=[0, -1])
LOG_RULES = st.builds(
    LogRule,
    name=NAMES,
    log_pattern=mostly(".*", r".*(\d+)", bad=["("]),
    expected_start_cut_off_in_seconds=COUNTS,
    expected_recurring_frequency_in_seconds=COUNTS,
    metric_threshold=st.none() | st.integers(),
    operator=st.none() | st.sampled_from(Comparison),
    metric_evaluation_data_points=COUNTS,
    stop_pattern=mostly(None, ".*", bad=["["]),
    fault_on_match=st.booleans(),
)
REPLICAS = st.builds(
    Replicas,
    name=NAMES,
    replicas=mostly(1, 5, 0, bad=[-1]),
    max_replicas=mostly(None, 5, bad=[-1]),
    spares=mostly(None, 1, bad=[-1]),
)
ELASTIC = st.builds(
    ElasticPolicy,
    min_replicas=mostly(1, 5, bad=[0]),
    max_replicas=mostly(5, bad=[9]),
    replica_increment_step=COUNTS,
    replica_discrete_values=st.just([]) | st.lists(st.integers(1, 6), max_size=2),
    scaling_timeout_in_seconds=COUNTS,
)
RUN_POLICIES = st.builds(
    RunPolicy,
    job_max_retry_count=mostly(0, 5, bad=[-1]),
    log_rules=st.just([]) | st.lists(LOG_RULES, max_size=1),
)
JOBS = st.builds(
    job,
    name=mostly("a", "a" * 63, bad=["Upper", "", "a" * 64]),
    queue=st.none() | st.builds(Queue, team_name=NAMES, priority_class=st.none() | NAMES),
    instance_type=st.sampled_from(["ml.p5.48xlarge", "ml.m5.xlarge", "ml.zz9.xlarge"]),
    replica_specs=st.lists(REPLICAS, min_size=1, max_size=2) | st.just([]),
    run_policy=RUN_POLICIES,
    elastic_policy=st.none() | ELASTIC,
    nproc_per_node=mostly(None, 1, bad=[0]),
)


@settings(max_examples=500, deadline=None)
@given(JOBS)
def test_what_the_schema_refuses_the_rules_refuse(one: HyperPodPyTorchJob) -> None:
    refused = [error.json_path for error in VALIDATOR.iter_errors(to_manifest(one))]
    event(f"rules: {bool(errors(check_job(one)))}, schema: {bool(refused)}")
    assert not refused or errors(check_job(one)), refused
