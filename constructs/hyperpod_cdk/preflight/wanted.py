"""How many of something a spec takes, and how many clusters have."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from hyperpod_cdk.rules.look import groups
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.addresses import addresses_per_node
from hyperpod_cdk.spec import CapacityType, HyperPodSpec, InstanceGroup, NatGateways


class Bought(StrEnum):
    """How a node's capacity is bought; each way has quotas of its own."""

    ON_DEMAND = "on demand"
    SPOT = "spot"
    PLAN = "training plan"


ANY = frozenset(Bought)
NOT_SPOT = ANY - {Bought.SPOT}


def instances(spec: HyperPodSpec, bought: Iterable[Bought] = ANY) -> Counter[str]:
    """Nodes by instance type, of groups that have only one.

    Args:
        bought: in which ways. Default: any.
    """
    found: Counter[str] = Counter()
    for group in spec.cluster.instance_groups:
        known = group.instance_type is not None and not unresolved(group.instance_count)
        if known and bought_by(group) in bought:
            found[str(group.instance_type)] += group.instance_count
    return found


def types(spec: HyperPodSpec, bought: Iterable[Bought] = ANY) -> list[str]:
    """Every instance type that nodes may be of, once, without groups of no nodes.

    Args:
        bought: in which ways. Default: any.
    """
    found = (
        name
        for group in spec.cluster.instance_groups
        if bought_by(group) in bought and (unresolved(group.instance_count) or group.instance_count)
        for name in group.instance_types
    )
    return list(dict.fromkeys(found))


def flexible(spec: HyperPodSpec, bought: Iterable[Bought] = ANY) -> Iterator[tuple[str, InstanceGroup]]:
    """Path and content of the groups of several types whose count is known.

    Args:
        bought: in which ways. Default: any.
    """
    for path, group in groups(spec):
        known = group.instance_type is None and not unresolved(group.instance_count)
        if known and bought_by(group) in bought:
            yield path, group


def nodes(spec: HyperPodSpec, bought: Iterable[Bought] = ANY) -> int:
    """Nodes of whatever type.

    Args:
        bought: in which ways. Default: any.
    """
    return sum(
        group.instance_count
        for group in spec.cluster.instance_groups
        if not unresolved(group.instance_count) and bought_by(group) in bought
    )


def bought_by(group: InstanceGroup) -> Bought:
    """How the nodes of a group are bought."""
    if group.training_plan_arn:
        return Bought.PLAN
    return Bought.SPOT if group.capacity_requirements == CapacityType.SPOT else Bought.ON_DEMAND


def live_groups(cluster: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Groups of a cluster as DescribeCluster shows them, restricted ones too."""
    yield from cluster.get("InstanceGroups", ())
    yield from cluster.get("RestrictedInstanceGroups", ())


def live_instances(clusters: Iterable[Mapping[str, Any]], bought: Iterable[Bought] = ANY) -> Counter[str]:
    """Nodes by instance type of clusters as DescribeCluster shows them: those there, or on their way.

    Args:
        clusters: as DescribeCluster shows them.
        bought: in which ways. Default: any.
    """
    found: Counter[str] = Counter()
    for cluster in clusters:
        for group in live_groups(cluster):
            if _live_bought(group) not in bought:
                continue
            details = group.get("InstanceTypeDetails")
            if details:
                for one in details:
                    found[one["InstanceType"]] += one.get("CurrentCount", 0)
            elif "InstanceType" in group:
                found[group["InstanceType"]] += max(group.get("CurrentCount", 0), group.get("TargetCount", 0))
    return found


def restricted_gib(cluster: Mapping[str, Any]) -> int:
    """GiB of file systems of the restricted groups of a cluster as DescribeCluster shows it."""
    shared = cluster.get("RestrictedInstanceGroupsConfig", {}).get("SharedEnvironmentConfig", {})
    lustre = [shared.get("DesiredFSxLustreConfig") or shared.get("CurrentFSxLustreConfig")]
    lustre += [
        group.get("EnvironmentConfig", {}).get("FSxLustreConfig")
        for group in cluster.get("RestrictedInstanceGroups", ())
    ]
    return sum(one.get("SizeInGiB", 0) for one in lustre if one)


def _live_bought(group: Mapping[str, Any]) -> Bought:
    if group.get("TrainingPlanArn"):
        return Bought.PLAN
    return Bought.SPOT if "Spot" in group.get("CapacityRequirements", {}) else Bought.ON_DEMAND


def most_interfaces(spec: HyperPodSpec) -> int:
    """Network interfaces of all nodes; of several types a group's nodes may all be of the largest."""
    several = (
        group.instance_count * max((interfaces({name: 1}) for name in group.instance_types), default=0)
        for _, group in flexible(spec)
    )
    return interfaces(instances(spec)) + sum(several)


def interfaces(counts: Mapping[str, int]) -> int:
    """Network interfaces of so many nodes: one a network card, on Amazon EKS too, where the first card's
    holds the addresses of all pods."""
    return sum(addresses_per_node(instance_type) * count for instance_type, count in counts.items())


def nat_gateways(spec: HyperPodSpec) -> int:
    """NAT gateways of a new network, each with an address."""
    if spec.network.existing is not None:
        return 0
    zones = len(spec.network.availability_zone_ids)
    return {NatGateways.ONE: 1, NatGateways.PER_ZONE: zones, NatGateways.NONE: 0}[spec.network.nat_gateways]
