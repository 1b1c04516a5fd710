"""What a node measures beside node_exporter: GPUs, EFA and Slurm, as Prometheus reads it."""
