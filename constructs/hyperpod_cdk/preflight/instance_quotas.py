"""HP910-HP913, HP918: quotas of instances and their volumes."""

from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, wanted
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.comparison import compared, quota_rule
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.preflight.wanted import Bought
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.rules.look import groups
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import quotas
from hyperpod_cdk.service.quotas import Quota
from hyperpod_cdk.spec import HyperPodSpec

_CLUSTERS = (apis.LIST_CLUSTERS, apis.DESCRIBE_CLUSTER, apis.LIST_STACK_RESOURCES)
_OF_TYPE = {Bought.ON_DEMAND: quotas.cluster_usage, Bought.SPOT: quotas.cluster_spot_usage}
"""Nodes of a training plan have none: capacity that is paid for has quotas of its own."""


def _cluster_calls(look: Look) -> list[Call]:
    return [apis.LIST_CLUSTERS(), look.stack_call()]


def _usage_quotas(spec: HyperPodSpec) -> Iterator[tuple[Bought, str, Quota]]:
    """How and of which type, and the quota for it."""
    for bought, quota in _OF_TYPE.items():
        for name, count in wanted.instances(spec, [bought]).items():
            if count:
                yield bought, name, quota(name)


def _path_of(spec: HyperPodSpec, bought: Bought, name: str) -> str:
    return next(
        path
        for path, group in groups(spec)
        if group.instance_type == name and wanted.bought_by(group) is bought
    )


def _of_type(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    others = look.other_clusters()
    for bought, name, quota in _usage_quotas(look.spec):
        path = _path_of(look.spec, bought, name)
        new = wanted.instances(look.spec, [bought])[name]
        used = wanted.live_instances(others, [bought])[name]
        try:
            yield from compared(look, rule, quota, path=f"{path}.instance_count", new=new, used=used)
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=f"{path}.instance_type", reason=str(reason))


def _of_cluster(look: Look, rule: Rule) -> Iterator[Finding]:
    new = wanted.nodes(look.spec, wanted.NOT_SPOT)
    quota = quotas.INSTANCES_PER_CLUSTER
    yield from compared(look, rule, quota, path="cluster.instance_groups", new=new, used=0)


def _of_account(look: Look, rule: Rule) -> Iterator[Finding]:
    yield from _of_all_clusters(look, rule, quotas.INSTANCES_OF_ALL_CLUSTERS, wanted.NOT_SPOT)


def _spot_of_account(look: Look, rule: Rule) -> Iterator[Finding]:
    yield from _of_all_clusters(look, rule, quotas.SPOT_INSTANCES_OF_ALL_CLUSTERS, frozenset({Bought.SPOT}))


def _of_all_clusters(look: Look, rule: Rule, quota: Quota, bought: frozenset[Bought]) -> Iterator[Finding]:
    new = wanted.instances(look.spec, bought).total()
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
        needed=lambda spec: bool(wanted.instances(spec, [Bought.SPOT]).total()),
        find=_spot_of_account,
    ),
)
