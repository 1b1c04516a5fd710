"""What a pod takes of its node, by the instance type."""

from hyperpod_cdk.jobs.job import HyperPodPyTorchJob
from hyperpod_cdk.service.instance_types import find

EFA = "vpc.amazonaws.com/efa"
HUGE_PAGES = "hugepages-2Mi"
# of the job in the developer guide, sagemaker-eks-operator-usage
HUGE_PAGES_WITH_EFA_MIB = 5120
MEMORY_WITH_HUGE_PAGES_MIB = 32000


def accelerators(job: HyperPodPyTorchJob) -> int:
    """Accelerators of a pod; 0 where the type has none, or is not known and the job says nothing."""
    if job.accelerators is not None:
        return job.accelerators
    known = find(job.instance_type)
    return (known.accelerators or 0) if known else 0


def efa_interfaces(job: HyperPodPyTorchJob) -> int:
    """EFA interfaces of a pod."""
    if job.efa_interfaces is not None:
        return job.efa_interfaces
    known = find(job.instance_type)
    return (known.efa_interfaces or 0) if known else 0


def huge_pages_mib(job: HyperPodPyTorchJob) -> int:
    """MiB of huge pages of a pod."""
    if job.huge_pages_2mi is not None:
        return job.huge_pages_2mi
    return HUGE_PAGES_WITH_EFA_MIB if efa_interfaces(job) else 0


def memory_mib(job: HyperPodPyTorchJob) -> int:
    """MiB of memory that a pod asks for."""
    if job.memory_mib is not None:
        return job.memory_mib
    return MEMORY_WITH_HUGE_PAGES_MIB if huge_pages_mib(job) else 0


def processes(job: HyperPodPyTorchJob) -> int:
    """Processes of a pod: as asked, else one an accelerator, else one."""
    if job.nproc_per_node is not None:
        return job.nproc_per_node
    return accelerators(job) or 1


def requests(job: HyperPodPyTorchJob) -> dict[str, str]:
    """What a pod asks of its node, in Kubernetes' words."""
    asked = {
        _device(job.instance_type): accelerators(job),
        EFA: efa_interfaces(job),
        HUGE_PAGES: huge_pages_mib(job),
        "memory": memory_mib(job),
    }
    in_mebibytes = (HUGE_PAGES, "memory")
    return {
        name: f"{count}Mi" if name in in_mebibytes else str(count) for name, count in asked.items() if count
    }


def _device(instance_type: str) -> str:
    """How Kubernetes calls the accelerator; a type that is not known has NVIDIA's, as most have."""
    known = find(instance_type)
    neuron = known is not None and (known.accelerator or "").startswith("AWS ")
    return "aws.amazon.com/neuron" if neuron else "nvidia.com/gpu"
