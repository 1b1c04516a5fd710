"""What rules ask of a spec."""

from collections.abc import Iterator

from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.service.instance_types import Orchestration
from hyperpod_cdk.spec import (
    Cluster,
    EksOrchestrator,
    FileSystem,
    HyperPodSpec,
    InstanceGroup,
    LifecycleMode,
    LustreFileSystem,
    NatGateways,
    NodeProvisioningMode,
    NodeType,
    OpenZfsDeploymentType,
    OpenZfsFileSystem,
)


def groups(spec: HyperPodSpec) -> Iterator[tuple[str, InstanceGroup]]:
    """Path and content of every instance group."""
    for index, group in enumerate(spec.cluster.instance_groups):
        yield f"cluster.instance_groups[{index}]", group


def groups_of(spec: HyperPodSpec, node_type: NodeType) -> list[tuple[str, InstanceGroup]]:
    """The groups of one Slurm node type."""
    return [
        (path, group)
        for path, group in groups(spec)
        if group.slurm_config is not None and group.slurm_config.node_type == node_type
    ]


def is_eks(spec: HyperPodSpec) -> bool:
    """Whether Amazon EKS runs the jobs, and not Slurm."""
    return spec.cluster.orchestrator.eks is not None


def control_planes(spec: HyperPodSpec) -> Iterator[EksOrchestrator]:
    """What is asked of Amazon EKS, if it runs the jobs."""
    if spec.cluster.orchestrator.eks is not None:
        yield spec.cluster.orchestrator.eks


def orchestration(spec: HyperPodSpec) -> Orchestration:
    """What runs the jobs, as the catalogue of instance types names it."""
    return Orchestration.EKS if is_eks(spec) else Orchestration.SLURM


def needs_a_node(cluster: Cluster) -> bool:
    """Whether add-ons whose pods run on the cluster's own nodes are installed with it."""
    eks = cluster.orchestrator.eks
    if eks is None:
        return False
    chosen = (eks.training_operator, eks.task_governance, eks.observability, eks.inference)
    return any(one is not None for one in chosen)


def instance_types(path: str, group: InstanceGroup) -> Iterator[tuple[str, str]]:
    """Path and name of every type that a group's nodes may be of."""
    if group.instance_type is not None:
        yield f"{path}.instance_type", group.instance_type
    elif group.instance_requirements is not None:
        for index, name in enumerate(group.instance_requirements.instance_types):
            yield f"{path}.instance_requirements.instance_types[{index}]", name


def node_type(group: InstanceGroup) -> NodeType | None:
    """What the group's nodes are in Slurm, None if nothing is said."""
    return group.slurm_config.node_type if group.slurm_config else None


def lifecycle_mode(spec: HyperPodSpec, group: InstanceGroup) -> LifecycleMode:
    """The group's own mode, else the spec's."""
    return group.lifecycle_mode or spec.lifecycle.mode


def runs_our_scripts(spec: HyperPodSpec, group: InstanceGroup) -> bool:
    """Whether the group's nodes run the scripts of this library."""
    return group.life_cycle_config is None and lifecycle_mode(spec, group) != LifecycleMode.AMI


def is_continuous(spec: HyperPodSpec) -> bool:
    """Whether nodes come up one by one."""
    return spec.cluster.node_provisioning_mode == NodeProvisioningMode.CONTINUOUS


def is_closed(spec: HyperPodSpec) -> bool:
    """Whether nodes lie in a network that is made here without a way to the internet."""
    return spec.network.existing is None and spec.network.nat_gateways == NatGateways.NONE


def is_legacy(spec: HyperPodSpec) -> bool:
    """Whether any group leaves Slurm to provisioning_parameters.json."""
    return any(lifecycle_mode(spec, group) == LifecycleMode.LEGACY for _, group in groups(spec))


def file_systems(spec: HyperPodSpec) -> Iterator[tuple[str, FileSystem]]:
    """Path and content of every file system, created or existing."""
    for name, file_system in spec.storage.items():
        yield join("storage", name), file_system


def new_lustre(spec: HyperPodSpec) -> Iterator[tuple[str, LustreFileSystem]]:
    """Path and content of the Lustre file systems to create."""
    for path, file_system in file_systems(spec):
        if isinstance(file_system, LustreFileSystem) and file_system.existing is None:
            yield path, file_system


def new_openzfs(spec: HyperPodSpec) -> Iterator[tuple[str, OpenZfsFileSystem]]:
    """Path and content of the OpenZFS file systems to create."""
    for path, file_system in file_systems(spec):
        if isinstance(file_system, OpenZfsFileSystem) and file_system.existing is None:
            yield path, file_system


def zone_ids(spec: HyperPodSpec) -> list[str]:
    """Zone ids of the network, the default first; of an existing one, those that its subnets name."""
    if spec.network.existing is None:
        return list(spec.network.availability_zone_ids)
    named = (subnet.availability_zone_id for subnet in spec.network.existing.subnets)
    return list(dict.fromkeys(zone for zone in named if zone))


def named_zones(spec: HyperPodSpec) -> Iterator[tuple[str, str]]:
    """Path and id of every zone that a group or a file system names for itself."""
    for path, group in groups(spec):
        place = group.override_vpc_config
        if place and place.availability_zone_id:
            yield f"{path}.override_vpc_config.availability_zone_id", place.availability_zone_id
    for path, lustre in new_lustre(spec):
        if lustre.availability_zone_id:
            yield f"{path}.availability_zone_id", lustre.availability_zone_id
    for path, openzfs in new_openzfs(spec):
        for index, zone in enumerate(openzfs.availability_zone_ids):
            yield f"{path}.availability_zone_ids[{index}]", zone


def network_zones(spec: HyperPodSpec) -> Iterator[tuple[str, str]]:
    """Path and id of every zone that the network names."""
    for index, zone in enumerate(spec.network.availability_zone_ids):
        yield f"network.availability_zone_ids[{index}]", zone
    for index, subnet in enumerate(spec.network.existing.subnets if spec.network.existing else ()):
        if subnet.availability_zone_id:
            yield f"network.existing.subnets[{index}].availability_zone_id", subnet.availability_zone_id


def group_zones(spec: HyperPodSpec, group: InstanceGroup) -> tuple[str, ...]:
    """The zones of the subnets of which the service picks one for a group's nodes; none if one is unknown."""
    place, existing = group.override_vpc_config, spec.network.existing
    if place is not None and place.availability_zone_id and not place.subnet_ids:
        return (place.availability_zone_id,)
    own = place.subnet_ids if place is not None else ()
    if existing is None:
        return () if own else tuple(spec.network.availability_zone_ids[:1])
    by_id = {subnet.subnet_id: subnet.availability_zone_id for subnet in existing.subnets}
    zones = [by_id.get(subnet) for subnet in own or by_id]
    return tuple(dict.fromkeys(zone for zone in zones if zone)) if all(zones) else ()


def group_zone(spec: HyperPodSpec, group: InstanceGroup) -> str | None:
    """The zone that a group's nodes lie in; None where it is unknown, or one of several."""
    zones = group_zones(spec, group)
    return zones[0] if len(zones) == 1 else None


def file_system_zones(spec: HyperPodSpec) -> dict[str, tuple[str, ...]]:
    """Zones of the file systems to create, by their names; the network's first where none is named."""
    known = zone_ids(spec)
    zones = {}
    for name, file_system in spec.storage.items():
        if file_system.existing is not None:
            continue
        if isinstance(file_system, LustreFileSystem):
            named = [file_system.availability_zone_id] if file_system.availability_zone_id else []
            count = 1
        else:
            named = list(file_system.availability_zone_ids)
            count = 2 if file_system.deployment_type == OpenZfsDeploymentType.MULTI_AZ_1 else 1
        zones[name] = tuple(named or known[:count])
    return zones
