"""A job to vary."""

from dataclasses import replace
from typing import Any

from hyperpod_cdk.jobs import HyperPodPyTorchJob, Replicas, RunPolicy

BASE = HyperPodPyTorchJob(
    name="training",
    image="111122223333.dkr.ecr.us-west-2.amazonaws.com/training:1",
    instance_type="ml.p5.48xlarge",
    command=["hyperpodrun", "/opt/train.py"],
    replica_specs=[Replicas(name="pods", replicas=4)],
    run_policy=RunPolicy(job_max_retry_count=3),
)


def job(**changes: Any) -> HyperPodPyTorchJob:
    """The job with some members changed."""
    return replace(BASE, **changes)


def with_rules(*log_rules: Any, **changes: Any) -> HyperPodPyTorchJob:
    """The job under log rules."""
    return job(run_policy=replace(BASE.run_policy, log_rules=log_rules), **changes)
