"""What is installed beside Slurm: containers, directories, logs, metrics."""

from hyperpod_node.step import Step

STEPS: tuple[Step, ...] = ()
