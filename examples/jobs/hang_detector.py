"""A job whose silence, loss and throughput are watched.

NCCL hangs without a word, a bad GPU makes all others wait, and a loss that runs away wastes the rest of the
week: none of them ends a process. The elastic agent reads what training prints to stdout and restarts the job
when a rule finds it hanging, slow or faulty. It reads a line from its first character on, so every pattern
begins with ``.*``.
"""

from hyperpod_cdk.jobs import (
    HyperPodPyTorchJob,
    Replicas,
    RestartPolicy,
    RunPolicy,
    fails_on,
    hangs_after,
    loss_spike,
    low_throughput,
    starts_within,
)
from hyperpod_cdk.jobs.text import to_yaml

# such as: 2026-11-30 12:00:00 INFO step 17 loss: 2.31 samples/s: 412.5
_STEP = r".*step \d+ loss: "

JOB = HyperPodPyTorchJob(
    name="watched",
    image="111122223333.dkr.ecr.us-west-2.amazonaws.com/fsdp:pytorch2.7",
    instance_type="ml.g5.8xlarge",
    command=["hyperpodrun", "--nnodes=4", "--nproc-per-node=1", "/opt/train.py"],
    replica_specs=[Replicas(name="pods", replicas=4)],
    run_policy=RunPolicy(
        job_max_retry_count=10,
        restart_policy=RestartPolicy(
            num_restart_before_full_job_restart=3, eval_period_seconds=3600, max_full_job_restarts=3
        ),
        log_rules=[
            # compilation and loading take 10 minutes at most
            starts_within(600, log_pattern=f"{_STEP}.*"),
            # a step takes 20 seconds, a checkpoint 2 minutes
            hangs_after(300, log_pattern=f"{_STEP}.*"),
            loss_spike(above=20, log_pattern=rf"{_STEP}(\d+(\.\d+)?).*", steps=10),
            low_throughput(below=300, log_pattern=r".*samples/s: (\d+(\.\d+)?).*", steps=25),
            # not a number is above no threshold, so it has a rule of its own
            fails_on(f"{_STEP}nan.*", name="LossIsNan"),
        ],
    ),
)

if __name__ == "__main__":
    print(to_yaml(JOB), end="")
