"""HP970-HP974: a control plane that is there already."""

from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, eks_plan
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.rules import Finding, Rule
from hyperpod_cdk.service import eks
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

ABSENT = ["ResourceNotFoundException"]
_ARN = f"{eks_plan.PATH}.cluster_arn"
_PREREQUISITES = f"{GUIDE}sagemaker-hyperpod-eks-prerequisites.html"


def arn_of(spec: HyperPodSpec) -> str:
    """ARN of the existing control plane; empty where there is none."""
    found = eks_plan.existing(spec)
    return str(found.cluster_arn) if found else ""


def name_of(spec: HyperPodSpec) -> str:
    """Its name."""
    return arn_of(spec).rpartition("/")[2]


def has_control_plane(spec: HyperPodSpec) -> bool:
    """Whether the spec names one."""
    return eks_plan.existing(spec) is not None


def control_plane_call(look: Look) -> Call:
    """What describes it."""
    return apis.DESCRIBE_CONTROL_PLANE(name=name_of(look.spec))


def control_plane(look: Look) -> Item | None:
    """The existing control plane as Amazon EKS describes it; None where it is not there."""
    answer = look.ask(control_plane_call(look), absent=ABSENT)
    found: Item | None = answer["cluster"] if answer else None
    return found if found and found["arn"] == arn_of(look.spec) else None


def _there(look: Look, rule: Rule) -> Iterator[Finding]:
    found, arn = control_plane(look), arn_of(look.spec)
    if found is None:
        yield rule.finding(_ARN, f"is no EKS cluster of this account in {look.aws.region}", given=arn)
    elif found["status"] not in ("ACTIVE", "UPDATING"):
        yield rule.finding(_ARN, f"is {found['status']}", given=arn, allowed="ACTIVE")


def _authentication(look: Look, rule: Rule) -> Iterator[Finding]:
    found = control_plane(look)
    mode = (found or {}).get("accessConfig", {}).get("authenticationMode", "CONFIG_MAP")
    if found and mode not in eks.AUTHENTICATION_MODES:
        allowed = " or ".join(eks.AUTHENTICATION_MODES)
        yield rule.finding(_ARN, f"has authentication mode {mode}", given=found["name"], allowed=allowed)


def _version(look: Look, rule: Rule) -> Iterator[Finding]:
    found = control_plane(look)
    if found and found["version"] not in eks.KUBERNETES_VERSIONS:
        allowed = ", ".join(eks.KUBERNETES_VERSIONS)
        yield rule.finding(_ARN, "is of another version", given=found["version"], allowed=allowed)


def _network(look: Look, rule: Rule) -> Iterator[Finding]:
    found = control_plane(look)
    if found is None:
        return
    vpc_id, own = look.vpc_id(), found["resourcesVpcConfig"]["vpcId"]
    if vpc_id is None and look.spec.network.existing is None:
        yield rule.finding("network.existing", f"is missing: {found['name']} lies in {own}", allowed=own)
    elif vpc_id != own:
        yield rule.finding("network.existing", f"is {vpc_id}, and {found['name']} lies in {own}", allowed=own)


def _free(look: Look, rule: Rule) -> Iterator[Finding]:
    arn = arn_of(look.spec)
    for cluster in look.clusters():
        on = cluster.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
        if on == arn and not look.is_ours(cluster):
            yield rule.finding(_ARN, f"carries the HyperPod cluster {cluster['ClusterName']}", given=arn)


CHECKS = (
    Check(
        name="eks-cluster",
        rule=Rule(
            code="HP970",
            title="a control plane that is not there, or not active",
            why="the service refuses the cluster",
            fix="correct cluster_arn; `aws eks describe-cluster` shows arn and status",
            source=_PREREQUISITES,
        ),
        apis=(apis.DESCRIBE_CONTROL_PLANE,),
        asks=lambda look: [control_plane_call(look)],
        needed=has_control_plane,
        find=_there,
    ),
    Check(
        name="eks-authentication",
        rule=Rule(
            code="HP971",
            title="a control plane whose users stand in a ConfigMap alone",
            why="HyperPod lets its nodes in by an access entry, which this mode does not know",
            fix="set authenticationMode=API_AND_CONFIG_MAP with `aws eks update-cluster-config "
            "--access-config`, which can not be taken back",
            source=_PREREQUISITES,
        ),
        apis=(apis.DESCRIBE_CONTROL_PLANE,),
        asks=lambda look: [control_plane_call(look)],
        needed=has_control_plane,
        find=_authentication,
    ),
    Check(
        name="eks-version",
        rule=Rule(
            code="HP972",
            title="a control plane of a Kubernetes version that HyperPod does not know",
            why="the service refuses the cluster",
            fix="upgrade the control plane, or use another",
            source=_PREREQUISITES,
        ),
        apis=(apis.DESCRIBE_CONTROL_PLANE,),
        asks=lambda look: [control_plane_call(look)],
        needed=has_control_plane,
        find=_version,
    ),
    Check(
        name="eks-network",
        rule=Rule(
            code="HP973",
            title="nodes in another VPC than their control plane",
            why="the service refuses the cluster",
            fix="name the control plane's VPC, with private subnets of it, as network.existing",
            source=_PREREQUISITES,
        ),
        apis=(apis.DESCRIBE_CONTROL_PLANE, apis.DESCRIBE_SUBNETS),
        asks=lambda look: [control_plane_call(look)],
        needed=has_control_plane,
        find=_network,
    ),
    Check(
        name="eks-occupied",
        rule=Rule(
            code="HP974",
            title="a control plane with a HyperPod cluster on it",
            why="each control plane carries one",
            fix="use another control plane, or add instance groups to the cluster that is there",
            source=_PREREQUISITES,
        ),
        apis=(apis.LIST_CLUSTERS, apis.DESCRIBE_CLUSTER, apis.LIST_STACK_RESOURCES),
        asks=lambda look: [apis.LIST_CLUSTERS(), look.stack_call()],
        needed=has_control_plane,
        find=_free,
    ),
)
