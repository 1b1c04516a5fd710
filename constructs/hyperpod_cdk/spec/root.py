"""The whole of what a user asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.spec.cluster import Cluster
from hyperpod_cdk.spec.deployment import Deployment
from hyperpod_cdk.spec.lifecycle import Lifecycle
from hyperpod_cdk.spec.network import Network
from hyperpod_cdk.spec.storage import FileSystem


@dataclass(frozen=True, kw_only=True)
class HyperPodSpec:
    """A cluster and everything round it: the content of one YAML file."""

    cluster: Cluster
    network: Network = field(default_factory=Network)
    storage: Mapping[str, FileSystem] = field(default_factory=dict)
    """File systems by a name of your own, which groups mount by."""
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    deployment: Deployment = field(default_factory=Deployment)
    stack_name: str | None = None
    """Default: the YAML file's name."""
    region: str | None = None
    """Default: the Region of the environment."""
    kms_key_arn: str | None = None
    """One customer-managed key for bucket, file systems, log groups, and Kubernetes' secrets and metrics.
    Disks of nodes have theirs in `root_volume` and `secondary_volume`. Default: AWS-managed keys."""
    permissions_boundary_arn: str | None = None
    """Policy that bounds every role made here, as some organizations demand. Default: none."""
    log_retention_days: int = 90
    """Days for the log groups made here; a value CloudWatch Logs allows."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """On every resource of the stack that takes tags, the cluster included."""
    termination_protection: bool = False
    acknowledge: Sequence[str] = ()
    """Codes of warnings that you have read and need not see again, such as HP223. Errors can not be."""
