"""Which existing things a spec names, and where."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from hyperpod_cdk.rules.look import file_systems, groups, new_lustre
from hyperpod_cdk.rules.paths import join
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup, Volume

Named = tuple[str, str]
"""Path in the spec, and the id or ARN that stands there."""


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Where the nodes of a group find their addresses.

    ``subnet_ids`` and ``security_group_ids`` are empty where they are made with the stack; ``path`` is the
    group's.
    """

    path: str
    group: InstanceGroup
    subnet_ids: tuple[str, ...]
    security_group_ids: tuple[str, ...]


def placements(spec: HyperPodSpec) -> list[Placement]:
    """Of every group, in order."""
    return [
        Placement(
            path=path,
            group=group,
            subnet_ids=tuple(_known(_subnet_ids(spec, group))),
            security_group_ids=tuple(_known(_security_group_ids(spec, group))),
        )
        for path, group in groups(spec)
    ]


def subnets(spec: HyperPodSpec) -> list[Named]:
    """Every existing subnet that nodes or file systems are to lie in, once."""
    existing = spec.network.existing
    found = [
        (f"network.existing.subnets[{index}].subnet_id", subnet.subnet_id)
        for index, subnet in enumerate(existing.subnets if existing else ())
    ]
    for path, group in groups(spec):
        place = group.override_vpc_config
        found += [
            (f"{path}.override_vpc_config.subnet_ids[{index}]", subnet_id)
            for index, subnet_id in enumerate(place.subnet_ids if place else ())
        ]
    return _once(found)


def security_groups(spec: HyperPodSpec) -> list[Named]:
    """Every existing security group of nodes, once."""
    existing = spec.network.existing
    found = [
        (f"network.existing.security_group_ids[{index}]", group_id)
        for index, group_id in enumerate(existing.security_group_ids if existing else ())
    ]
    for path, group in groups(spec):
        place = group.override_vpc_config
        found += [
            (f"{path}.override_vpc_config.security_group_ids[{index}]", group_id)
            for index, group_id in enumerate(place.security_group_ids if place else ())
        ]
    return _once(found)


def roles(spec: HyperPodSpec) -> list[Named]:
    """Every existing execution role, once."""
    return _once(
        (f"{path}.execution_role_arn", group.execution_role_arn)
        for path, group in groups(spec)
        if group.execution_role_arn
    )


def keys(spec: HyperPodSpec) -> list[Named]:
    """Every customer-managed key, once."""
    found = [("kms_key_arn", spec.kms_key_arn)] if spec.kms_key_arn else []
    for path, file_system in file_systems(spec):
        if file_system.kms_key_arn:
            found.append((f"{path}.kms_key_arn", file_system.kms_key_arn))
    for path, group in groups(spec):
        for name, volume in (("root", group.root_volume), ("secondary", group.secondary_volume)):
            if volume and volume.volume_kms_key_id:
                found.append((f"{path}.{name}_volume.volume_kms_key_id", volume.volume_kms_key_id))
    for index, mount in enumerate(spec.lifecycle.bucket_mounts):
        if mount.kms_key_arn:
            found.append((f"lifecycle.bucket_mounts[{index}].kms_key_arn", mount.kms_key_arn))
    for path, claim in volumes(spec):
        if claim.bucket and claim.bucket.kms_key_arn:
            found.append((f"{path}.bucket.kms_key_arn", claim.bucket.kms_key_arn))
    return _once(found)


def secrets(spec: HyperPodSpec) -> list[Named]:
    """Every secret that nodes read, once."""
    slurm, path = spec.cluster.orchestrator.slurm, "cluster.orchestrator.slurm"
    found = []
    if slurm.accounting_database:
        found.append((f"{path}.accounting_database.secret_arn", slurm.accounting_database.secret_arn))
    if slurm.multi_head:
        secret_arn = slurm.multi_head.slurm_database_secret_arn
        found.append((f"{path}.multi_head.slurm_database_secret_arn", secret_arn))
    directory = spec.lifecycle.directory
    if directory and directory.bind_password_secret_arn:
        found.append(("lifecycle.directory.bind_password_secret_arn", directory.bind_password_secret_arn))
    return _once(found)


def buckets(spec: HyperPodSpec) -> list[Named]:
    """Every bucket that a new file system is linked to or that nodes mount, once."""
    found = [
        (
            f"{path}.data_repository_associations[{index}].data_repository_path",
            urlsplit(association.data_repository_path).netloc,
        )
        for path, lustre in new_lustre(spec)
        for index, association in enumerate(lustre.data_repository_associations)
    ]
    found += [
        (f"lifecycle.bucket_mounts[{index}].bucket", mount.bucket)
        for index, mount in enumerate(spec.lifecycle.bucket_mounts)
    ]
    found += [
        (f"{path}.bucket.bucket_name", volume.bucket.bucket_name)
        for path, volume in volumes(spec)
        if volume.bucket
    ]
    return _once([*found, *_buckets_of_models(spec)])


def _buckets_of_models(spec: HyperPodSpec) -> Iterator[Named]:
    eks = spec.cluster.orchestrator.eks
    if eks is None or eks.inference is None:
        return
    path = "cluster.orchestrator.eks.inference"
    if eks.inference.tls_bucket_name:
        yield f"{path}.tls_bucket_name", eks.inference.tls_bucket_name
    for index, name in enumerate(eks.inference.model_buckets):
        yield f"{path}.model_buckets[{index}]", name


def volumes(spec: HyperPodSpec) -> Iterator[tuple[str, Volume]]:
    """Path and content of every volume of pods."""
    eks = spec.cluster.orchestrator.eks
    for name, volume in eks.volumes.items() if eks else ():
        yield join("cluster.orchestrator.eks.volumes", name), volume


def prometheus_workspaces(spec: HyperPodSpec) -> list[Named]:
    """Every existing workspace for metrics, once."""
    monitoring, eks = spec.lifecycle.monitoring, spec.cluster.orchestrator.eks
    found = [("lifecycle.monitoring.workspace_arn", monitoring.workspace_arn)] if monitoring else []
    observability = eks.observability if eks else None
    if observability and observability.prometheus_workspace_arn:
        path = "cluster.orchestrator.eks.observability.prometheus_workspace_arn"
        found.append((path, observability.prometheus_workspace_arn))
    return _once(found)


def grafana_workspaces(spec: HyperPodSpec) -> list[Named]:
    """The existing workspace for dashboards, if there is one."""
    eks = spec.cluster.orchestrator.eks
    grafana = eks.observability.grafana if eks and eks.observability else None
    if grafana is None or not grafana.arn:
        return []
    return _once([("cluster.orchestrator.eks.observability.grafana.arn", grafana.arn)])


def training_plans(spec: HyperPodSpec) -> list[Named]:
    """Every training plan, once."""
    return _once(
        (f"{path}.training_plan_arn", group.training_plan_arn)
        for path, group in groups(spec)
        if group.training_plan_arn
    )


def images(spec: HyperPodSpec) -> list[Named]:
    """Every image of the user's own, once."""
    return _once((f"{path}.image_id", group.image_id) for path, group in groups(spec) if group.image_id)


def _subnet_ids(spec: HyperPodSpec, group: InstanceGroup) -> Sequence[str]:
    place, existing = group.override_vpc_config, spec.network.existing
    if place and place.subnet_ids:
        return place.subnet_ids
    if existing is None:
        return ()
    zone = place.availability_zone_id if place else None
    return [one.subnet_id for one in existing.subnets if zone in (None, one.availability_zone_id)]


def _security_group_ids(spec: HyperPodSpec, group: InstanceGroup) -> Sequence[str]:
    place, existing = group.override_vpc_config, spec.network.existing
    if place and place.security_group_ids:
        return place.security_group_ids
    return existing.security_group_ids if existing else ()


def _once(found: Iterable[Named]) -> list[Named]:
    seen: dict[str, str] = {}
    for path, value in found:
        if not unresolved(value):
            seen.setdefault(value, path)
    return [(path, value) for value, path in seen.items()]


def _known(values: Iterable[str]) -> Iterator[str]:
    return (value for value in values if not unresolved(value))
