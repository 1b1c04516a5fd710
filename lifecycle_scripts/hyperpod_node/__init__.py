"""Sets up one node of a HyperPod Slurm cluster: standard library only, Python 3.10, started by on_*.sh."""
