"""What is sent: every member of an update, and nothing that the service only fills in."""

from datetime import UTC, datetime
from typing import Any

import pytest
from handler.quota.difference import DEFAULTS, changes
from handler.quota.live import Live
from handler.quota.request import PARTS, Desired

from hyperpod_cdk.rehearsal.hyperpod import allocation
from tests.api_shapes import input_shape, walk
from tests.handler.quota.samples import TYPE, quota
from tests.handler.samples import Request

ARN = "arn:aws:sagemaker:us-west-2:123456789012:cluster/abcdefghijkl"
BORROWS = {"Strategy": "LendAndBorrow", "BorrowLimit": 100}


def config(*resources: Request, **members: Any) -> Request:
    entries = [{"InstanceType": TYPE, **resource} for resource in resources]
    return {"ComputeQuotaConfig": {"ComputeQuotaResources": entries, **members}}


def target(**members: Any) -> Request:
    return {"ComputeQuotaTarget": {"TeamName": "vision", **members}}


def sent(new: Request, old: Request, live: Request | None = None) -> Request:
    """What is sent for one request after another, of which the service shows what it fills in."""
    asked = [Desired(request=quota(ARN, **request)) for request in (new, old)]
    content = {
        name: value for name, value in quota(ARN, **(old if live is None else live)).items() if name in PARTS
    }
    now = datetime(2026, 11, 30, tzinfo=UTC)
    described = {**allocation.shown(content), "Name": "vision", "Status": "Created", "CreationTime": now}
    return changes(asked[0], asked[1], Live(description=described))


@pytest.mark.parametrize(
    "request_",
    [
        {},
        config({"Count": 1}),
        config({"Accelerators": 4}),
        config({"Accelerators": 4, "VCpu": 1.5}),
        config({"VCpu": 0.1}),
        config({"MemoryInGiB": 100}),
        config({"AcceleratorPartition": {"Type": "mig-1g.5gb", "Count": 4}}),
        config({"Count": 1}, ResourceSharingConfig=BORROWS, PreemptTeamTasks="Never"),
        config(ResourceSharingConfig={"Strategy": "DontLend"}),
        target(FairShareWeight=0),
        {"ActivationState": "Enabled", "Description": "theirs"},
    ],
)
def test_the_same_again_sends_nothing(request_: Request) -> None:
    assert sent(request_, request_) == {}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (config({"Count": 1}), config({"Count": 2}), config({"Count": 2})),
        (config({"Count": 1}), config(), config()),
        (
            config({"Accelerators": 4}),
            config({"Accelerators": 4, "VCpu": 9}),
            config({"Accelerators": 4, "VCpu": 9}),
        ),
        (config({"Accelerators": 4, "VCpu": 9}), config({"Accelerators": 4}), config({"Accelerators": 4})),
        (
            config({"AcceleratorPartition": {"Type": "mig-1g.5gb", "Count": 4}}),
            config({"AcceleratorPartition": {"Type": "mig-2g.10gb", "Count": 4}}),
            config({"AcceleratorPartition": {"Type": "mig-2g.10gb", "Count": 4}}),
        ),
        (target(FairShareWeight=5), target(FairShareWeight=6), target(FairShareWeight=6)),
        (target(FairShareWeight=5), target(), target(FairShareWeight=0)),
        ({"ActivationState": "Disabled"}, {}, {"ActivationState": "Enabled"}),
        ({"Description": "a"}, {}, {"Description": ""}),
        ({}, {"Description": "a"}, {"Description": "a"}),
        (
            config({"Count": 1}, PreemptTeamTasks="Never"),
            config({"Count": 1}),
            config({"Count": 1}, PreemptTeamTasks="LowerPriority"),
        ),
        (
            config({"Count": 1}, ResourceSharingConfig=BORROWS),
            config({"Count": 1}),
            config({"Count": 1}, ResourceSharingConfig={"Strategy": "LendAndBorrow", "BorrowLimit": 50}),
        ),
        (
            config(ResourceSharingConfig=BORROWS),
            config(ResourceSharingConfig={"Strategy": "LendAndBorrow"}),
            config(ResourceSharingConfig={"Strategy": "LendAndBorrow", "BorrowLimit": 50}),
        ),
        (
            config(ResourceSharingConfig=BORROWS),
            config(ResourceSharingConfig={"Strategy": "Lend"}),
            config(ResourceSharingConfig={"Strategy": "Lend"}),
        ),
        (
            config(
                ResourceSharingConfig={
                    **BORROWS,
                    "AbsoluteBorrowLimits": [{"InstanceType": TYPE, "Count": 1}],
                }
            ),
            config(ResourceSharingConfig=BORROWS),
            config(ResourceSharingConfig={**BORROWS, "AbsoluteBorrowLimits": []}),
        ),
    ],
)
def test_what_changes_is_sent_whole_and_alone(old: Request, new: Request, expected: Request) -> None:
    assert sent(new, old) == expected


def test_an_update_that_never_took_effect_is_not_undone() -> None:
    """A rollback after a refusal: old and new are swapped, and the quota is as it was."""
    before, failed = config({"Accelerators": 4}), config({"Accelerators": 4, "VCpu": 9})
    assert sent(before, failed, live=before) == {}
    assert sent({}, {"Description": "a"}, live={}) == {}


def test_what_somebody_else_changed_is_brought_back() -> None:
    asked, theirs = config({"Count": 1}), config({"Count": 5})
    assert sent(asked, asked, live=theirs) == asked
    more = config({"Count": 1}, {"InstanceType": "ml.g5.8xlarge", "Count": 1})
    assert sent(asked, asked, live=more) == asked


def test_what_was_never_asked_for_is_the_services() -> None:
    assert sent({}, {}, live={"Description": "somebody's", "ActivationState": "Disabled"}) == {}


def test_fractions_of_32_bits_are_equal() -> None:
    asked = config({"VCpu": 0.1})
    assert sent(asked, asked, live=config({"VCpu": 0.10000000149011612})) == {}
    assert sent(asked, asked, live=config({"VCpu": 0.11})) == asked


def test_the_order_of_entries_says_nothing() -> None:
    first, second = {"InstanceType": "ml.g5.8xlarge", "Count": 1}, {"InstanceType": TYPE, "Count": 1}
    assert sent(config(first, second), config(second, first)) == {}


def test_every_member_of_the_request_is_accounted_for() -> None:
    """A member born tomorrow must not be one that no update sends."""
    create = input_shape("CreateComputeQuota").members
    assert set(create) == {*PARTS, "Name", "ClusterArn", "Tags"}
    assert set(input_shape("UpdateComputeQuota").members) == {*PARTS, "ComputeQuotaId", "TargetVersion"}
    optional = {
        member.name
        for part in PARTS
        for member in walk(create[part])
        if not member.required and member.parent.name != "ComputeQuotaResourceConfig"
    }
    assert optional | {"Description", "ActivationState"} == set(DEFAULTS)
