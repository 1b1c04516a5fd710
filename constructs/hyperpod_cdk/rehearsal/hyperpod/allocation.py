"""What DescribeComputeQuota shows beside what was asked for: defaults, and parts that follow from others.

docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-console-ui-governance-policies-compute-allocation.html
(the ratios, and that Describe shows them), …/APIReference/API_ResourceSharingConfig.html (the defaults).
"""

from hyperpod_cdk.rehearsal.hyperpod.state import Spec
from hyperpod_cdk.service.instance_types import InstanceType, find


def shown(content: Spec) -> Spec:
    """Give a quota's content with all that holds.

    Args:
        content: as it was asked for.
    """
    config = content["ComputeQuotaConfig"]
    return {
        **content,
        "ActivationState": content.get("ActivationState", "Enabled"),
        "ComputeQuotaTarget": {"FairShareWeight": 0, **content["ComputeQuotaTarget"]},
        "ComputeQuotaConfig": {
            "PreemptTeamTasks": "LowerPriority",
            **config,
            "ComputeQuotaResources": [_resource(one) for one in config.get("ComputeQuotaResources", [])],
            "ResourceSharingConfig": _sharing(config.get("ResourceSharingConfig", {})),
        },
    }


def _sharing(config: Spec) -> Spec:
    strategy = config.get("Strategy", "LendAndBorrow")
    limit = {"BorrowLimit": 50} if strategy == "LendAndBorrow" else {}
    return {**limit, "Strategy": strategy, **config}


def _resource(given: Spec) -> Spec:
    known = find(given["InstanceType"])
    if known is None or not known.vcpus or not known.memory_gib:
        return given
    share = _share(given, known)
    parts: Spec = {"VCpu": round(share * known.vcpus, 2), "MemoryInGiB": round(share * known.memory_gib, 2)}
    if known.accelerators and "AcceleratorPartition" not in given:
        parts["Accelerators"] = int(given.get("Count", 0) * known.accelerators)
    return {**parts, **given}


def _share(given: Spec, known: InstanceType) -> float:
    """How many instances the first part that is given amounts to."""
    if "Count" in given:
        return float(given["Count"])
    if "Accelerators" in given and known.accelerators:
        return float(given["Accelerators"] / known.accelerators)
    if "VCpu" in given and known.vcpus:
        return float(given["VCpu"] / known.vcpus)
    if "MemoryInGiB" in given and known.memory_gib:
        return float(given["MemoryInGiB"] / known.memory_gib)
    return 0.0
