"""Where a node of Amazon EKS keeps images and pods' files."""

from dataclasses import dataclass
from enum import StrEnum


class NodeDiskPath(StrEnum):
    """Where the disk is mounted."""

    SECONDARY_VOLUME = "/opt/sagemaker"
    INSTANCE_STORE = "/opt/dlami/nvme"
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class NodeDisk:
    """A disk for what containerd and the kubelet keep, since the root volume is small (100 GB unless set)."""

    mount_path: NodeDiskPath = NodeDiskPath.SECONDARY_VOLUME
    """``/opt/sagemaker`` is the group's ``secondary_volume``, ``/opt/dlami/nvme`` instance store; ``none``:
    the root volume alone."""
    required: bool = False
    """Whether a node without the disk fails its set-up. Default: it stays on its root volume."""
    wait_seconds: int = 60
    """How long a node waits for the disk, 0-9999."""
