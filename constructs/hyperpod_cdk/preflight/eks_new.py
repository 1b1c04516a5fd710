"""HP980-HP985, HP989: a control plane that the stack makes."""

import re
from collections.abc import Iterator

from hyperpod_cdk.preflight import apis, eks_plan
from hyperpod_cdk.preflight.calls import Call, RefusedError, UnansweredError
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.comparison import compared, quota_rule
from hyperpod_cdk.preflight.eks_existing import control_plane, control_plane_call, has_control_plane
from hyperpod_cdk.preflight.look import Item, Look
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service import eks, quotas
from hyperpod_cdk.spec import AccessEntry, HyperPodSpec

_CLUSTER, _LOG_GROUP = "AWS::EKS::Cluster", "AWS::Logs::LogGroup"
_VERSION = f"{eks_plan.PATH}.kubernetes_version"
_VERSIONS = "https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html"
_NETWORK = "https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html"
_UNKNOWN_OPERATION = ("InvalidAction", "UnknownOperation", "UnknownOperationException")
_LEAST_ZONES = 2


def _makes(spec: HyperPodSpec) -> bool:
    return eks_plan.new(spec) is not None


def _quota(look: Look, rule: Rule) -> Iterator[Finding]:
    more = 1 - len(look.in_stack(_CLUSTER))
    used = len(look.aws.answer(apis.LIST_CONTROL_PLANES()))
    yield from compared(look, rule, quotas.CONTROL_PLANES, path=eks_plan.PATH, new=more, used=used)


# -- versions of Kubernetes ----------------------------------------------------------------------------


def _kubernetes(look: Look) -> tuple[str, str] | None:
    """The control plane's version, and where it stands; None where it is not known."""
    if has_control_plane(look.spec):
        found = control_plane(look)
        return (str(found["version"]), f"{eks_plan.PATH}.cluster_arn") if found else None
    made = eks_plan.new(look.spec)
    return (made.kubernetes_version, _VERSION) if made and not unresolved(made.kubernetes_version) else None


def _offered(look: Look, rule: Rule) -> Iterator[Finding]:
    answer = look.ask(apis.DESCRIBE_KUBERNETES(), absent=_UNKNOWN_OPERATION)
    wanted = _kubernetes(look)
    if answer is None:
        yield rule.finding("region", "has no Amazon EKS", given=look.aws.region)
    elif wanted is not None:
        known = [one["clusterVersion"] for one in answer if _status(one) != "UNSUPPORTED"]
        if wanted[0] not in known:
            yield rule.finding(wanted[1], "is not offered", given=wanted[0], allowed=", ".join(sorted(known)))


def _supported(look: Look, rule: Rule) -> Iterator[Finding]:
    wanted = _kubernetes(look)
    for one in look.aws.answer(apis.DESCRIBE_KUBERNETES()) if wanted else ():
        if wanted and one["clusterVersion"] == wanted[0] and _status(one) == "EXTENDED_SUPPORT":
            ends = str(one.get("endOfExtendedSupportDate", ""))[:10]
            until = f", which ends on {ends}" if ends else ""
            yield rule.finding(wanted[1], f"is in extended support{until}", given=wanted[0])


def _status(version: Item) -> str:
    text = str(version.get("versionStatus") or version.get("status", ""))
    return text.upper().replace("-", "_")


# -- the network ---------------------------------------------------------------------------------------


def _zones(look: Look) -> list[tuple[str, str]]:
    """Where the control plane's subnets lie: path and zone id."""
    network = look.spec.network
    if network.existing is None:
        named = enumerate(network.availability_zone_ids)
        return [(f"network.availability_zone_ids[{index}]", zone) for index, zone in named]
    known = look.subnets()
    return [
        (f"network.existing.subnets[{index}].subnet_id", known[one.subnet_id]["AvailabilityZoneId"])
        for index, one in enumerate(network.existing.subnets)
        if one.subnet_id in known
    ]


def _in_zones(look: Look, rule: Rule) -> Iterator[Finding]:
    found = _zones(look)
    for path, zone in found:
        if zone in eks.ZONES_WITHOUT_EKS:
            yield rule.finding(path, "is in a zone without control planes", given=zone)
    zones = {zone for _, zone in found}
    existing = look.spec.network.existing
    if existing and len(found) == len(existing.subnets) and len(zones) < _LEAST_ZONES:
        yield rule.finding(
            "network.existing.subnets", "lie in one zone", given=", ".join(zones), allowed="two zones or more"
        )


def _addresses(look: Look, rule: Rule) -> Iterator[Finding]:
    existing = look.spec.network.existing
    if existing is None or look.in_stack(_CLUSTER):
        return
    known = look.subnets()
    for index, one in enumerate(existing.subnets):
        free = known.get(one.subnet_id, {}).get("AvailableIpAddressCount", eks.CONTROL_PLANE_ADDRESSES)
        if free < eks.CONTROL_PLANE_ADDRESSES:
            yield rule.finding(
                f"network.existing.subnets[{index}].subnet_id",
                f"has {free} addresses free",
                given=one.subnet_id,
                allowed=f"{eks.CONTROL_PLANE_ADDRESSES} or more, beside those of nodes",
            )


# -- names and principals ------------------------------------------------------------------------------


def _log_groups_call(look: Look) -> Call:
    return apis.DESCRIBE_LOG_GROUPS(logGroupNamePrefix=f"/aws/eks/{eks_plan.new_name(look.spec)}")


def _names(look: Look, rule: Rule) -> Iterator[Finding]:
    name = re.escape(eks_plan.new_name(look.spec)) + "[0-9A-F]{8}"
    clusters = [one for one in look.aws.answer(apis.LIST_CONTROL_PLANES()) if re.fullmatch(name, one)]
    for one in sorted(set(clusters) - set(look.in_stack(_CLUSTER))):
        yield rule.finding(eks_plan.PATH, f"is to have the name of an EKS cluster that is there: {one}")
    logs = [one["logGroupName"] for one in look.aws.answer(_log_groups_call(look))]
    own = set(look.in_stack(_LOG_GROUP))
    for one in sorted(group for group in logs if re.fullmatch(f"/aws/eks/{name}/cluster", group)):
        if one not in own:
            yield rule.finding(eks_plan.PATH, f"is to have a log group that is there: {one}")


def _principals(spec: HyperPodSpec) -> Iterator[tuple[str, AccessEntry]]:
    made = eks_plan.new(spec)
    for index, entry in enumerate(made.access if made else ()):
        if not unresolved(entry.principal_arn):
            yield f"{eks_plan.PATH}.access[{index}].principal_arn", entry


def _principal_call(arn: str) -> Call:
    kind, _, name = arn.rpartition(":")[2].partition("/")
    last = name.rpartition("/")[2]
    return apis.GET_USER(UserName=last) if kind == "user" else apis.GET_ROLE(RoleName=last)


def _principals_there(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for path, entry in _principals(look.spec):
        arn = entry.principal_arn
        try:
            if arn.split(":")[4] != look.account():
                yield Unchecked(path=path, reason="is of another account, which is not asked")
                continue
            answer = look.ask(_principal_call(arn), absent=["NoSuchEntity"])
        except (UnansweredError, RefusedError) as reason:
            yield Unchecked(path=path, reason=str(reason))
            continue
        found = (answer.get("Role") or answer["User"])["Arn"] if answer else None
        if found != arn:
            yield rule.finding(path, "is no role or user of this account", given=arn, allowed=found)


CHECKS = (
    Check(
        name="quota-control-planes",
        rule=quota_rule(
            "HP980", "one EKS cluster more than the account may have", "the control plane can not be made"
        ),
        apis=(*apis.QUOTAS, apis.LIST_CONTROL_PLANES, apis.LIST_STACK_RESOURCES),
        asks=lambda look: [
            *look.quota_calls(quotas.CONTROL_PLANES),
            *(apis.LIST_CONTROL_PLANES(), look.stack_call()),
        ],
        needed=_makes,
        find=_quota,
    ),
    Check(
        name="kubernetes-offered",
        rule=Rule(
            code="HP981",
            title="a version of Kubernetes that Amazon EKS does not offer",
            why="the control plane can not be made",
            fix="use one that `aws eks describe-cluster-versions` shows, among those that HyperPod knows",
            source=_VERSIONS,
        ),
        apis=(apis.DESCRIBE_KUBERNETES,),
        asks=lambda _: [apis.DESCRIBE_KUBERNETES()],
        needed=_makes,
        find=_offered,
    ),
    Check(
        name="kubernetes-support",
        rule=Rule(
            code="HP982",
            title="a version of Kubernetes in extended support",
            why="the control plane costs six times as much an hour, and is upgraded by force at its end",
            fix="use a newer version that HyperPod and its operators know, or acknowledge this",
            source="https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html, "
            "https://aws.amazon.com/eks/pricing/",
            severity=Severity.WARNING,
        ),
        apis=(apis.DESCRIBE_KUBERNETES, apis.DESCRIBE_CONTROL_PLANE),
        asks=lambda look: [
            apis.DESCRIBE_KUBERNETES(),
            *([control_plane_call(look)] if has_control_plane(look.spec) else []),
        ],
        needed=lambda spec: _makes(spec) or has_control_plane(spec),
        find=_supported,
    ),
    Check(
        name="control-plane-zones",
        rule=Rule(
            code="HP983",
            title="subnets that no control plane can have",
            why="Amazon EKS wants two zones, and has none in a few; it refuses the control plane",
            fix="use subnets of two other zones",
            source=_NETWORK,
        ),
        apis=(apis.DESCRIBE_SUBNETS,),
        asks=lambda look: [look.subnets_call()] if look.spec.network.existing else [],
        needed=_makes,
        find=_in_zones,
    ),
    Check(
        name="control-plane-addresses",
        rule=Rule(
            code="HP984",
            title="too few free addresses for a control plane",
            why="Amazon EKS puts network interfaces into the subnets, more of them while it upgrades",
            fix="use subnets with more free addresses",
            source=_NETWORK,
        ),
        apis=(apis.DESCRIBE_SUBNETS, apis.LIST_STACK_RESOURCES),
        asks=lambda look: [look.subnets_call(), look.stack_call()],
        needed=lambda spec: _makes(spec) and spec.network.existing is not None,
        find=_addresses,
    ),
    Check(
        name="access-principals",
        rule=Rule(
            code="HP985",
            title="an access entry of nobody",
            why="Amazon EKS refuses an entry whose role or user is not there, its path included, and the "
            "stack rolls back",
            fix="correct the ARN; `aws iam get-role` shows it",
            source="https://docs.aws.amazon.com/eks/latest/userguide/creating-access-entries.html",
        ),
        apis=(apis.GET_ROLE, apis.GET_USER),
        asks=lambda look: [_principal_call(entry.principal_arn) for _, entry in _principals(look.spec)],
        needed=lambda spec: any(True for _ in _principals(spec)),
        find=_principals_there,
    ),
    Check(
        name="control-plane-name",
        rule=Rule(
            code="HP989",
            title="a name that an earlier control plane has left behind",
            why="the name follows from the stack's; a control plane that goes may write its log once more, "
            "which makes the log group anew, and the next deployment finds it taken",
            fix="delete what is left, such as with `aws logs delete-log-group`, or use another stack_name",
            source="https://github.com/terraform-aws-modules/terraform-aws-eks/issues/920",
        ),
        apis=(apis.LIST_CONTROL_PLANES, apis.DESCRIBE_LOG_GROUPS, apis.LIST_STACK_RESOURCES),
        asks=lambda look: [apis.LIST_CONTROL_PLANES(), _log_groups_call(look), look.stack_call()],
        needed=_makes,
        find=_names,
    ),
)
