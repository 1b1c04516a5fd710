"""A job with a pod that stands by: a failed node costs seconds instead of the minutes of a replacement.

The spare holds a node of its own, ready with the image pulled; when a pod fails for good, the spare takes its
rank and HyperPod replaces the node meanwhile. Spares go by way of Kueue, which HyperPod task governance
brings: the team's quota must have room for 17 nodes.
"""

from hyperpod_cdk.jobs import HyperPodPyTorchJob, Queue, Replicas, RestartPolicy, RunPolicy, hangs_after
from hyperpod_cdk.jobs.text import to_yaml

JOB = HyperPodPyTorchJob(
    name="pretraining",
    image="111122223333.dkr.ecr.us-west-2.amazonaws.com/fsdp:pytorch2.7",
    instance_type="ml.p5.48xlarge",
    command=["hyperpodrun", "--nnodes=16", "--nproc-per-node=8", "/fsx/train.py"],
    queue=Queue(team_name="pretraining", priority_class="training"),
    replica_specs=[Replicas(name="pods", replicas=16, spares=1)],
    run_policy=RunPolicy(
        job_max_retry_count=20,
        restart_policy=RestartPolicy(
            num_restart_before_full_job_restart=3, eval_period_seconds=21600, max_full_job_restarts=2
        ),
        log_rules=[hangs_after(600, log_pattern=".*loss: .*")],
    ),
)

if __name__ == "__main__":
    print(to_yaml(JOB), end="")
