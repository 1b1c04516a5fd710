"""From a job to what ``kubectl apply`` takes."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.jobs.job import HyperPodPyTorchJob, Replicas
from hyperpod_cdk.jobs.recovery import ElasticPolicy, LogRule, RestartPolicy, RunPolicy
from hyperpod_cdk.jobs.resources import processes, requests

# Where the elastic agent listens (developer guide, sagemaker-eks-operator-usage)
AGENT_PORT = 8080
_SHARED_MEMORY = "shared-memory"


def to_manifest(job: HyperPodPyTorchJob) -> dict[str, Any]:
    """The job as the Kubernetes object of the training operator.

    Args:
        job: what to run; ``rules.check_job`` says what would not work.

    Returns:
        Plain data, in the order in which a person reads it.
    """
    return {
        "apiVersion": "sagemaker.amazonaws.com/v1",
        "kind": "HyperPodPyTorchJob",
        "metadata": _filled(
            name=job.name,
            namespace=namespace(job),
            labels={**job.labels, **_queue_labels(job)},
            annotations=dict(job.annotations),
        ),
        "spec": _filled(
            nprocPerNode=str(processes(job)),
            replicaSpecs=[_replicas(job, replicas) for replicas in job.replica_specs],
            runPolicy=_run_policy(job.run_policy),
            elasticPolicy=_elastic_policy(job.elastic_policy) if job.elastic_policy else None,
        ),
    }


def namespace(job: HyperPodPyTorchJob) -> str | None:
    """Where the job lives: as asked, else its team's; None: where kubectl points."""
    return job.namespace or (f"hyperpod-ns-{job.queue.team_name}" if job.queue else None)


def _queue_labels(job: HyperPodPyTorchJob) -> dict[str, str]:
    # the names that task governance gives (developer guide, ...-console-ui-governance-cli)
    if job.queue is None:
        return {}
    priority = job.queue.priority_class
    return _filled(
        **{
            "kueue.x-k8s.io/queue-name": f"hyperpod-ns-{job.queue.team_name}-localqueue",
            "kueue.x-k8s.io/priority-class": f"{priority}-priority" if priority else None,
        }
    )


def _replicas(job: HyperPodPyTorchJob, replicas: Replicas) -> dict[str, Any]:
    return _filled(
        name=replicas.name,
        replicas=replicas.replicas,
        maxReplicas=replicas.max_replicas,
        spares=replicas.spares,
        template={
            **_filled(metadata=_filled(labels=dict(job.labels))),
            "spec": _pod(job, replicas),
        },
    )


def _pod(job: HyperPodPyTorchJob, replicas: Replicas) -> dict[str, Any]:
    return _filled(
        nodeSelector={"node.kubernetes.io/instance-type": job.instance_type, **job.node_selector},
        priorityClassName=replicas.priority_class_name,
        serviceAccountName=job.service_account_name,
        containers=[_container(job)],
        volumes=_volumes(job),
    )


def _container(job: HyperPodPyTorchJob) -> dict[str, Any]:
    asked = requests(job)
    # extended resources and huge pages are asked for and limited alike; memory is only asked for
    limits = {name: value for name, value in asked.items() if name != "memory"}
    mounts = [
        _filled(name=volume.claim_name, mountPath=volume.mount_path, readOnly=volume.read_only or None)
        for volume in job.volumes
    ]
    if job.shared_memory_gib:
        mounts.append({"name": _SHARED_MEMORY, "mountPath": "/dev/shm"})
    return _filled(
        name="pytorch",
        image=job.image,
        imagePullPolicy=job.image_pull_policy,
        command=list(job.command),
        env=[{"name": name, "value": value} for name, value in job.environment.items()],
        ports=[{"containerPort": AGENT_PORT}],
        resources=_filled(requests=asked, limits=limits),
        volumeMounts=mounts,
    )


def _volumes(job: HyperPodPyTorchJob) -> list[dict[str, Any]]:
    # one claim may be mounted at several paths
    claims = dict.fromkeys(volume.claim_name for volume in job.volumes)
    volumes: list[dict[str, Any]] = [
        {"name": claim, "persistentVolumeClaim": {"claimName": claim}} for claim in claims
    ]
    if job.shared_memory_gib:
        memory = {"medium": "Memory", "sizeLimit": f"{job.shared_memory_gib}Gi"}
        volumes.append({"name": _SHARED_MEMORY, "emptyDir": memory})
    return volumes


def _run_policy(policy: RunPolicy) -> dict[str, Any]:
    return _filled(
        jobMaxRetryCount=policy.job_max_retry_count,
        restartPolicy=_restart_policy(policy.restart_policy) if policy.restart_policy else None,
        cleanPodPolicy=str(policy.clean_pod_policy),
        logMonitoringConfiguration=[_log_rule(rule) for rule in policy.log_rules],
    )


def _restart_policy(policy: RestartPolicy) -> dict[str, int]:
    return {
        "numRestartBeforeFullJobRestart": policy.num_restart_before_full_job_restart,
        "evalPeriodSeconds": policy.eval_period_seconds,
        "maxFullJobRestarts": policy.max_full_job_restarts,
    }


def _log_rule(rule: LogRule) -> dict[str, Any]:
    return _filled(
        name=rule.name,
        logPattern=rule.log_pattern,
        expectedStartCutOffInSeconds=rule.expected_start_cut_off_in_seconds,
        expectedRecurringFrequencyInSeconds=rule.expected_recurring_frequency_in_seconds,
        metricThreshold=rule.metric_threshold,
        operator=str(rule.operator) if rule.operator else None,
        metricEvaluationDataPoints=rule.metric_evaluation_data_points,
        stopPattern=rule.stop_pattern,
        faultOnMatch=rule.fault_on_match or None,
    )


def _elastic_policy(policy: ElasticPolicy) -> dict[str, Any]:
    return _filled(
        minReplicas=policy.min_replicas,
        maxReplicas=policy.max_replicas,
        replicaIncrementStep=policy.replica_increment_step,
        replicaDiscreteValues=list(policy.replica_discrete_values),
        gracefulShutdownTimeoutInSeconds=policy.graceful_shutdown_timeout_in_seconds,
        scalingTimeoutInSeconds=policy.scaling_timeout_in_seconds,
        faultyScaleDownTimeoutInSeconds=policy.faulty_scale_down_timeout_in_seconds,
    )


def _filled(**members: Any) -> dict[str, Any]:
    """The members that say something: neither None nor an empty list or mapping."""
    return {
        name: value
        for name, value in members.items()
        if value is not None and not (isinstance(value, Mapping | list) and not value)
    }
