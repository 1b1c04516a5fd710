"""The table of policies against the service model."""

import pytest
from handler.cluster.live import LIVE_NAMES
from handler.cluster.policy import TABLE, Policy, Rule, rule_for

from tests.api_shapes import Member, input_shape, service_model, walk

MEMBERS = list(walk(input_shape("CreateCluster")))
UPDATE = set(input_shape("UpdateCluster").members)


def test_every_member_of_the_request_has_a_policy() -> None:
    missing = {
        f"{member.parent.name}.{member.name}"
        for member in MEMBERS
        if member.name not in TABLE.get(member.parent.name, {})
    }
    assert not missing, f"members without a policy in handler/cluster/policy.py: {sorted(missing)}"


def test_the_table_has_no_member_that_the_model_lacks() -> None:
    shapes = {member.parent.name: set(member.parent.members) for member in MEMBERS}
    known = {(shape, member) for shape, members in shapes.items() for member in members}
    assert {(shape, member) for shape, members in TABLE.items() for member in members} <= known


def test_20_what_update_cluster_does_not_take_is_not_in_place() -> None:
    top = TABLE["CreateClusterRequest"]
    assert {name for name, rule in top.items() if rule.policy is Policy.IN_PLACE} <= UPDATE
    assert top["VpcConfig"].policy is Policy.NEW_CLUSTER
    assert top["Tags"].policy is Policy.TAGS


@pytest.mark.parametrize(
    "member", ["InstanceType", "ExecutionRole", "ThreadsPerCore", "OverrideVpcConfig", "CapacityRequirements"]
)
def test_what_the_service_fixes_for_a_group_needs_a_new_group(member: str) -> None:
    assert TABLE["ClusterInstanceGroupSpecification"][member].policy is Policy.NEW_GROUP


def test_part_of_a_value_follows_the_member_above() -> None:
    fixed = rule_for("VpcConfig", "Subnets", Rule(policy=Policy.NEW_GROUP))
    free = rule_for("ClusterLifeCycleConfig", "OnCreate", Rule(policy=Policy.IN_PLACE))
    assert (fixed.policy, fixed.removable) == (Policy.NEW_GROUP, False)
    assert (free.policy, free.removable) == (Policy.IN_PLACE, True)


def _shown_names(member: Member) -> tuple[str, ...]:
    names: tuple[str, ...] = LIVE_NAMES.get((member.parent.name, member.name), (member.name,))
    return names


def test_everything_asked_for_can_be_seen_on_the_living_cluster() -> None:
    """A member that DescribeCluster does not show would never be found to differ."""
    shown = {member.name for member in walk(service_model().operation_model("DescribeCluster").output_shape)}
    unseen = {
        f"{member.parent.name}.{member.name}"
        for member in MEMBERS
        if not shown & set(_shown_names(member)) and member.parent.name != "Tag"
    }
    assert unseen == {"CreateClusterRequest.Tags"}
