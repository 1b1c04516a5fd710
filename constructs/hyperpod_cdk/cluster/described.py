"""A cluster that stands in somebody's stack, described as rules want it."""

from dataclasses import replace

from hyperpod_cdk.network import IHyperPodNetwork
from hyperpod_cdk.spec import (
    Cluster,
    Deployment,
    ExistingNetwork,
    ExistingSubnet,
    HyperPodSpec,
    InstanceGroup,
    Lifecycle,
    Network,
    OverrideVpcConfig,
)


def as_spec(
    cluster: Cluster, network: IHyperPodNetwork, lifecycle: Lifecycle, deployment: Deployment
) -> HyperPodSpec:
    """The whole spec that rules ask for.

    Args:
        cluster: the spec.
        network: described by what it has become.
        lifecycle: of its nodes.
        deployment: what makes it.
    """
    zones = {
        subnet.subnet_id: zone for zone, subnets in network.subnets_by_zone.items() for subnet in subnets
    }
    existing = ExistingNetwork(
        subnets=[
            ExistingSubnet(subnet_id=subnet.subnet_id, availability_zone_id=zones.get(subnet.subnet_id))
            for subnet in network.subnets
        ],
        security_group_ids=[group.security_group_id for group in network.security_groups],
    )
    default = {zones.get(subnet.subnet_id) for subnet in network.default_subnets}
    zone = default.pop() if len(default) == 1 and len(network.subnets_by_zone) > 1 else None
    groups = [_placed(group, zone) if zone else group for group in cluster.instance_groups]
    eks = cluster.orchestrator.eks
    if eks is not None:
        # volumes are of file systems that are not seen from here, and drivers are installed for volumes
        cluster = replace(
            cluster,
            orchestrator=replace(cluster.orchestrator, eks=replace(eks, volumes={}, add_ons={})),
        )
    return HyperPodSpec(
        cluster=replace(cluster, instance_groups=groups),
        network=Network(existing=existing),
        lifecycle=lifecycle,
        deployment=deployment,
    )


def _placed(group: InstanceGroup, zone: str) -> InstanceGroup:
    """The group with the zone said that it lies in because it says none."""
    place = group.override_vpc_config or OverrideVpcConfig()
    if place.availability_zone_id or place.subnet_ids:
        return group
    return replace(group, override_vpc_config=replace(place, availability_zone_id=zone))
