"""Creating, updating, deleting, describing and listing compute quotas and cluster policies."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from typing import Any

from hyperpod_cdk.rehearsal.hyperpod import allocation, paging
from hyperpod_cdk.rehearsal.hyperpod.errors import (
    ConflictError,
    LimitExceededError,
    NotFoundError,
    ValidationError,
)
from hyperpod_cdk.rehearsal.hyperpod.faults import NotYetListed
from hyperpod_cdk.rehearsal.hyperpod.governance import (
    BUSY,
    KINDS,
    POLICY,
    QUOTA,
    UPDATABLE,
    Governed,
    GovernedStatus,
    Kind,
)
from hyperpod_cdk.rehearsal.hyperpod.operations import lookup
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation
from hyperpod_cdk.rehearsal.hyperpod.state import Cluster, ClusterStatus, Spec

_LIVING = (ClusterStatus.IN_SERVICE, ClusterStatus.UPDATING, ClusterStatus.SYSTEM_UPDATING)
_FAILED: Mapping[str, tuple[GovernedStatus, GovernedStatus]] = {
    "Create": (GovernedStatus.CREATE_FAILED, GovernedStatus.CREATE_ROLLBACK_FAILED),
    "Update": (GovernedStatus.UPDATE_FAILED, GovernedStatus.UPDATE_ROLLBACK_FAILED),
    "Delete": (GovernedStatus.DELETE_FAILED, GovernedStatus.DELETE_ROLLBACK_FAILED),
}
_KEYS: Mapping[str, Callable[[Governed], Any]] = {
    "Name": lambda one: one.name,
    "CreationTime": lambda one: one.created_at,
    "Status": lambda one: one.status,
    "ClusterArn": lambda one: one.cluster_arn,
}


def create(kind: Kind, sim: Simulation, request: Spec) -> Spec:
    """Accept a new one and begin to make it.

    Args:
        kind: of what.
        sim: the simulation.
        request: a request that the API model allows.

    Raises:
        NotFoundError: there is no such cluster.
        ValidationError: no Kubernetes runs on it.
        ConflictError: the name or the team is taken, or the cluster is not in service.
    """
    owner = lookup.cluster(sim, request["ClusterArn"])
    if not owner.is_eks:
        raise ValidationError("Task governance is only supported for clusters that Amazon EKS orchestrates.")
    lookup.require_status(owner, _LIVING)
    content = _content(kind, request)
    new_id = sim.new_cluster_id()
    account, now = sim.account, sim.timeline.now()
    new = Governed(
        kind=kind,
        id=new_id,
        arn=f"arn:{account.partition}:sagemaker:{account.region}:{account.account_id}:{kind.resource}/{new_id}",
        name=request["Name"],
        cluster_arn=owner.arn,
        created_at=now,
        modified_at=now,
        content=content,
        tags=list(request.get("Tags", [])),
        history={1: content},
    )
    _require_free(sim, new)
    sim.governed[new_id] = new
    unready = sim.governance_readiness(owner)
    _later(sim, new, "Create", GovernedStatus.CREATED, unready=unready)
    return {kind.arn_member: new.arn, kind.id_member: new.id}


def update(kind: Kind, sim: Simulation, request: Spec) -> Spec:
    """Accept a new version and begin to apply it; members that are not given stay as they are.

    Raises:
        NotFoundError: there is none.
        ConflictError: it is busy or was never made, TargetVersion is not its version, or the team is taken.
        LimitExceededError: it has as many versions as the account allows.
    """
    one = _find(sim, kind, request[kind.id_member])
    if one.status not in UPDATABLE:
        raise ConflictError(f"The {kind.noun} '{one.name}' is in status {one.status}.")
    if request["TargetVersion"] != one.version:
        raise ConflictError(
            f"TargetVersion {request['TargetVersion']} is not the version of the {kind.noun} '{one.name}', "
            f"which is {one.version}."
        )
    limit = sim.quotas.governance_versions
    if limit is not None and one.version >= limit:
        raise LimitExceededError(
            f"The account-level service limit 'Number of versions of a {kind.noun}' is {limit}, with current "
            f"utilization of {one.version} and a request delta of 1."
        )
    before, content = one.content, {**one.content, **_content(kind, request)}
    one.content = content
    _require_free(sim, one, undo=lambda: setattr(one, "content", before))
    one.version += 1
    one.history[one.version] = content
    one.status, one.failure_reason, one.modified_at = GovernedStatus.UPDATING, "", sim.timeline.now()
    _later(sim, one, "Update", GovernedStatus.UPDATED, before=before)
    return {kind.arn_member: one.arn, kind.version_member: one.version}


def delete(kind: Kind, sim: Simulation, request: Spec) -> Spec:
    """Begin to delete one; one that is going already is left to go.

    Raises:
        NotFoundError: there is none.
        ConflictError: it is being made or updated.
    """
    one = _find(sim, kind, request[kind.id_member])
    if one.status is GovernedStatus.DELETED:
        raise _missing(kind, one.id)
    if one.status is GovernedStatus.DELETING:
        return {}
    if one.status in BUSY:
        raise ConflictError(f"The {kind.noun} '{one.name}' is in status {one.status}.")
    one.status, one.failure_reason = GovernedStatus.DELETING, ""
    _later(sim, one, "Delete", GovernedStatus.DELETED)
    return {}


def describe(kind: Kind, sim: Simulation, request: Spec) -> Spec:
    """Answer Describe…, of the newest version or of an earlier one."""
    one = _find(sim, kind, request[kind.id_member])
    version = request.get(kind.version_member, one.version)
    if version not in one.history:
        raise _missing(kind, f"{one.id}, version {version}")
    content = one.content if version == one.version else one.history[version]
    answer = {**_summary(one), **_shown(kind, content), kind.version_member: version}
    return {**answer, "FailureReason": one.failure_reason} if one.failure_reason else answer


def list_all(kind: Kind, sim: Simulation, request: Spec) -> Spec:
    """Answer List…; the newest first unless asked otherwise."""
    is_within = paging.within(request, "CreatedAfter", "CreatedBefore")
    found = [
        one
        for one in _listed(sim, kind)
        if request.get("NameContains", "") in one.name
        and request.get("Status", one.status) == one.status
        and request.get("ClusterArn", one.cluster_arn) == one.cluster_arn
        and is_within(one.created_at)
    ]
    by = {"SortOrder": "Descending", **request}
    page, rest = paging.page(paging.ordered(found, by, _KEYS, default="CreationTime"), request)
    extra = ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState") if kind is QUOTA else ()
    summaries = [
        {**_summary(one), **{name: _shown(kind, one.content)[name] for name in extra}} for one in page
    ]
    return {f"{kind.word}Summaries": summaries, **rest}


def by_arn(sim: Simulation, arn: str) -> Governed:
    """Give a quota or policy by its ARN.

    Raises:
        NotFoundError: there is none.
    """
    kind = KINDS[arn.rsplit(":", maxsplit=1)[-1].split("/", maxsplit=1)[0]]
    return _find(sim, kind, arn.rsplit("/", 1)[-1])


def forget(sim: Simulation, owner: Cluster) -> None:
    """Take away what belonged to a cluster that is gone."""
    for gone in [one.id for one in sim.governed.values() if one.cluster_arn == owner.arn]:
        del sim.governed[gone]


def _operations() -> Iterator[tuple[str, Callable[[Simulation, Spec], Spec]]]:
    for kind in (QUOTA, POLICY):
        yield f"Create{kind.word}", partial(create, kind)
        yield f"Update{kind.word}", partial(update, kind)
        yield f"Delete{kind.word}", partial(delete, kind)
        yield f"Describe{kind.word}", partial(describe, kind)
        yield f"List{kind.word}s", partial(list_all, kind)


OPERATIONS: Mapping[str, Callable[[Simulation, Spec], Spec]] = dict(_operations())
"""The operations of both kinds by their names in the API."""


def _content(kind: Kind, request: Spec) -> Spec:
    return deepcopy({name: request[name] for name in kind.members if name in request})


def _shown(kind: Kind, content: Spec) -> Spec:
    return allocation.shown(content) if kind is QUOTA else content


def _summary(one: Governed) -> Spec:
    kind = one.kind
    return {
        kind.arn_member: one.arn,
        kind.id_member: one.id,
        kind.version_member: one.version,
        "Name": one.name,
        "ClusterArn": one.cluster_arn,
        "Status": one.status,
        "CreationTime": one.created_at,
        "LastModifiedTime": one.modified_at,
    }


def _listed(sim: Simulation, kind: Kind) -> list[Governed]:
    found = [one for one in sim.governed.values() if one.kind is kind]
    if found and sim.faults.strike(NotYetListed):
        found.remove(max(found, key=lambda one: one.created_at))
    return found


def _find(sim: Simulation, kind: Kind, wanted: str) -> Governed:
    one = sim.governed.get(wanted)
    if one is None or one.kind is not kind:
        raise _missing(kind, wanted)
    return one


def _missing(kind: Kind, wanted: str) -> NotFoundError:
    return NotFoundError(f"Could not find {kind.noun} '{wanted}'.")


def _require_free(sim: Simulation, new: Governed, *, undo: Callable[[], None] = lambda: None) -> None:
    """Refuse a name that is taken in the cluster (API: Name), or a team that has a quota.

    That a team has one quota is assumed: its namespace and queues are made after it.
    """
    for one in sim.governed.values():
        if one is new or one.kind is not new.kind or one.cluster_arn != new.cluster_arn or not one.is_there:
            continue
        if one.name == new.name:
            undo()
            raise ConflictError(f"A {new.kind.noun} with name '{new.name}' already exists in the cluster.")
        if new.kind is QUOTA and one.team == new.team:
            undo()
            raise ConflictError(f"Team '{new.team}' already has the {new.kind.noun} '{one.name}'.")


def _later(
    sim: Simulation,
    one: Governed,
    verb: str,
    success: GovernedStatus,
    *,
    before: Spec | None = None,
    unready: str = "",
) -> None:
    def finish() -> None:
        fault = sim.faults.strike_governance(f"{verb}{one.kind.word}")
        if fault is None and not unready:
            one.status = success
            if success is GovernedStatus.DELETED:
                sim.timeline.after(sim.durations.governance_forgotten, vanish)
            return
        one.status = _FAILED[verb][fault is not None and not fault.rolled_back]
        one.failure_reason = fault.reason if fault else unready
        if before is not None:
            one.content = before

    def vanish() -> None:
        sim.governed.pop(one.id, None)

    sim.timeline.after(sim.durations.governance, finish)
