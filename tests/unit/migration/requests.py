"""CreateCluster requests at random, from the API's model; and what tells two of them apart."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from botocore.model import ListShape, MapShape, Shape, StructureShape
from hypothesis import strategies as st

from hyperpod_cdk.cluster.request import (
    ClusterResources,
    GroupResources,
    VpcPlacement,
    create_cluster_request,
)
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.spec import Cluster, HyperPodSpec, Mount
from tests.api_shapes import input_shape

Request = dict[str, Any]

# kinds of text that the model says too little of to be drawn from it
_TEXTS = {
    "InstanceGroupName": ("a", "b", "c"),
    "OnCreate": ("on_create.sh",),
    "OnInitComplete": ("extend.sh",),
    "Key": ("team", "cost", "SageMaker"),
    "Value": ("one", "true"),
    "DnsName": ("fs-0a1b2c3d4e5f60001.fsx.eu-north-1.amazonaws.com", "fs-0a1b2c3d4e5f60002.fsx.eu-north-1.x"),
}


_SCALARS: Mapping[str, st.SearchStrategy[Any]] = {
    "integer": st.integers(0, 9),
    "long": st.integers(0, 9),
    "boolean": st.booleans(),
    "timestamp": st.just("2026-11-30T12:00:00Z"),
}

_UNORDERED = ("InstanceStorageConfigs", "AutoRollbackConfiguration", "Tags", "Taints")


def _values(name: str, shape: Shape) -> st.SearchStrategy[Any]:
    if isinstance(shape, StructureShape):
        return _structure(shape)
    if isinstance(shape, ListShape):
        return st.lists(_values(name, shape.member), max_size=3)
    if isinstance(shape, MapShape):
        return st.dictionaries(st.sampled_from(("k", "l.m/n")), _values(name, shape.value), max_size=2)
    if shape.type_name in _SCALARS:
        return _SCALARS[shape.type_name]
    return st.sampled_from(tuple(shape.enum) or _TEXTS.get(name) or ("one", "two", "3", "yes", "a: b # c"))


def _structure(shape: StructureShape) -> st.SearchStrategy[Any]:
    members = {name: _values(name, member) for name, member in shape.members.items()}
    if shape.is_tagged_union:
        return st.one_of([st.fixed_dictionaries({name: value}) for name, value in members.items()])
    return st.fixed_dictionaries({}, optional=members)


EKS_CLUSTER = "arn:aws:eks:eu-north-1:111122223333:cluster/platform"


def requests(*, eks: bool = False) -> st.SearchStrategy[Request]:
    """Requests with any of the members that the API has, valid or not.

    Args:
        eks: for a cluster on Amazon EKS. Default: on Slurm.
    """
    shape = input_shape("CreateCluster")
    rest = _structure(shape).map(lambda request: _orchestrated(request, eks=eks))
    some = {"InstanceGroups": _groups(shape, "InstanceGroups", "g", least=1)}
    if eks:
        some["RestrictedInstanceGroups"] = _groups(shape, "RestrictedInstanceGroups", "r", least=0)
    return st.builds(lambda whole, groups: {**whole, **groups}, rest, st.fixed_dictionaries(some))


def _groups(shape: Shape, member: str, prefix: str, *, least: int) -> st.SearchStrategy[list[Request]]:
    """Groups that can be read: with a name, a count, and a type where they name no several."""
    assert isinstance(shape, StructureShape)
    group = shape.members[member]
    assert isinstance(group, ListShape)
    assert isinstance(group.member, StructureShape)
    typed = _structure(group.member).map(_typed)
    return st.lists(typed, min_size=least, max_size=3).map(
        lambda all_of: [{**one, "InstanceGroupName": f"{prefix}{index}"} for index, one in enumerate(all_of)]
    )


def _typed(group: Request) -> Request:
    several = group.get("InstanceRequirements", {}).get("InstanceTypes")
    return {**({} if several else {"InstanceType": "ml.m5.large"}), "InstanceCount": 1, **group}


def _orchestrated(request: Request, *, eks: bool) -> Request:
    rest = {key: value for key, value in request.items() if key != "Orchestrator"}
    if eks:
        return {**rest, "Orchestrator": {"Eks": {"ClusterArn": EKS_CLUSTER}}}
    return rest if "Eks" in request.get("Orchestrator", {}) else request


def request_of(spec: HyperPodSpec) -> Request:
    """The request of a spec whose network, roles and scripts are all there already."""
    network = spec.network.existing
    vpc = VpcPlacement(
        subnet_ids=[one.subnet_id for one in network.subnets] if network else [],
        security_group_ids=network.security_group_ids if network else [],
    )
    groups = {}
    for group in spec.cluster.instance_groups:
        place = group.override_vpc_config
        groups[group.instance_group_name] = GroupResources(
            execution_role_arn=group.execution_role_arn or "",
            lifecycle_mode=group.lifecycle_mode or spec.lifecycle.mode,
            life_cycle_config=group.life_cycle_config,
            override_vpc_config=VpcPlacement(
                subnet_ids=place.subnet_ids, security_group_ids=place.security_group_ids
            )
            if place
            else None,
        )
    cluster = resolved(spec)
    eks, scaling = cluster.orchestrator.eks, cluster.auto_scaling
    resources = ClusterResources(
        cluster_name=spec.cluster.cluster_name,
        vpc=vpc,
        eks_cluster_arn=eks.cluster_arn if eks else None,
        cluster_role_arn=scaling.cluster_role_arn if scaling else None,
        groups=groups,
    )
    return create_cluster_request(cluster, resources)


def resolved(spec: HyperPodSpec) -> Cluster:
    """The cluster with its mounts filled in."""

    def filled(mount: Mount) -> Mount:
        file_system = spec.storage[mount.storage or ""]
        assert file_system.existing
        return replace(
            mount,
            file_system_type=file_system.file_system_type,
            dns_name=file_system.existing.dns_name,
            mount_name=file_system.existing.mount_name,
        )

    groups = [
        replace(group, mounts=[filled(mount) for mount in group.mounts])
        for group in spec.cluster.instance_groups
    ]
    return replace(spec.cluster, instance_groups=groups)


def differences(first: Request, second: Request) -> list[str]:
    """Paths of values that only one of two requests has, or that differ.

    What is empty says nothing, but for a kind of capacity, and so does a RootVolume of false. Storage,
    alarms, tags and taints have no order: those of the second request are put beside their like of the first.
    """
    one, two = dict(_leaves(first, "")), dict(_leaves(_aligned(first, second), ""))
    return [path for path in {**one, **two} if one.get(path) != two.get(path)]


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    inner: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list):
        inner = enumerate(value)
    elif value is not None and not (path.endswith("RootVolume") and value is False):
        yield path, value
    if path.endswith("CapacityRequirements") and isinstance(value, dict):
        yield path, sorted(value)
    for key, item in inner:
        yield from _leaves(item, join(path, key))


def _aligned(first: Any, second: Any, name: str = "") -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return {key: _aligned(first.get(key), item, key) for key, item in second.items()}
    if not isinstance(first, list) or not isinstance(second, list):
        return second
    if name not in _UNORDERED:
        return [
            _aligned(first[index] if index < len(first) else None, item) for index, item in enumerate(second)
        ]
    rest, beside = list(second), []
    for entry in first:
        said = bool(list(_leaves(entry, "")))
        alike = [one for one in rest if said and _kind(one) == _kind(entry)]
        like = next((one for one in alike if one == entry), next(iter(alike), None))
        if like is not None:
            rest.remove(like)
        beside.append(like)
    return [*beside, *rest]


def _kind(entry: Any) -> Any:
    named = entry.get("Key") or entry.get("AlarmName")
    if named:
        return named
    volume = entry.get("EbsVolumeConfig") or {}
    return [*entry, bool(volume.get("RootVolume"))]
