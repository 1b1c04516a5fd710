"""HP90x: the account and the Region."""

from collections.abc import Iterator

from hyperpod_cdk.preflight import apis
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.look import named_zones, network_zones
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import API, GUIDE
from hyperpod_cdk.spec import HyperPodSpec

BOOTSTRAP_VERSION = 6
"""What aws-cdk-lib writes into the templates' rule and manifests; a test holds it to them."""
SERVICE_LINKED_ROLE = "AWSServiceRoleForSageMakerHyperPod"
_UNKNOWN_OPERATION = ("InvalidAction", "UnknownOperation", "UnknownOperationException")
"""What AWS answers where an operation is not there
(https://docs.aws.amazon.com/sagemaker/latest/APIReference/CommonErrors.html, 2026-11)."""


def _zones(spec: HyperPodSpec) -> list[tuple[str, str]]:
    return [one for one in (*network_zones(spec), *named_zones(spec)) if not unresolved(one[1])]


def _zones_exist(look: Look, rule: Rule) -> Iterator[Finding]:
    known = {one["ZoneId"] for one in look.aws.answer(apis.DESCRIBE_ZONES())}
    for path, zone in _zones(look.spec):
        if zone not in known:
            yield rule.finding(
                path,
                f"is no zone that this account has in {look.aws.region}",
                given=zone,
                allowed=", ".join(sorted(known)),
            )


def _region_answers(look: Look, rule: Rule) -> Iterator[Finding]:
    if look.ask(apis.LIST_CLUSTERS(), absent=_UNKNOWN_OPERATION) is None:
        yield rule.finding("region", "has no HyperPod: it does not know ListClusters", given=look.aws.region)


def _parameter(look: Look) -> str:
    return f"/cdk-bootstrap/{look.qualifier}/version"


def _bootstrap_call(look: Look) -> Call:
    return apis.GET_PARAMETER(Name=_parameter(look))


def _bootstrapped(look: Look, rule: Rule) -> Iterator[Finding]:
    answer = look.ask(_bootstrap_call(look), absent=["ParameterNotFound"])
    version = int(answer["Parameter"]["Value"]) if answer else None
    if version is None:
        yield rule.finding("", f"{look.aws.region} is not bootstrapped: there is no {_parameter(look)}")
    elif version < BOOTSTRAP_VERSION:
        yield rule.finding(
            "",
            "the bootstrap stack is too old",
            given=version,
            allowed=f"version {BOOTSTRAP_VERSION} or newer",
        )


def _service_linked_role(look: Look, rule: Rule) -> Iterator[Finding]:
    role = look.ask(apis.GET_ROLE(RoleName=SERVICE_LINKED_ROLE), absent=["NoSuchEntity"])
    if role is None:
        yield rule.finding("", f"{SERVICE_LINKED_ROLE} is not there yet")


def _own_name_calls(look: Look) -> list[Call]:
    return [apis.DESCRIBE_CLUSTER(ClusterName=look.spec.cluster.cluster_name), look.stack_call()]


def _name_is_free(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    cluster = look.ask(_own_name_calls(look)[0], absent=["ResourceNotFound"])
    if cluster is not None and not look.is_ours(cluster):
        yield rule.finding(
            "cluster.cluster_name",
            f"is in use by {cluster['ClusterArn']}, which is not of the stack {look.stack_name}",
            given=cluster["ClusterName"],
        )


def _has_name(spec: HyperPodSpec) -> bool:
    return spec.cluster.cluster_name is not None and not unresolved(spec.cluster.cluster_name)


CHECKS = (
    Check(
        name="zones",
        rule=Rule(
            code="HP900",
            title="a zone that the account does not have",
            why="no subnet can be made in it",
            fix="use one of the zones that `aws ec2 describe-availability-zones` shows by ZoneId; some have "
            "to be opted into",
            source="https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html",
        ),
        apis=(apis.DESCRIBE_ZONES,),
        asks=lambda _: [apis.DESCRIBE_ZONES()],
        needed=lambda spec: bool(_zones(spec)),
        find=_zones_exist,
    ),
    Check(
        name="region",
        rule=Rule(
            code="HP901",
            title="a Region without HyperPod",
            why="the service refuses every call",
            fix="choose a Region that has it",
            source=f"{GUIDE}sagemaker-hyperpod.html",
        ),
        apis=(apis.LIST_CLUSTERS,),
        asks=lambda _: [apis.LIST_CLUSTERS()],
        find=_region_answers,
    ),
    Check(
        name="bootstrap",
        rule=Rule(
            code="HP903",
            title="a Region that is not bootstrapped for the CDK, or by an old version",
            why="`cdk deploy` puts templates and files into what `cdk bootstrap` makes",
            fix="run `cdk bootstrap` once for the account and Region; name a qualifier of yours: --qualifier",
            source="https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping.html",
        ),
        apis=(apis.GET_PARAMETER,),
        asks=lambda look: [_bootstrap_call(look)],
        find=_bootstrapped,
    ),
    Check(
        name="service-linked-role",
        rule=Rule(
            code="HP904",
            title="no service-linked role yet",
            why="the first cluster of an account makes it, which a policy of the organization may forbid",
            fix="nothing, or `aws iam create-service-linked-role --aws-service-name "
            "hyperpod.sagemaker.amazonaws.com`",
            source=f"{GUIDE}security-iam-awsmanpol-AmazonSageMakerHyperPodServiceRolePolicy.html",
            severity=Severity.WARNING,
        ),
        apis=(apis.GET_ROLE,),
        asks=lambda _: [apis.GET_ROLE(RoleName=SERVICE_LINKED_ROLE)],
        find=_service_linked_role,
    ),
    Check(
        name="cluster-name",
        rule=Rule(
            code="HP905",
            title="a cluster name that is taken",
            why="names are unique in an account and Region, and a cluster of another stack is never touched",
            fix="choose another cluster_name, or leave it out and one is made",
            source=f"{API}API_CreateCluster.html",
        ),
        apis=(apis.DESCRIBE_CLUSTER, apis.LIST_STACK_RESOURCES),
        asks=_own_name_calls,
        needed=_has_name,
        find=_name_is_free,
    ),
)
