"""HP910-HP913, HP918, HP919: quotas of instances, their volumes, and file systems of restricted groups."""

from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, wanted
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.comparison import compared, quota_rule
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.preflight.wanted import Bought
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.rules.look import groups, instance_types
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import quotas
from hyperpod_cdk.service.quotas import Quota
from hyperpod_cdk.spec import HyperPodSpec

_GIB_PER_TIB = 1024
_CLUSTERS = (apis.LIST_CLUSTERS, apis.DESCRIBE_CLUSTER, apis.LIST_STACK_RESOURCES)
_OF_TYPE = {Bought.ON_DEMAND: quotas.cluster_usage, Bought.SPOT: quotas.cluster_spot_usage}
"""Nodes of a training plan have none: capacity that is paid for has quotas of its own."""


def _cluster_calls(look: Look) -> list[Call]:
    return [apis.LIST_CLUSTERS(), look.stack_call()]


def _usage_quotas(spec: HyperPodSpec) -> Iterator[tuple[Bought, str, Quota]]:
    """How and of which type, and the quota for it."""
    for bought, quota in _OF_TYPE.items():
        for name in wanted.types(spec, [bought]):
            yield bought, name, quota(name)


def _paths_of(spec: HyperPodSpec, bought: Bought, name: str) -> Iterator[tuple[str, str]]:
    """Paths of the groups that have a type, and of the type itself in each."""
    for path, group in groups(spec):
        for place, other in instance_types(path, group):
            if other == name and wanted.bought_by(group) is bought:
                yield path, place


def _of_type(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    others = look.other_clusters()
    left: dict[tuple[Bought, str], float] = {}
    for bought, name, quota in _usage_quotas(look.spec):
        path, place = next(_paths_of(look.spec, bought, name))
        new = wanted.instances(look.spec, [bought])[name]
        used = wanted.live_instances(others, [bought])[name]
        try:
            yield from compared(look, rule, quota, path=f"{path}.instance_count", new=new, used=used)
            left[bought, name] = max(look.quota(quota) - used - new, 0)
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=place, reason=str(reason))
    yield from _of_several_types(look, rule, left)


def _of_several_types(look: Look, rule: Rule, left: dict[tuple[Bought, str], float]) -> Iterator[Finding]:
    """Groups of several types take what is left of their quotas, the most wanted type first.

    Args:
        left: of the quotas that are known, after the groups of one type.
    """
    for path, group in wanted.flexible(look.spec, _OF_TYPE):
        bought = wanted.bought_by(group)
        keys = [(bought, name) for name in group.instance_types]
        if any(key not in left for key in keys):
            continue  # of which it is told already that it is not known
        room = sum(left[key] for key in keys)
        if group.instance_count > room:
            yield rule.finding(
                f"{path}.instance_count",
                f"is more than is left of the quotas of {', '.join(group.instance_types)} together",
                given=group.instance_count,
                allowed=f"at most {room:g}",
            )
        still = float(group.instance_count)
        for key in keys:
            taken = min(still, left[key])
            left[key] -= taken
            still -= taken


def _of_cluster(look: Look, rule: Rule) -> Iterator[Finding]:
    new = wanted.nodes(look.spec, wanted.NOT_SPOT)
    quota = quotas.INSTANCES_PER_CLUSTER
    yield from compared(look, rule, quota, path="cluster.instance_groups", new=new, used=0)


def _of_account(look: Look, rule: Rule) -> Iterator[Finding]:
    yield from _of_all_clusters(look, rule, quotas.INSTANCES_OF_ALL_CLUSTERS, wanted.NOT_SPOT)


def _spot_of_account(look: Look, rule: Rule) -> Iterator[Finding]:
    yield from _of_all_clusters(look, rule, quotas.SPOT_INSTANCES_OF_ALL_CLUSTERS, frozenset({Bought.SPOT}))


def _of_all_clusters(look: Look, rule: Rule, quota: Quota, bought: frozenset[Bought]) -> Iterator[Finding]:
    new = wanted.nodes(look.spec, bought)
    used = wanted.live_instances(look.other_clusters(), bought).total()
    yield from compared(look, rule, quota, path="cluster.instance_groups", new=new, used=used)


def _volumes(look: Look, rule: Rule) -> Iterator[Finding]:
    limit = look.quota(quotas.VOLUME_SIZE)
    for path, size in _sizes(look.spec):
        if size > limit:
            yield rule.finding(
                path,
                f"is above the quota {quotas.VOLUME_SIZE.name!r}",
                given=size,
                allowed=f"at most {limit:g}",
            )


def _sizes(spec: HyperPodSpec) -> Iterator[tuple[str, int]]:
    for path, group in groups(spec):
        size = group.secondary_volume.volume_size_in_gb if group.secondary_volume else None
        if size is not None and not unresolved(size):
            yield f"{path}.secondary_volume.volume_size_in_gb", size


def _restricted(look: Look, rule: Rule) -> Iterator[Finding]:
    """In TiB, as the quota is."""
    quota = quotas.RESTRICTED_FILE_SYSTEMS
    new = sum(size for _, size in _restricted_sizes(look.spec)) / _GIB_PER_TIB
    used = sum(map(wanted.restricted_gib, look.other_clusters())) / _GIB_PER_TIB
    limit = look.quota(quota)
    if new + used > limit:
        path, _ = next(_restricted_sizes(look.spec))
        yield rule.finding(
            path,
            f"takes {new:.4g}, and {used:.4g} are there already, of the quota {quota.name!r}",
            given=f"{new + used:.4g}",
            allowed=f"at most {limit:g}",
        )


def _restricted_sizes(spec: HyperPodSpec) -> Iterator[tuple[str, int]]:
    shared = spec.cluster.shared_environment_config
    if shared and not unresolved(shared.fsx_lustre_config.size_in_gib):
        path = "cluster.shared_environment_config.fsx_lustre_config.size_in_gib"
        yield path, shared.fsx_lustre_config.size_in_gib
    for path, group in groups(spec):
        own = group.environment_config.fsx_lustre_config if group.environment_config else None
        if own and not unresolved(own.size_in_gib):
            yield f"{path}.environment_config.fsx_lustre_config.size_in_gib", own.size_in_gib


CHECKS = (
    Check(
        name="quota-instance-type",
        rule=quota_rule(
            "HP910", "more nodes of a type than the account may have", "the service refuses the cluster"
        ),
        apis=(*apis.QUOTAS, *_CLUSTERS),
        asks=lambda look: [
            *_cluster_calls(look),
            *(call for _, _, quota in _usage_quotas(look.spec) for call in look.quota_calls(quota)),
        ],
        needed=lambda spec: any(True for _ in _usage_quotas(spec)),
        find=_of_type,
    ),
    Check(
        name="quota-instances-per-cluster",
        rule=quota_rule("HP911", "more nodes than a cluster may have", "the service refuses the cluster"),
        apis=apis.QUOTAS,
        asks=lambda look: look.quota_calls(quotas.INSTANCES_PER_CLUSTER),
        find=_of_cluster,
    ),
    Check(
        name="quota-instances-of-all-clusters",
        rule=quota_rule(
            "HP912", "more nodes than all clusters together may have", "the service refuses the cluster"
        ),
        apis=(*apis.QUOTAS, *_CLUSTERS),
        asks=lambda look: [*_cluster_calls(look), *look.quota_calls(quotas.INSTANCES_OF_ALL_CLUSTERS)],
        find=_of_account,
    ),
    Check(
        name="quota-volume-size",
        rule=quota_rule(
            "HP913",
            "a volume larger than a node may have",
            "the service refuses the cluster; new accounts have 0",
        ),
        apis=apis.QUOTAS,
        asks=lambda look: look.quota_calls(quotas.VOLUME_SIZE),
        needed=lambda spec: any(True for _ in _sizes(spec)),
        find=_volumes,
    ),
    Check(
        name="quota-spot-instances",
        rule=quota_rule(
            "HP918",
            "more Spot nodes than all clusters together may have",
            "the service refuses the cluster; new accounts have 0",
        ),
        apis=(*apis.QUOTAS, *_CLUSTERS),
        asks=lambda look: [*_cluster_calls(look), *look.quota_calls(quotas.SPOT_INSTANCES_OF_ALL_CLUSTERS)],
        needed=lambda spec: bool(wanted.nodes(spec, [Bought.SPOT])),
        find=_spot_of_account,
    ),
    Check(
        name="quota-restricted-file-systems",
        rule=quota_rule(
            "HP919",
            "larger file systems of restricted groups than the account may have",
            "the service refuses the cluster; new accounts have 0",
        ),
        apis=(*apis.QUOTAS, *_CLUSTERS),
        asks=lambda look: [*_cluster_calls(look), *look.quota_calls(quotas.RESTRICTED_FILE_SYSTEMS)],
        needed=lambda spec: any(True for _ in _restricted_sizes(spec)),
        find=_restricted,
    ),
)
