"""What a node measures beside node_exporter: GPUs, EFA and Slurm, as Prometheus reads it."""

FOLDER = "/var/lib/hyperpod-cdk/metrics"
"""Where node_exporter finds what is measured."""
