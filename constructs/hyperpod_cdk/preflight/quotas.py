"""HP91x: quotas against what the spec takes and what the account uses already."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from hyperpod_cdk.preflight import apis, wanted
from hyperpod_cdk.preflight.calls import Api, Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.rules.look import groups
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import quotas
from hyperpod_cdk.service.quotas import Quota
from hyperpod_cdk.spec import HyperPodSpec, NatGateways

_FIX = "ask for more at Service Quotas, which takes hours to days, or ask for less here"
_CLUSTERS = (apis.LIST_CLUSTERS, apis.DESCRIBE_CLUSTER, apis.LIST_STACK_RESOURCES)
Counted = Callable[[Look], int]


def _rule(code: str, title: str, why: str) -> Rule:
    return Rule(code=code, title=title, why=why, fix=_FIX, source=quotas.SOURCE)


def _compared(look: Look, rule: Rule, quota: Quota, *, path: str, new: int, used: int) -> Iterator[Finding]:
    limit = look.quota(quota)
    if new > 0 and used + new > limit:
        others = f", and {used} are there already" if used else ""
        yield rule.finding(
            path,
            f"takes {new}{others}, of the quota {quota.name!r}",
            given=used + new,
            allowed=f"at most {limit:g}",
        )


# -- instances -----------------------------------------------------------------------------------------


def _cluster_calls(look: Look) -> list[Call]:
    return [apis.LIST_CLUSTERS(), look.stack_call()]


def _usage_quotas(spec: HyperPodSpec) -> list[Quota]:
    return [
        quotas.cluster_usage(name) for name, count in wanted.instances(spec, reserved=False).items() if count
    ]


def _of_type(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    """Nodes of a training plan do not count: capacity that is paid for has quotas of its own."""
    used = wanted.live_instances(look.other_clusters(), reserved=False)
    for quota in _usage_quotas(look.spec):
        name = quota.name.split()[0]
        path = next(path for path, group in groups(look.spec) if group.instance_type == name)
        new = wanted.instances(look.spec, reserved=False)[name]
        try:
            yield from _compared(look, rule, quota, path=f"{path}.instance_count", new=new, used=used[name])
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=f"{path}.instance_type", reason=str(reason))


def _of_cluster(look: Look, rule: Rule) -> Iterator[Finding]:
    new = wanted.instances(look.spec).total()
    quota = quotas.INSTANCES_PER_CLUSTER
    yield from _compared(look, rule, quota, path="cluster.instance_groups", new=new, used=0)


def _of_account(look: Look, rule: Rule) -> Iterator[Finding]:
    new = wanted.instances(look.spec).total()
    used = wanted.live_instances(look.other_clusters()).total()
    quota = quotas.INSTANCES_OF_ALL_CLUSTERS
    yield from _compared(look, rule, quota, path="cluster.instance_groups", new=new, used=used)


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


# -- network -------------------------------------------------------------------------------------------


def _new_network(spec: HyperPodSpec) -> bool:
    return spec.network.existing is None


def _with_internet(spec: HyperPodSpec) -> bool:
    return _new_network(spec) and spec.network.nat_gateways != NatGateways.NONE


def _counted(
    api: Api, path: str, quota: Quota, kind: str, new: Counted
) -> Callable[[Look, Rule], Iterable[Finding]]:
    """A check that a stack's new resources of a kind fit beside all that the account has."""

    def find(look: Look, rule: Rule) -> Iterator[Finding]:
        more = new(look) - len(look.in_stack(kind))
        used = len(look.aws.answer(api()))
        yield from _compared(look, rule, quota, path=path, new=more, used=used)

    return find


def _interfaces(look: Look, rule: Rule) -> Iterator[Finding]:
    """Those of file systems and endpoints are few, and not counted."""
    own = wanted.interfaces(wanted.live_instances(look.own_clusters()))
    new = wanted.interfaces(wanted.instances(look.spec)) + wanted.nat_gateways(look.spec)
    more = new - own - len(look.in_stack("AWS::EC2::NatGateway"))
    used = len(look.aws.answer(apis.DESCRIBE_NETWORK_INTERFACES()))
    quota = quotas.NETWORK_INTERFACES
    yield from _compared(look, rule, quota, path="cluster.instance_groups", new=more, used=used)


def _asks(quota: Quota, *calls: Call) -> Callable[[Look], Sequence[Call]]:
    return lambda look: [*look.quota_calls(quota), *calls, look.stack_call()]


CHECKS = (
    Check(
        name="quota-instance-type",
        rule=_rule(
            "HP910", "more nodes of a type than the account may have", "the service refuses the cluster"
        ),
        apis=(*apis.QUOTAS, *_CLUSTERS),
        asks=lambda look: [
            *_cluster_calls(look),
            *(call for quota in _usage_quotas(look.spec) for call in look.quota_calls(quota)),
        ],
        needed=lambda spec: bool(_usage_quotas(spec)),
        find=_of_type,
    ),
    Check(
        name="quota-instances-per-cluster",
        rule=_rule("HP911", "more nodes than a cluster may have", "the service refuses the cluster"),
        apis=apis.QUOTAS,
        asks=lambda look: look.quota_calls(quotas.INSTANCES_PER_CLUSTER),
        find=_of_cluster,
    ),
    Check(
        name="quota-instances-of-all-clusters",
        rule=_rule(
            "HP912", "more nodes than all clusters together may have", "the service refuses the cluster"
        ),
        apis=(*apis.QUOTAS, *_CLUSTERS),
        asks=lambda look: [*_cluster_calls(look), *look.quota_calls(quotas.INSTANCES_OF_ALL_CLUSTERS)],
        find=_of_account,
    ),
    Check(
        name="quota-volume-size",
        rule=_rule(
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
        name="quota-vpcs",
        rule=_rule("HP914", "one VPC more than the account may have", "the network can not be made"),
        apis=(*apis.QUOTAS, apis.DESCRIBE_VPCS, apis.LIST_STACK_RESOURCES),
        asks=_asks(quotas.VPCS, apis.DESCRIBE_VPCS()),
        needed=_new_network,
        find=_counted(apis.DESCRIBE_VPCS, "network", quotas.VPCS, "AWS::EC2::VPC", lambda _: 1),
    ),
    Check(
        name="quota-internet-gateways",
        rule=_rule(
            "HP915", "one internet gateway more than the account may have", "the network can not be made"
        ),
        apis=(*apis.QUOTAS, apis.DESCRIBE_INTERNET_GATEWAYS, apis.LIST_STACK_RESOURCES),
        asks=_asks(quotas.INTERNET_GATEWAYS, apis.DESCRIBE_INTERNET_GATEWAYS()),
        needed=_with_internet,
        find=_counted(
            apis.DESCRIBE_INTERNET_GATEWAYS,
            "network.nat_gateways",
            quotas.INTERNET_GATEWAYS,
            "AWS::EC2::InternetGateway",
            lambda _: 1,
        ),
    ),
    Check(
        name="quota-network-interfaces",
        rule=_rule(
            "HP916",
            "more network interfaces than the account may have",
            "each network card of a node takes one, and a node without all of them does not come up",
        ),
        apis=(*apis.QUOTAS, apis.DESCRIBE_NETWORK_INTERFACES, *_CLUSTERS),
        asks=_asks(quotas.NETWORK_INTERFACES, apis.DESCRIBE_NETWORK_INTERFACES(), apis.LIST_CLUSTERS()),
        find=_interfaces,
    ),
    Check(
        name="quota-elastic-ips",
        rule=_rule(
            "HP917",
            "more Elastic IP addresses than the account may have",
            "each NAT gateway takes one, and the network can not be made without",
        ),
        apis=(*apis.QUOTAS, apis.DESCRIBE_ADDRESSES, apis.LIST_STACK_RESOURCES),
        asks=_asks(quotas.ADDRESSES, apis.DESCRIBE_ADDRESSES()),
        needed=_with_internet,
        find=_counted(
            apis.DESCRIBE_ADDRESSES,
            "network.nat_gateways",
            quotas.ADDRESSES,
            "AWS::EC2::EIP",
            lambda look: wanted.nat_gateways(look.spec),
        ),
    ),
)
