"""HyperPodPyTorchJob: distributed PyTorch under the HyperPod training operator, as plain data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from hyperpod_cdk.jobs.recovery import ElasticPolicy, RunPolicy


@dataclass(frozen=True, kw_only=True)
class VolumeMount:
    """A volume claim that is there already, and where its files appear."""

    claim_name: str
    """PersistentVolumeClaim in the job's namespace."""
    mount_path: str
    """Absolute path in the container, such as ``/fsx``."""
    read_only: bool = False


@dataclass(frozen=True, kw_only=True)
class Queue:
    """Kueue, as HyperPod task governance sets it up: one namespace and one queue a team."""

    team_name: str
    """Team of a compute quota; gives namespace ``hyperpod-ns-<team>`` and its local queue."""
    priority_class: str | None = None
    """Name of a class of the cluster's policy, such as ``training``. Default: none."""


@dataclass(frozen=True, kw_only=True)
class Replicas:
    """Pods of one kind, one a node: they take all accelerators of theirs."""

    name: str
    """Lower-case letters, digits, hyphens; one spec a name."""
    replicas: int
    """Pods at the start, 0 or more."""
    max_replicas: int | None = None
    """Most pods of this kind in an elastic job. Default: ``replicas``."""
    spares: int | None = None
    """Pods that stand by, ready to take over; needs a queue. Default: none."""
    priority_class_name: str | None = None
    """Kubernetes priority; lets a part of an elastic job be preempted alone. Default: none."""


@dataclass(frozen=True, kw_only=True)
class HyperPodPyTorchJob:
    """A training job that recovers from faults by itself.

    The counts of accelerators, EFA interfaces and processes follow the instance type; a number given here
    wins. ``rules.check_job`` finds what is wrong, ``to_manifest`` makes what ``kubectl apply`` takes.
    """

    name: str
    """1-63 lower-case letters, digits and inner hyphens (a Kubernetes label)."""
    image: str
    """Image with the package ``hyperpod-elastic-agent`` in it."""
    instance_type: str
    """``ml.…``: the nodes that the pods may run on."""
    command: Sequence[str]
    """What the container runs; ``hyperpodrun``, which takes torchrun's arguments, starts the processes."""
    replica_specs: Sequence[Replicas]
    run_policy: RunPolicy
    namespace: str | None = None
    """Default: the queue's, else kubectl's."""
    queue: Queue | None = None
    """Default: Kubernetes places the pods as soon as there is room."""
    elastic_policy: ElasticPolicy | None = None
    """Default: the number of pods stays."""
    nproc_per_node: int | None = None
    """Processes in a pod. Default: one an accelerator."""
    accelerators: int | None = None
    """GPUs or Neuron devices of a pod. Default: all of the instance type."""
    efa_interfaces: int | None = None
    """Default: all of the instance type."""
    huge_pages_2mi: int | None = None
    """MiB of 2 MiB huge pages, which EFA takes. Default: 5120 with EFA (developer guide), else none."""
    memory_mib: int | None = None
    """MiB asked of the node. Default: 32000 with huge pages, which Kubernetes grants only beside memory or
    CPU (the number is the developer guide's), else none asked."""
    environment: Mapping[str, str] = field(default_factory=dict)
    volumes: Sequence[VolumeMount] = ()
    shared_memory_gib: int | None = None
    """Size of /dev/shm, out of the pod's memory; data loaders need it. Default: the runtime's 64 MiB."""
    service_account_name: str | None = None
    node_selector: Mapping[str, str] = field(default_factory=dict)
    """Further labels that a node must have."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    image_pull_policy: str = "Always"
    """Always, IfNotPresent or Never."""
