"""HP914-HP917: quotas of the network."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from hyperpod_cdk.preflight import apis, wanted
from hyperpod_cdk.preflight.calls import Api, Call
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.comparison import compared, quota_rule
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.service import quotas
from hyperpod_cdk.service.quotas import Quota
from hyperpod_cdk.spec import HyperPodSpec, NatGateways

_CLUSTERS = (apis.LIST_CLUSTERS, apis.DESCRIBE_CLUSTER, apis.LIST_STACK_RESOURCES)
Counted = Callable[[Look], int]


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
        yield from compared(look, rule, quota, path=path, new=more, used=used)

    return find


def _interfaces(look: Look, rule: Rule) -> Iterator[Finding]:
    """Those of file systems and endpoints are few, and not counted."""
    own = wanted.interfaces(wanted.live_instances(look.own_clusters()))
    new = wanted.most_interfaces(look.spec) + wanted.nat_gateways(look.spec)
    more = new - own - len(look.in_stack("AWS::EC2::NatGateway"))
    used = len(look.aws.answer(apis.DESCRIBE_NETWORK_INTERFACES()))
    quota = quotas.NETWORK_INTERFACES
    yield from compared(look, rule, quota, path="cluster.instance_groups", new=more, used=used)


def _asks(quota: Quota, *calls: Call) -> Callable[[Look], Sequence[Call]]:
    return lambda look: [*look.quota_calls(quota), *calls, look.stack_call()]


CHECKS = (
    Check(
        name="quota-vpcs",
        rule=quota_rule("HP914", "one VPC more than the account may have", "the network can not be made"),
        apis=(*apis.QUOTAS, apis.DESCRIBE_VPCS, apis.LIST_STACK_RESOURCES),
        asks=_asks(quotas.VPCS, apis.DESCRIBE_VPCS()),
        needed=_new_network,
        find=_counted(apis.DESCRIBE_VPCS, "network", quotas.VPCS, "AWS::EC2::VPC", lambda _: 1),
    ),
    Check(
        name="quota-internet-gateways",
        rule=quota_rule(
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
        rule=quota_rule(
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
        rule=quota_rule(
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
