"""Random clusters, changes of them, and faults, as data that hypothesis can shrink."""

from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st

from hyperpod_cdk.rehearsal.hyperpod import (
    AccessDenied,
    DeleteConflict,
    DeleteFails,
    Fault,
    InsufficientCapacity,
    LifecycleFailure,
    LingeringInterfaces,
    OperationFault,
    RoleNotAssumable,
    ServerError,
    Throttle,
    UpdateRollsBack,
)
from tests.handler.samples import NEW_SCRIPTS, OTHER_ROLE, Request, changed, cluster, group

NAMES = ("ml", "ml-2", "ml-3")
FOREIGN = "foreign"
GROUPS = ("a", "b", "c")
SCRIPTS = {"SourceS3Uri": NEW_SCRIPTS, "OnCreate": "on_create.sh"}
STRATEGIES = ("Managed", "Overwrite", "Merge")
CHECKS = (["InstanceStress"], ["InstanceStress", "InstanceConnectivity"])
CALLS = ("*", "CreateCluster", "UpdateCluster", "DeleteCluster", "DescribeCluster", "ListTags", "AddTags")
CHANGES = (
    "CreateCluster",
    "UpdateCluster",
    "UpdateClusterSoftware",
    "DeleteCluster",
    "AddTags",
    "DeleteTags",
)
LONG_LOG = tuple(f'{number}: "{"x" * 600}"' for number in range(30))

Edit = Callable[[Request, int], object]


def _compute(request: Request) -> list[Request]:
    return [entry for entry in request["InstanceGroups"] if entry["InstanceGroupName"] in GROUPS]


def _one(request: Request, number: int) -> Request:
    groups = _compute(request)
    return groups[number % len(groups)]


def _scale(request: Request, number: int) -> None:
    entry = _one(request, number)
    entry["InstanceCount"] = 1 + number // len(GROUPS) % 3
    if entry.get("MinInstanceCount", 0) > entry["InstanceCount"]:
        del entry["MinInstanceCount"]


def _minimum(request: Request, number: int) -> None:
    if request.get("NodeProvisioningMode"):
        entry = _one(request, number)
        entry["MinInstanceCount"] = number % (entry["InstanceCount"] + 1)


def _add_or_remove(request: Request, number: int) -> None:
    name = GROUPS[number % len(GROUPS)]
    left = [entry for entry in request["InstanceGroups"] if entry["InstanceGroupName"] != name]
    if len(left) == len(request["InstanceGroups"]):
        left.append(group(name, count=1 + number % 2))
    if any(entry["InstanceGroupName"] in GROUPS for entry in left):
        request["InstanceGroups"] = left


def _toggle(member: str, values: tuple[Any, ...]) -> Edit:
    """A group's member takes one of some values, or goes."""

    def edit(request: Request, number: int) -> None:
        entry = _one(request, number)
        picked = number // len(GROUPS) % (len(values) + 1)
        if picked < len(values):
            entry[member] = values[picked]
        else:
            entry.pop(member, None)

    return edit


def _scripts(request: Request, number: int) -> None:
    for entry in request["InstanceGroups"]:
        entry["LifeCycleConfig"] = {**entry["LifeCycleConfig"], "SourceS3Uri": f"{NEW_SCRIPTS}{number % 3}"}


def _tags(request: Request, number: int) -> None:
    keys = [key for bit, key in enumerate(("team", "cost", "stage")) if number & 1 << bit]
    request["Tags"] = [{"Key": key, "Value": f"v{number % 2}"} for key in keys]


def _recovery(request: Request, number: int) -> None:
    request.pop("NodeRecovery", None)
    if number % 3:
        request["NodeRecovery"] = ("None", "Automatic")[number % 2]


def _strategy(request: Request, number: int) -> None:
    if "NodeProvisioningMode" not in request:
        request["Orchestrator"] = {"Slurm": {"SlurmConfigStrategy": STRATEGIES[number % 3]}}


def _reorder(request: Request, number: int) -> None:
    at = number % len(request["InstanceGroups"])
    request["InstanceGroups"] = request["InstanceGroups"][at:] + request["InstanceGroups"][:at]
    for entry in request["InstanceGroups"]:
        if "OnStartDeepHealthChecks" in entry:
            entry["OnStartDeepHealthChecks"] = entry["OnStartDeepHealthChecks"][::-1]


EDITS: Mapping[str, Edit] = {
    "scale": _scale,
    "minimum": _minimum,
    "group": _add_or_remove,
    "checks": _toggle("OnStartDeepHealthChecks", CHECKS),
    "release": _toggle("ImageReleaseVersion", ("1.0.0", "1.1.0")),
    "scripts": _scripts,
    "tags": _tags,
    "recovery": _recovery,
    "strategy": _strategy,
    "reorder": _reorder,
}
"""Changes that a living cluster takes."""


def _rename_controller(request: Request, _: int) -> None:
    for entry in request["InstanceGroups"]:
        if entry["InstanceGroupName"] == "controller":
            entry["InstanceGroupName"] = "head"


REFUSED: Mapping[str, Edit] = {
    "type": lambda request, number: _one(request, number).update(InstanceType="ml.m5.large"),
    "role": lambda request, number: _one(request, number).update(ExecutionRole=OTHER_ROLE),
    "controller": _rename_controller,
    "typo": lambda request, number: _one(request, number).update(InstanceTypo="x"),
    "no groups": lambda request, _: request.update(InstanceGroups=[]),
    "range": lambda request, number: _one(request, number).update(InstanceCount=-1),
    "network": lambda request, _: request.update(
        VpcConfig={"SecurityGroupIds": ["sg-0123456789abcdef0"], "Subnets": ["subnet-0123456789abcdef0"]}
    ),
}
"""Changes that must be refused before any call."""

numbers = st.integers(0, 11)
edits = st.lists(st.tuples(st.sampled_from(sorted(EDITS)), numbers), max_size=4)
refused = st.tuples(st.sampled_from(sorted(REFUSED)), numbers)
invocations = st.sampled_from((1, 1, 2))


def edited(request: Request, changes: list[tuple[str, int]]) -> Request:
    """A copy of a request with some of the changes of :data:`EDITS` and :data:`REFUSED`."""

    def change(copied: Request) -> None:
        for name, number in changes:
            {**EDITS, **REFUSED}[name](copied, number)

    return changed(request, change)


def first_request(name: str, *, continuous: bool, vpc: Request | None, changes: Any) -> Request:
    """A new cluster."""
    network = {"VpcConfig": vpc} if vpc else {}
    groups = [group("controller", "Controller"), group("a", count=2)]
    return edited(cluster(*groups, continuous=continuous, **network, ClusterName=name), changes)


times = st.sampled_from((1, 2, 3, 5, 8, 12, None))


def _answered(error: type[OperationFault], operation: str, times: int | None) -> Fault:
    return error(operation=operation, times=times)


faults: st.SearchStrategy[Fault] = st.one_of(
    st.builds(
        _answered,
        error=st.sampled_from((Throttle, ServerError)),
        operation=st.sampled_from(("DescribeCluster", "ListTags", "*")),
        times=st.sampled_from((1, 2)),
    ),
    st.builds(
        _answered,
        error=st.sampled_from((Throttle, ServerError, AccessDenied)),
        operation=st.sampled_from(CALLS),
        times=times,
    ),
    st.builds(
        ServerError,
        operation=st.sampled_from(CHANGES),
        times=st.sampled_from((1, 1, 2)),
        answer_lost=st.just(True),
    ),
    st.builds(RoleNotAssumable, times=times),
    st.builds(InsufficientCapacity, group=st.sampled_from(("*", *GROUPS)), times=times),
    st.builds(
        LifecycleFailure,
        group=st.sampled_from(("*", "controller", *GROUPS)),
        nodes=st.sampled_from((frozenset[int](), frozenset({2}))),
        lines=st.sampled_from((LONG_LOG, ("[ERROR] no such disk",))),
        times=times,
    ),
    st.builds(UpdateRollsBack, times=st.integers(1, 2)),
    st.builds(DeleteConflict, times=times),
    st.builds(DeleteFails, times=st.integers(1, 2)),
    st.builds(LingeringInterfaces, seconds=st.sampled_from((300.0, 9000.0)), times=times),
)


def is_mild(fault: Fault) -> bool:
    """Whether an operation must succeed in spite of it."""
    short = isinstance(fault, Throttle | ServerError) and fault.times in (1, 2)
    return short or isinstance(fault, LingeringInterfaces)
