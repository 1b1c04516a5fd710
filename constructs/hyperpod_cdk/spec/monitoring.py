"""Metrics of the nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Monitoring:
    """Metrics of every node, written to a workspace of Amazon Managed Service for Prometheus.

    An agent on each node collects them and signs what it writes with the node's role.
    """

    workspace_arn: str
    """``arn:aws:aps:<region>:<account>:workspace/ws-…``, in the cluster's account."""
    interval_seconds: int = 30
    """Between two samples, 10-300."""
    node: bool = True
    """CPU, memory, disks, network."""
    gpu: bool = True
    """On compute nodes that have GPUs."""
    efa: bool = True
    """On nodes that have EFA."""
    slurm: bool = True
    """Nodes, jobs and the scheduler, on the controller."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """On every sample, beside ``cluster``, ``instance_group``, ``instance_id`` and ``node_type``."""
