"""HP923-HP925, HP928, HP929: ways out of existing subnets."""

from collections.abc import Iterator, Mapping, Sequence

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.preflight.subnets import has_subnets
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.service.endpoints import KUBERNETES_SERVICES, NODE_SERVICES
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_PREREQUISITES = f"{GUIDE}sagemaker-hyperpod-prerequisites.html"
_EVERYWHERE = "0.0.0.0/0"
_ATTRIBUTES = {"enableDnsSupport": "EnableDnsSupport", "enableDnsHostnames": "EnableDnsHostnames"}


def _tables_call(look: Look) -> Call:
    # of the whole Region where the VPC is not named, so that no other answer is waited for
    return apis.DESCRIBE_ROUTE_TABLES(Filters=look.in_vpc())


def _endpoints_call(look: Look) -> Call:
    return apis.DESCRIBE_VPC_ENDPOINTS(Filters=look.in_vpc())


def _ask(look: Look) -> list[Call]:
    return [look.subnets_call(), _tables_call(look), _endpoints_call(look)]


def _tables(look: Look) -> Iterator[tuple[str, str, Item]]:
    """Path, id and route table of every subnet that is there; the VPC's main table where it has no own."""
    own: dict[str, Item] = {}
    main: dict[str, Item] = {}
    for table in look.aws.answer(_tables_call(look)):
        for association in table.get("Associations", ()):
            if association.get("Main"):
                main[table["VpcId"]] = table
            elif "SubnetId" in association:
                own[association["SubnetId"]] = table
    for path, subnet_id in places.subnets(look.spec):
        subnet = look.subnets().get(subnet_id)
        table = own.get(subnet_id) or (main.get(subnet["VpcId"]) if subnet else None)
        if table is not None:
            yield path, subnet_id, table


def _way_out(table: Item) -> Item | None:
    """The default route, if it leads anywhere."""
    routes: Sequence[Item] = table.get("Routes", ())
    return next(
        (
            route
            for route in routes
            if route.get("DestinationCidrBlock") == _EVERYWHERE and route.get("State") != "blackhole"
        ),
        None,
    )


def _private(look: Look, rule: Rule) -> Iterator[Finding]:
    for path, subnet_id, table in _tables(look):
        route = _way_out(table)
        if route and str(route.get("GatewayId", "")).startswith("igw-"):
            yield rule.finding(
                path, f"is public: {table['RouteTableId']} leads to {route['GatewayId']}", given=subnet_id
            )


def _service(endpoint: Item) -> str:
    """What an endpoint is for: ``s3`` for com.amazonaws.us-west-2.s3, ``ecr.api`` for …ecr.api."""
    return str(endpoint["ServiceName"]).partition("amazonaws.")[2].partition(".")[2]


def _endpoints(look: Look, vpc_id: str) -> list[Item]:
    """Those that serve, or are about to."""
    return [
        one
        for one in look.aws.answer(_endpoints_call(look))
        if one.get("VpcId") == vpc_id and one.get("State", "available").lower() in ("available", "pending")
    ]


def _reaches_s3(endpoints: Sequence[Item], table: Item) -> bool:
    return any(
        table["RouteTableId"] in one.get("RouteTableIds", ()) or one.get("VpcEndpointType") == "Interface"
        for one in endpoints
        if _service(one) == "s3"
    )


def _s3_way(look: Look, rule: Rule) -> Iterator[Finding]:
    for path, subnet_id, table in _tables(look):
        if not _reaches_s3(_endpoints(look, table["VpcId"]), table) and not _way_out(table):
            yield rule.finding(path, f"has no way to S3 by {table['RouteTableId']}", given=subnet_id)


def _s3_internet(look: Look, rule: Rule) -> Iterator[Finding]:
    for path, subnet_id, table in _tables(look):
        if not _reaches_s3(_endpoints(look, table["VpcId"]), table) and _way_out(table):
            yield rule.finding(
                path, f"reaches S3 only by the default route of {table['RouteTableId']}", given=subnet_id
            )


def _needed_services(spec: HyperPodSpec) -> list[str]:
    """Services that nodes call, with those of add-ons whose pods run on them."""
    eks = spec.cluster.orchestrator.eks
    if eks is None:
        return list(NODE_SERVICES)
    operators = {
        "sagemaker.api": bool(eks.training_operator),
        "aps-workspaces": bool(eks.observability),
        "eks-auth": bool(eks.training_operator or eks.observability),
        # the functions that run helm and kubectl lie in the VPC, and one calls the other
        "lambda": eks.cluster_arn is None and bool(eks.helm_chart or eks.volumes),
    }
    own = [name for name, wanted in operators.items() if wanted]
    return [*NODE_SERVICES, *KUBERNETES_SERVICES, *own]


def _services(look: Look, rule: Rule) -> Iterator[Finding]:
    for path, subnet_id, table in _tables(look):
        if _way_out(table):
            continue
        there = {
            _service(one)
            for one in _endpoints(look, table["VpcId"])
            if one.get("VpcEndpointType") == "Interface" and one.get("PrivateDnsEnabled")
        }
        missing = [name for name in _needed_services(look.spec) if name not in there]
        if missing:
            yield rule.finding(
                path,
                f"has no default route, and its VPC no interface endpoint of {', '.join(missing)}",
                given=subnet_id,
            )


def _dns_calls(vpc_id: str) -> Mapping[str, Call]:
    return {name: apis.DESCRIBE_VPC_ATTRIBUTE(VpcId=vpc_id, Attribute=name) for name in _ATTRIBUTES}


def _ask_dns(look: Look) -> list[Call]:
    existing = look.spec.network.existing
    named = existing.vpc_id if existing else None
    return list(_dns_calls(named).values()) if named else [look.subnets_call()]


def _dns(look: Look, rule: Rule) -> Iterator[Finding]:
    vpc_id = look.vpc_id()
    if vpc_id is None:
        return
    calls = _dns_calls(vpc_id)
    for call in calls.values():
        look.aws.start(call)
    for name, call in calls.items():
        # a VPC that is not there is told of by its subnets, which are in another
        answer = look.ask(call, absent=["InvalidVpcID.NotFound"])
        if answer and not answer[_ATTRIBUTES[name]]["Value"]:
            yield rule.finding("network.existing", f"{vpc_id} has {name} off")


def _has_network(spec: HyperPodSpec) -> bool:
    return spec.network.existing is not None and has_subnets(spec)


_APIS = (apis.DESCRIBE_SUBNETS, apis.DESCRIBE_ROUTE_TABLES, apis.DESCRIBE_VPC_ENDPOINTS)

CHECKS = (
    Check(
        name="private-subnets",
        rule=Rule(
            code="HP923",
            title="a public subnet",
            why="nodes have no public address: they reach nothing, and the cluster fails",
            fix="use subnets whose default route leads to a NAT gateway",
            source=_PREREQUISITES,
        ),
        apis=_APIS[:2],
        asks=lambda look: [look.subnets_call(), _tables_call(look)],
        needed=has_subnets,
        find=_private,
    ),
    Check(
        name="dns-attributes",
        rule=Rule(
            code="HP924",
            title="a VPC without DNS",
            why="names of file systems and of AWS services do not resolve",
            fix="switch enableDnsSupport and enableDnsHostnames on (aws ec2 modify-vpc-attribute)",
            source="https://docs.aws.amazon.com/vpc/latest/userguide/vpc-dns.html",
        ),
        apis=(apis.DESCRIBE_VPC_ATTRIBUTE, apis.DESCRIBE_SUBNETS),
        asks=_ask_dns,
        needed=_has_network,
        find=_dns,
    ),
    Check(
        name="s3-endpoint",
        rule=Rule(
            code="HP925",
            title="no way to S3",
            why="nodes read their lifecycle scripts from there",
            fix="add a gateway endpoint of S3 to the subnet's route table",
            source=_PREREQUISITES,
        ),
        apis=_APIS,
        asks=_ask,
        needed=has_subnets,
        find=_s3_way,
    ),
    Check(
        name="service-endpoints",
        rule=Rule(
            code="HP928",
            title="a closed subnet without the endpoints that nodes need",
            why="nodes reach neither Session Manager nor CloudWatch: there is no way in, and no log; on "
            "Amazon EKS they do not even join",
            fix="add the interface endpoints with private DNS, or a default route to a NAT gateway",
            source=_PREREQUISITES,
        ),
        apis=_APIS,
        asks=_ask,
        needed=has_subnets,
        find=_services,
    ),
    Check(
        name="s3-by-internet",
        rule=Rule(
            code="HP929",
            title="S3 by way of the internet",
            why="a NAT gateway charges by the gigabyte and is slower; a gateway endpoint is free",
            fix="add a gateway endpoint of S3 to the subnet's route table",
            source="https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-s3.html",
            severity=Severity.WARNING,
        ),
        apis=_APIS,
        asks=_ask,
        needed=has_subnets,
        find=_s3_internet,
    ),
)
