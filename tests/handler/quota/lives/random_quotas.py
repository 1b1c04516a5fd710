"""Random quotas, changes of them, and faults, as data that hypothesis can shrink."""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from hyperpod_cdk.rehearsal.hyperpod import (
    AccessDenied,
    Conflict,
    Fault,
    GovernanceFails,
    NotYetListed,
    NotYetVisible,
    OperationFault,
    ServerError,
    Throttle,
)
from tests.handler.quota.samples import TYPE, quota
from tests.handler.random_requests import Edit, invocations, numbers, times
from tests.handler.samples import Request, changed

TEAMS = ("vision", "audio", "text")
FOREIGN = "foreign"
OTHER_TYPE = "ml.g5.8xlarge"
AMOUNTS: tuple[Request, ...] = (
    {"Count": 2},
    {"Count": 3},
    {"Accelerators": 4},
    {"Accelerators": 4, "VCpu": 9.5},
    {"VCpu": 0.1},
    {"Accelerators": 4, "MemoryInGiB": 100.25},
    {"AcceleratorPartition": {"Type": "mig-1g.5gb", "Count": 4}},
)
LIMITS = [{"InstanceType": TYPE, "Accelerators": 2}]
SHARING: tuple[Request, ...] = (
    {"Strategy": "Lend"},
    {"Strategy": "DontLend"},
    {"Strategy": "LendAndBorrow"},
    {"Strategy": "LendAndBorrow", "BorrowLimit": 100},
    {"Strategy": "LendAndBorrow", "BorrowLimit": 100, "AbsoluteBorrowLimits": LIMITS},
)


def _amount(request: Request, number: int) -> None:
    entry = {"InstanceType": TYPE, **AMOUNTS[number % len(AMOUNTS)]}
    resources = request["ComputeQuotaConfig"]["ComputeQuotaResources"]
    others = [one for one in resources if one["InstanceType"] != TYPE]
    request["ComputeQuotaConfig"]["ComputeQuotaResources"] = [entry, *others]


def _other_type(request: Request, number: int) -> None:
    resources = request["ComputeQuotaConfig"]["ComputeQuotaResources"]
    left = [one for one in resources if one["InstanceType"] != OTHER_TYPE]
    more = [{"InstanceType": OTHER_TYPE, "Count": number % 3}] if number % 4 else []
    request["ComputeQuotaConfig"]["ComputeQuotaResources"] = [*left, *more]


def _toggle(place: str, member: str, values: tuple[Any, ...]) -> Edit:
    """A member takes one of some values, or goes."""

    def edit(request: Request, number: int) -> None:
        part = request[place] if place else request
        picked = number % (len(values) + 1)
        part.pop(member, None)
        if picked < len(values):
            part[member] = values[picked]

    return edit


def _tags(request: Request, number: int) -> None:
    keys = [key for bit, key in enumerate(("team", "cost", "stage")) if number & 1 << bit]
    request["Tags"] = [{"Key": key, "Value": f"v{number % 2}"} for key in keys]


def _reorder(request: Request, _: int) -> None:
    request["ComputeQuotaConfig"]["ComputeQuotaResources"].reverse()


EDITS: Mapping[str, Edit] = {
    "amount": _amount,
    "other type": _other_type,
    "weight": _toggle("ComputeQuotaTarget", "FairShareWeight", (0, 5, 100)),
    "sharing": _toggle("ComputeQuotaConfig", "ResourceSharingConfig", SHARING),
    "preempt": _toggle("ComputeQuotaConfig", "PreemptTeamTasks", ("Never", "LowerPriority")),
    "description": _toggle("", "Description", ("ours", "ours too")),
    "activation": _toggle("", "ActivationState", ("Disabled", "Enabled")),
    "tags": _tags,
    "reorder": _reorder,
}
"""Changes that a living quota takes."""

REFUSED: Mapping[str, Edit] = {
    "team": lambda request, _: request["ComputeQuotaTarget"].update(TeamName="renamed"),
    "name": lambda request, _: request.update(Name="renamed"),
    "typo": lambda request, _: request.update(Descriptoin="x"),
    "count": lambda request, _: request["ComputeQuotaConfig"].update(
        ComputeQuotaResources=[{"InstanceType": TYPE, "Count": "two"}]
    ),
    "range": lambda request, _: request["ComputeQuotaTarget"].update(FairShareWeight=-1),
    "no target": lambda request, _: request.pop("ComputeQuotaTarget"),
}
"""Changes that must be refused before any call that changes something."""

edits = st.lists(st.tuples(st.sampled_from(sorted(EDITS)), numbers), max_size=4)
refused = st.tuples(st.sampled_from(sorted(REFUSED)), numbers)


def edited(request: Request, changes: list[tuple[str, int]]) -> Request:
    """A copy of a request with some of the changes of :data:`EDITS` and :data:`REFUSED`."""

    def change(copied: Request) -> None:
        for name, number in changes:
            {**EDITS, **REFUSED}[name](copied, number)

    return changed(request, change)


def first_request(cluster_arn: str, team: str, changes: Any) -> Request:
    """A new quota."""
    return edited(quota(cluster_arn, team), changes)


CHANGES = ("CreateComputeQuota", "UpdateComputeQuota", "DeleteComputeQuota", "AddTags", "DeleteTags")
READS = ("ListComputeQuotas", "DescribeComputeQuota", "ListTags")


def _answered(error: type[OperationFault], operation: str, times: int | None) -> Fault:
    return error(operation=operation, times=times)


faults: st.SearchStrategy[Fault] = st.one_of(
    st.builds(
        _answered,
        error=st.sampled_from((Throttle, ServerError)),
        operation=st.sampled_from((*READS, "*")),
        times=st.sampled_from((1, 2)),
    ),
    st.builds(
        _answered,
        error=st.sampled_from((Throttle, ServerError, AccessDenied, Conflict)),
        operation=st.sampled_from((*CHANGES, *READS, "*")),
        times=times,
    ),
    st.builds(
        ServerError,
        operation=st.sampled_from(CHANGES),
        times=st.sampled_from((1, 1, 2)),
        answer_lost=st.just(True),
    ),
    st.builds(
        GovernanceFails,
        operation=st.sampled_from(("*", *CHANGES[:3])),
        reason=st.sampled_from(("no add-on", '"x" ' * 250, "")),
        rolled_back=st.booleans(),
        times=st.sampled_from((1, 2, 3)),
    ),
    st.builds(NotYetVisible, operation=st.just("DescribeComputeQuota")),
    st.builds(NotYetListed),
)

__all__ = ["edits", "faults", "invocations", "numbers", "refused"]
