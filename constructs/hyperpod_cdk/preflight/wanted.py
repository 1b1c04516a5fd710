"""How many of something a spec takes, and how many clusters have."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.addresses import addresses_per_node
from hyperpod_cdk.spec import HyperPodSpec, NatGateways


def instances(spec: HyperPodSpec, *, reserved: bool = True) -> Counter[str]:
    """Nodes by instance type.

    Args:
        reserved: those of training plans too.
    """
    found: Counter[str] = Counter()
    for group in spec.cluster.instance_groups:
        if not unresolved(group.instance_count) and (reserved or not group.training_plan_arn):
            found[group.instance_type] += group.instance_count
    return found


def live_instances(clusters: Iterable[Mapping[str, Any]], *, reserved: bool = True) -> Counter[str]:
    """Nodes by instance type of clusters as DescribeCluster shows them: those there, or on their way.

    Args:
        reserved: those of training plans too.
    """
    found: Counter[str] = Counter()
    for cluster in clusters:
        for group in (*cluster.get("InstanceGroups", ()), *cluster.get("RestrictedInstanceGroups", ())):
            if group.get("TrainingPlanArn") and not reserved:
                continue
            details = group.get("InstanceTypeDetails")
            if details:
                for one in details:
                    found[one["InstanceType"]] += one.get("CurrentCount", 0)
            elif "InstanceType" in group:
                found[group["InstanceType"]] += max(group.get("CurrentCount", 0), group.get("TargetCount", 0))
    return found


def interfaces(counts: Mapping[str, int]) -> int:
    """Network interfaces of so many nodes: one a network card."""
    return sum(addresses_per_node(instance_type) * count for instance_type, count in counts.items())


def nat_gateways(spec: HyperPodSpec) -> int:
    """NAT gateways of a new network, each with an address."""
    if spec.network.existing is not None:
        return 0
    zones = len(spec.network.availability_zone_ids)
    return {NatGateways.ONE: 1, NatGateways.PER_ZONE: zones, NatGateways.NONE: 0}[spec.network.nat_gateways]
