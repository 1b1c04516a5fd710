"""HP986, HP987: the ordinary nodes of a control plane that the stack makes."""

from collections.abc import Iterable, Iterator

from hyperpod_cdk.preflight import apis, eks_plan
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.comparison import compared, quota_rule
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.rules.look import zone_ids
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.quotas import Quota, on_demand_vcpus
from hyperpod_cdk.spec import HyperPodSpec, SystemNodes

_PATH = f"{eks_plan.PATH}.system_nodes"
_CLUSTER_TAG = "eks:cluster-name"
"""On every instance of a managed node group
(https://docs.aws.amazon.com/eks/latest/userguide/eks-using-tags.html, 2026-10)."""
_RUNNING = ["pending", "running"]


def _nodes(spec: HyperPodSpec) -> SystemNodes | None:
    made = eks_plan.new(spec)
    nodes = made.system_nodes if made else None
    return None if nodes is None or unresolved(nodes.instance_type, nodes.count) else nodes


def _needed(spec: HyperPodSpec) -> bool:
    return _nodes(spec) is not None


def _type(spec: HyperPodSpec) -> str:
    nodes = _nodes(spec)
    return nodes.instance_type if nodes else ""


def _offerings_call(look: Look) -> Call:
    return apis.DESCRIBE_OFFERINGS(
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": [_type(look.spec)]}],
    )


def _zones(look: Look) -> Iterable[str]:
    """Of the network's subnets; groups may have others."""
    existing = look.spec.network.existing
    if existing is None:
        return zone_ids(look.spec)
    known = look.subnets()
    return [known[one.subnet_id]["AvailabilityZoneId"] for one in existing.subnets if one.subnet_id in known]


def _offered(look: Look, rule: Rule) -> Iterator[Finding]:
    offered = {one["Location"] for one in look.aws.answer(_offerings_call(look))}
    known = {zone for zone in _zones(look) if not unresolved(zone)}
    if known and not known & offered:
        yield rule.finding(
            f"{_PATH}.instance_type",
            f"is not offered in {', '.join(sorted(known))}",
            given=_type(look.spec),
            allowed=f"in {look.aws.region} it is in {', '.join(sorted(offered)) or 'no zone'}",
        )


# -- vCPUs ---------------------------------------------------------------------------------------------


def _size_call(look: Look) -> Call:
    # by a filter: a type that is not known is then none, and no error
    return apis.DESCRIBE_INSTANCE_TYPES(Filters=[{"Name": "instance-type", "Values": [_type(look.spec)]}])


def _running_call() -> Call:
    filters = [{"Name": "instance-state-name", "Values": _RUNNING}]
    return apis.DESCRIBE_INSTANCES(Filters=filters, MaxResults=1000)


def _vcpus(look: Look, rule: Rule) -> Iterator[Finding]:
    nodes, size = _nodes(look.spec), look.aws.answer(_size_call(look))
    if nodes is None or not size:
        return  # a type that is not there is told of by another check
    quota, each = on_demand_vcpus(nodes.instance_type), size[0]["VCpuInfo"]["DefaultVCpus"]
    running = [one for one in _running(look) if _counts(one, quota)]
    own = [one for one in running if _cluster_of(one) in look.in_stack("AWS::EKS::Cluster")]
    used = sum(map(_size, running))
    more = max(nodes.count * each - sum(map(_size, own)), 0)
    yield from compared(look, rule, quota, path=f"{_PATH}.count", new=more, used=used)


def _running(look: Look) -> Iterator[Item]:
    for reservation in look.aws.answer(_running_call()):
        yield from reservation.get("Instances", ())


def _counts(instance: Item, quota: Quota) -> bool:
    """Whether an instance takes of a quota: not those of Spot, reserved blocks and dedicated hosts."""
    bought_otherwise = instance.get("InstanceLifecycle") in ("spot", "capacity-block")
    on_host = instance.get("Placement", {}).get("Tenancy") == "host"
    return not bought_otherwise and not on_host and on_demand_vcpus(instance["InstanceType"]) == quota


def _size(instance: Item) -> int:
    options = instance.get("CpuOptions", {})
    return int(options.get("CoreCount", 1)) * int(options.get("ThreadsPerCore", 1))


def _cluster_of(instance: Item) -> str | None:
    tags = {tag["Key"]: tag["Value"] for tag in instance.get("Tags", ())}
    return tags.get(_CLUSTER_TAG)


CHECKS = (
    Check(
        name="system-node-offerings",
        rule=Rule(
            code="HP986",
            title="system nodes of a type that their zones do not have",
            why="DNS and certificates have nowhere to run, and the stack rolls back",
            fix="use another instance_type, such as m6i.large",
            source="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html",
        ),
        apis=(apis.DESCRIBE_OFFERINGS, apis.DESCRIBE_SUBNETS),
        asks=lambda look: [
            _offerings_call(look),
            *([look.subnets_call()] if look.spec.network.existing else []),
        ],
        needed=_needed,
        find=_offered,
    ),
    Check(
        name="quota-vcpus",
        rule=quota_rule(
            "HP987",
            "more vCPUs of running instances than the account may have",
            "system nodes are instances of EC2; without them DNS and certificates have nowhere to run",
        ),
        apis=(
            *(*apis.QUOTAS, apis.DESCRIBE_INSTANCE_TYPES, apis.DESCRIBE_INSTANCES),
            apis.LIST_STACK_RESOURCES,
        ),
        asks=lambda look: [
            *look.quota_calls(on_demand_vcpus(_type(look.spec))),
            *(_size_call(look), _running_call(), look.stack_call()),
        ],
        needed=_needed,
        find=_vcpus,
    ),
)
