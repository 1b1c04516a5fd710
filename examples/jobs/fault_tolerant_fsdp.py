"""FSDP on 16 nodes that goes on by itself when a node or a process fails.

A process that exits is restarted on its node within seconds; after three such restarts in six hours the whole
job starts anew from its last checkpoint, on other nodes if HyperPod replaces one. Print it with
``python examples/jobs/fault_tolerant_fsdp.py | kubectl apply -f -``.
"""

from hyperpod_cdk.jobs import (
    HyperPodPyTorchJob,
    Replicas,
    RestartPolicy,
    RunPolicy,
    VolumeMount,
    starts_within,
)
from hyperpod_cdk.jobs.text import to_yaml

JOB = HyperPodPyTorchJob(
    name="llama-fsdp",
    image="111122223333.dkr.ecr.us-west-2.amazonaws.com/fsdp:pytorch2.7",
    instance_type="ml.p5.48xlarge",
    # accelerators, EFA interfaces and huge pages follow the instance type: 8, 32 and 5120 MiB
    command=[
        "hyperpodrun",
        "--nproc-per-node=8",
        "--nnodes=16",
        "/fsx/train.py",
        # training writes the checkpoints and begins with the last one: the operator only restarts
        "--checkpoint-dir=/fsx/checkpoints",
        "--resume-from-checkpoint=/fsx/checkpoints",
    ],
    environment={"FI_PROVIDER": "efa", "NCCL_DEBUG": "INFO"},
    replica_specs=[Replicas(name="pods", replicas=16)],
    volumes=[VolumeMount(claim_name="fsx", mount_path="/fsx")],
    shared_memory_gib=128,
    run_policy=RunPolicy(
        job_max_retry_count=50,
        restart_policy=RestartPolicy(
            num_restart_before_full_job_restart=3, eval_period_seconds=21600, max_full_job_restarts=2
        ),
        log_rules=[starts_within(900, log_pattern=".*step 1 .*")],
    ),
)

if __name__ == "__main__":
    print(to_yaml(JOB), end="")
