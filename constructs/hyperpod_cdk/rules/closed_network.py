"""HP21x: what nodes reach from their network, and through which security groups."""

from collections.abc import Iterator

from hyperpod_cdk.rules.finding import Finding, Severity
from hyperpod_cdk.rules.look import groups, groups_of, is_closed, is_eks
from hyperpod_cdk.rules.rule import Rule, checks
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import subnets
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec, InstanceGroup, NodeType

_PREREQUISITES = f"{GUIDE}sagemaker-hyperpod-prerequisites.html"
_NETWORK = "the network's own"


@checks(
    Rule(
        code="HP210",
        title="scripts of yours on nodes without internet",
        why="packages, containers and models that a script fetches can not be reached, and the node fails",
        fix="see that the scripts need nothing but S3 and the network's endpoints, and acknowledge this; or "
        "use nat_gateways: one",
        source=_PREREQUISITES,
        severity=Severity.WARNING,
    )
)
def scripts_without_internet(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if not is_closed(spec):
        return
    if spec.lifecycle.extra_files is not None:
        yield rule.finding("lifecycle.extra_files", "holds scripts that have no internet")
    for path, group in groups(spec):
        if group.life_cycle_config is not None:
            yield rule.finding(f"{path}.life_cycle_config", "names scripts that have no internet")


@checks(
    Rule(
        code="HP211",
        title="several controllers on nodes without internet",
        why="they read the database's secret and tell the topic of a change by Secrets Manager and SNS, of "
        "which the network has no endpoints",
        fix="use nat_gateways: one, or make the network yourself, with endpoints of both",
        source=f"{GUIDE}sagemaker-hyperpod-multihead-slurm.html",
        severity=Severity.WARNING,
    )
)
def multi_head_without_internet(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if is_closed(spec) and spec.cluster.orchestrator.slurm.multi_head is not None:
        yield rule.finding(
            "cluster.orchestrator.slurm.multi_head", "can reach neither its secret nor its topic"
        )


@checks(
    Rule(
        code="HP212",
        title="a group that shares no security group with the controller",
        why="Slurm's daemons and EFA talk to each other on all ports: nodes that the controller's security "
        "groups do not admit stay down",
        fix="add one of the controller's security groups, or see that both admit all traffic of each other "
        "and acknowledge this",
        source=_PREREQUISITES,
        severity=Severity.WARNING,
    )
)
def shared_security_group(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    controllers = groups_of(spec, NodeType.CONTROLLER)
    if not controllers:
        return
    wanted = _security_groups(spec, controllers[0][1])
    for path, group in groups(spec):
        found = _security_groups(spec, group)
        if found and wanted and not unresolved(*found, *wanted) and not set(found) & set(wanted):
            yield rule.finding(
                f"{path}.override_vpc_config.security_group_ids" if group.override_vpc_config else path,
                "has none of the controller's security groups",
                given=list(found),
                allowed=f"one of {', '.join(wanted)}",
            )


@checks(
    Rule(
        code="HP213",
        title="a network in the range of Docker's bridge",
        why="on every node Docker takes 172.17.0.0/16 for itself: containers can not reach what lies there",
        fix="use another range, such as 10.0.0.0/16",
        source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html",
        severity=Severity.WARNING,
    )
)
def docker_bridge(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    existing = spec.network.existing
    path = "network.existing.vpc_cidr" if existing else "network.cidr"
    cidr = existing.vpc_cidr if existing else spec.network.cidr
    network = None if cidr is None or unresolved(cidr) else subnets.as_network(cidr)
    if network is not None and network.overlaps(subnets.DOCKER_BRIDGE):
        yield rule.finding(path, "overlaps 172.17.0.0/16", given=cidr)


@checks(
    Rule(
        code="HP214",
        title="a database or a directory that a new network has no way to",
        why="a private address of it lies in another VPC, and nothing joins the two before the cluster is "
        "made: the controller waits for its database in vain, and nobody of the directory can log in",
        fix="name subnets of its VPC, or of one that is joined with it, in network.existing; or deploy "
        "without it first, make it in the VPC of the stack's outputs, then add it. Acknowledge this then, or "
        "where its address is public",
        source="https://docs.aws.amazon.com/vpc/latest/peering/what-is-vpc-peering.html, "
        f"{GUIDE}sagemaker-hyperpod-external-accounting-db-slurm.html",
        severity=Severity.WARNING,
    )
)
def hosts_of_another_vpc(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    if spec.network.existing is None and not is_eks(spec):
        for path, host in _private_hosts(spec):
            if not unresolved(host):
                yield rule.finding(path, "is not in the VPC that is made", given=host)


@checks(
    Rule(
        code="HP215",
        title="a network of public addresses",
        why="nodes take them for their own neighbours: what has these addresses on the internet, be it AWS "
        "itself, they never reach",
        fix="use a private range, such as 10.0.0.0/16; or acknowledge this where the addresses are yours",
        source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-cidr-blocks.html (RFC 1918)",
        severity=Severity.WARNING,
    )
)
def public_addresses(spec: HyperPodSpec, rule: Rule) -> Iterator[Finding]:
    cidr = spec.network.cidr
    network = None if spec.network.existing or unresolved(cidr) else subnets.as_network(cidr)
    if network is not None and not any(network.subnet_of(one) for one in subnets.PRIVATE):
        yield rule.finding("network.cidr", "is on the internet", given=cidr, nearest=("10.0.0.0/16",))


def _private_hosts(spec: HyperPodSpec) -> Iterator[tuple[str, str]]:
    slurm, directory = spec.cluster.orchestrator.slurm, spec.lifecycle.directory
    if slurm.accounting_database is not None:
        yield "cluster.orchestrator.slurm.accounting_database.endpoint", slurm.accounting_database.endpoint
    if slurm.multi_head is not None:
        where = "cluster.orchestrator.slurm.multi_head.slurm_database_endpoint"
        yield where, slurm.multi_head.slurm_database_endpoint
    for index, uri in enumerate(directory.uris if directory is not None else ()):
        yield f"lifecycle.directory.uris[{index}]", uri


def _security_groups(spec: HyperPodSpec, group: InstanceGroup) -> tuple[str, ...]:
    place, existing = group.override_vpc_config, spec.network.existing
    if place is not None and place.security_group_ids:
        return tuple(place.security_group_ids)
    return tuple(existing.security_group_ids) if existing else (_NETWORK,)
