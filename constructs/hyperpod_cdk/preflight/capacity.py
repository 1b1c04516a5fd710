"""HP93x: whether the nodes are to be had."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.preflight import apis, places
from hyperpod_cdk.preflight.calls import Call
from hyperpod_cdk.preflight.check import Check, Unchecked
from hyperpod_cdk.preflight.look import Look
from hyperpod_cdk.preflight.places import Placement
from hyperpod_cdk.preflight.wanted import flexible, live_groups, live_instances
from hyperpod_cdk.rules import Finding, Rule, Severity
from hyperpod_cdk.rules.look import group_zone, groups, instance_types
from hyperpod_cdk.rules.tokens import unresolved
from hyperpod_cdk.service.sources import GUIDE
from hyperpod_cdk.spec import HyperPodSpec

_PLANS = f"{GUIDE}training-plan-utilization-for-hyperpod.html"


def zones_of(look: Look, placement: Placement) -> set[str]:
    """Ids of the zones in which a group's nodes may come up; empty where that can not be told."""
    if placement.subnet_ids:
        known = look.subnets()
        return {known[one]["AvailabilityZoneId"] for one in placement.subnet_ids if one in known}
    zone = group_zone(look.spec, placement.group)
    return {zone} if zone and not unresolved(zone) else set()


# -- offerings -----------------------------------------------------------------------------------------


def _ec2_name(instance_type: str) -> str:
    return instance_type.removeprefix("ml.")


def _offerings_call(look: Look) -> Call:
    names = {_ec2_name(name) for _, group in groups(look.spec) for name in group.instance_types}
    return apis.DESCRIBE_OFFERINGS(
        LocationType="availability-zone-id",
        Filters=[{"Name": "instance-type", "Values": sorted(names)}],
    )


@dataclass(frozen=True, kw_only=True)
class _Missing:
    """A type that none of a group's zones has; ``alone`` if they have none of the group's others either."""

    path: str
    name: str
    zones: set[str]
    elsewhere: list[str]
    alone: bool

    def told(self, look: Look, rule: Rule) -> Finding:
        """What is said of it."""
        return rule.finding(
            self.path,
            f"is not offered in {', '.join(sorted(self.zones))}",
            given=self.name,
            allowed=f"in {look.aws.region} it is in {', '.join(self.elsewhere) or 'no zone'}",
        )


def _missing(look: Look) -> Iterator[_Missing]:
    homes: dict[str, set[str]] = {}
    for one in look.aws.answer(_offerings_call(look)):
        homes.setdefault(one["InstanceType"], set()).add(one["Location"])
    for placement in places.placements(look.spec):
        zones = zones_of(look, placement)
        named = list(instance_types(placement.path, placement.group))
        if not zones or unresolved(*(name for _, name in named)):
            continue
        lacking = [(path, name) for path, name in named if not zones & homes.get(_ec2_name(name), set())]
        for path, name in lacking:
            elsewhere = sorted(homes.get(_ec2_name(name), ()))
            alone = len(lacking) == len(named)
            yield _Missing(path=path, name=name, zones=zones, elsewhere=elsewhere, alone=alone)


def _offered(look: Look, rule: Rule) -> Iterator[Finding]:
    return (one.told(look, rule) for one in _missing(look) if one.alone)


def _of_use(look: Look, rule: Rule) -> Iterator[Finding]:
    return (one.told(look, rule) for one in _missing(look) if not one.alone)


def _ask_offerings(look: Look) -> list[Call]:
    return [_offerings_call(look), *([look.subnets_call()] if places.subnets(look.spec) else [])]


# -- training plans ------------------------------------------------------------------------------------


def _plan_call(arn: str) -> Call:
    return apis.DESCRIBE_TRAINING_PLAN(TrainingPlanName=arn.rpartition("/")[2])


def _plan_calls(look: Look) -> list[Call]:
    return [_plan_call(arn) for _, arn in places.training_plans(look.spec)]


def _plans_fit(look: Look, rule: Rule) -> Iterator[Finding | Unchecked]:
    for path, arn in places.training_plans(look.spec):
        plan = look.ask(_plan_call(arn), absent=["ResourceNotFound"])
        if plan is None or plan["TrainingPlanArn"] != arn:
            yield rule.finding(path, f"is no training plan of this account in {look.aws.region}", given=arn)
            continue
        yield from _state(rule, path, plan)
        yield from _counts(look, rule, path, plan)
        for placement in places.placements(look.spec):
            if placement.group.training_plan_arn == arn:
                yield from _blocks(look, rule, placement, plan)


def _state(rule: Rule, path: str, plan: dict[str, Any]) -> Iterator[Finding]:
    if plan["Status"] not in ("Active", "Scheduled"):
        yield rule.finding(
            path, f"is {plan['Status']}", given=plan["TrainingPlanName"], allowed="Active or Scheduled"
        )
    targets = plan.get("TargetResources", ["hyperpod-cluster"])
    if "hyperpod-cluster" not in targets:
        yield rule.finding(path, f"is bought for {', '.join(targets)}", allowed="a plan for hyperpod-cluster")


def _counts(look: Look, rule: Rule, path: str, plan: dict[str, Any]) -> Iterator[Finding]:
    arn = plan["TrainingPlanArn"]
    wanted = sum(
        group.instance_count
        for _, group in groups(look.spec)
        if group.training_plan_arn == arn and not unresolved(group.instance_count)
    )
    free = plan.get("AvailableInstanceCount", plan.get("TotalInstanceCount", wanted))
    if plan["Status"] != "Active":
        free = plan.get("TotalInstanceCount", free)
    if wanted > free:
        # nodes of the stack's own cluster are in use, and stay
        free += _own(look, arn)
    if wanted > free:
        yield rule.finding(path, "has too few instances", given=wanted, allowed=f"at most {free}")


def _own(look: Look, arn: str) -> int:
    mine = [
        {"InstanceGroups": [group for group in live_groups(cluster) if group.get("TrainingPlanArn") == arn]}
        for cluster in look.own_clusters()
    ]
    return live_instances(mine).total()


def _blocks(look: Look, rule: Rule, placement: Placement, plan: dict[str, Any]) -> Iterator[Finding]:
    blocks = plan.get("ReservedCapacitySummaries", [])
    wanted = placement.group.instance_types
    fitting = [one for one in blocks if one["InstanceType"] in wanted]
    if not fitting:
        yield rule.finding(
            next((path for path, _ in instance_types(placement.path, placement.group)), placement.path),
            "is not the training plan's",
            given=", ".join(wanted),
            allowed=", ".join(sorted({one["InstanceType"] for one in blocks})) or "none",
        )
        return
    zones, reserved = zones_of(look, placement), _zone_ids(look, fitting)
    if zones and reserved and not zones & reserved:
        yield rule.finding(
            placement.path,
            f"is in {', '.join(sorted(zones))}, and the training plan in {', '.join(sorted(reserved))}",
        )


def _zone_ids(look: Look, blocks: list[dict[str, Any]]) -> set[str]:
    ids = {one.get("AvailabilityZoneId") for one in blocks}
    if None in ids:
        names = {one["ZoneName"]: one["ZoneId"] for one in look.aws.answer(apis.DESCRIBE_ZONES())}
        ids |= {names.get(one.get("AvailabilityZone", "")) for one in blocks}
    return {one for one in ids if one}


def _begun(look: Look, rule: Rule) -> Iterator[Finding]:
    for path, arn in places.training_plans(look.spec):
        plan = look.ask(_plan_call(arn), absent=["ResourceNotFound"])
        if plan and plan["Status"] == "Scheduled":
            yield rule.finding(
                path, f"begins on {plan.get('StartTime', 'a later day')}", given=plan["TrainingPlanName"]
            )


def _has_plans(spec: HyperPodSpec) -> bool:
    return bool(places.training_plans(spec))


CHECKS = (
    Check(
        name="offerings",
        rule=Rule(
            code="HP930",
            title="an instance type that its zone does not have",
            why="the nodes never come up: the service finds no capacity, after minutes to hours",
            fix="choose a zone that offers the type, or another type",
            source="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html",
        ),
        apis=(apis.DESCRIBE_OFFERINGS, apis.DESCRIBE_SUBNETS),
        asks=_ask_offerings,
        find=_offered,
    ),
    Check(
        name="offerings-of-several",
        rule=Rule(
            code="HP933",
            title="one of several instance types that its zone does not have",
            why="nodes come up of the group's other types alone",
            fix="leave the type out, or choose a zone that offers it too",
            source="https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypeOfferings.html",
            severity=Severity.WARNING,
        ),
        apis=(apis.DESCRIBE_OFFERINGS, apis.DESCRIBE_SUBNETS),
        asks=_ask_offerings,
        needed=lambda spec: any(True for _ in flexible(spec)),
        find=_of_use,
    ),
    Check(
        name="training-plan",
        rule=Rule(
            code="HP931",
            title="a training plan that does not fit",
            why="the group gets none of the capacity that is paid for",
            fix="use a plan for HyperPod clusters of the group's instance type, count and zone",
            source=_PLANS,
        ),
        apis=(
            *(apis.DESCRIBE_TRAINING_PLAN, apis.DESCRIBE_SUBNETS, apis.DESCRIBE_ZONES),
            *(apis.LIST_CLUSTERS, apis.DESCRIBE_CLUSTER, apis.LIST_STACK_RESOURCES),
        ),
        asks=_plan_calls,
        needed=_has_plans,
        find=_plans_fit,
    ),
    Check(
        name="training-plan-begun",
        rule=Rule(
            code="HP932",
            title="a training plan that has not begun",
            why="its nodes come up when it begins, and a deployment that waits for them may time out",
            fix="deploy later, or let the deployment not wait for these nodes",
            source=_PLANS,
            severity=Severity.WARNING,
        ),
        apis=(apis.DESCRIBE_TRAINING_PLAN,),
        asks=_plan_calls,
        needed=_has_plans,
        find=_begun,
    ),
)
