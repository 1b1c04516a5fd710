"""Refusals about instance groups as such."""

from collections import Counter
from collections.abc import Iterator

from hyperpod_cdk.rehearsal.hyperpod.references import groups_of
from hyperpod_cdk.rehearsal.hyperpod.rules.common import (
    Rule,
    groups,
    is_continuous,
    is_eks,
    node_type,
    types_of,
)
from hyperpod_cdk.rehearsal.hyperpod.state import Spec
from hyperpod_cdk.service import instance_types


def has_a_group(request: Spec) -> Iterator[str]:
    """A cluster has a group; on Amazon EKS with Continuous provisioning it may start without."""
    if not groups_of(request) and not (is_eks(request) and is_continuous(request)):
        yield "At least one instance group must be specified in InstanceGroups or RestrictedInstanceGroups."


def names_are_unique(request: Spec) -> Iterator[str]:
    """Group names are unique in the cluster, restricted groups included."""
    for name, count in Counter(group["InstanceGroupName"] for group in groups_of(request)).items():
        if count > 1:
            yield f"Instance group names must be unique, but '{name}' is given {count} times."


def one_kind_of_type(request: Spec) -> Iterator[str]:
    """A group names either one instance type or several acceptable ones."""
    for group in groups(request):
        if ("InstanceType" in group) == ("InstanceRequirements" in group):
            yield (
                f"Instance group '{group['InstanceGroupName']}' must specify exactly one of InstanceType "
                "and InstanceRequirements."
            )
        types = group.get("InstanceRequirements", {}).get("InstanceTypes", [])
        if len(set(types)) < len(types):
            yield (
                f"InstanceTypes of instance group '{group['InstanceGroupName']}' must be unique, "
                f"but are {', '.join(types)}."
            )


def minimum_is_within_count(request: Spec) -> Iterator[str]:
    """MinInstanceCount is at most InstanceCount."""
    for group in groups(request):
        minimum, count = group.get("MinInstanceCount", 0), group["InstanceCount"]
        if minimum > count:
            yield (
                f"MinInstanceCount {minimum} of instance group '{group['InstanceGroupName']}' must not "
                f"exceed its InstanceCount {count}."
            )


def override_needs_a_vpc(request: Spec) -> Iterator[str]:
    """OverrideVpcConfig overrides something: the cluster has a VpcConfig."""
    for group in groups_of(request):
        if "OverrideVpcConfig" in group and "VpcConfig" not in request:
            yield (
                f"OverrideVpcConfig of instance group '{group['InstanceGroupName']}' is only supported for "
                "clusters with VpcConfig."
            )


def controller_has_no_training_plan(request: Spec) -> Iterator[str]:
    """Capacity of a training plan is not for controllers."""
    for group in groups(request):
        if node_type(group) == "Controller" and "TrainingPlanArn" in group:
            yield (
                "A training plan can not be used for the controller instance group "
                f"'{group['InstanceGroupName']}'."
            )


def interfaces_need_efa(request: Spec) -> Iterator[str]:
    """Interfaces of EFA are for types that have it: …/APIReference/API_ClusterNetworkInterface.html."""
    for group in groups(request):
        for name in types_of(group) if "NetworkInterface" in group else ():
            kind = instance_types.find(name)
            if kind is not None and not kind.efa_interfaces:
                yield (
                    f"InterfaceType {group['NetworkInterface'].get('InterfaceType')} of instance group "
                    f"'{group['InstanceGroupName']}' is not supported for {name}, which has no EFA."
                )


GROUP_RULES: tuple[Rule, ...] = (
    has_a_group,
    names_are_unique,
    one_kind_of_type,
    minimum_is_within_count,
    override_needs_a_vpc,
    controller_has_no_training_plan,
    interfaces_need_efa,
)
