"""Training jobs for a HyperPod cluster on Amazon EKS: plain dataclasses and their manifest."""

from hyperpod_cdk.jobs.job import HyperPodPyTorchJob, Queue, Replicas, VolumeMount
from hyperpod_cdk.jobs.manifest import to_manifest
from hyperpod_cdk.jobs.recovery import (
    CleanPodPolicy,
    Comparison,
    ElasticPolicy,
    LogRule,
    RestartPolicy,
    RunPolicy,
    fails_on,
    hangs_after,
    loss_spike,
    low_throughput,
    starts_within,
)

__all__ = [
    "CleanPodPolicy",
    "Comparison",
    "ElasticPolicy",
    "HyperPodPyTorchJob",
    "LogRule",
    "Queue",
    "Replicas",
    "RestartPolicy",
    "RunPolicy",
    "VolumeMount",
    "fails_on",
    "hangs_after",
    "loss_spike",
    "low_throughput",
    "starts_within",
    "to_manifest",
]
