"""Faults as data: what shall go wrong in the emulated service, how often, and where."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from hyperpod_cdk.rehearsal.hyperpod.errors import (
    AccessDeniedError,
    ConflictError,
    InternalError,
    NotFoundError,
    ServiceError,
    ThrottlingError,
)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something that goes wrong.

    Args:
        times: how often it strikes before it is spent; None for always.
    """

    times: int | None = 1


@dataclass(frozen=True, kw_only=True)
class OperationFault(Fault):
    """An API operation that is answered with an error.

    Args:
        operation: name as in the API (``DescribeCluster``); ``*`` for every operation.
        message: text of the answer; empty for the usual one.
        answer_lost: the service does what it was asked to, and then answers with the error all the same, as
            when the connection breaks.
    """

    operation: str = "*"
    message: str = ""
    answer_lost: bool = False

    error: ClassVar[type[ServiceError]] = InternalError
    default_message: ClassVar[str] = ""

    def answer(self) -> ServiceError:
        """Give the error to answer with."""
        return self.error(self.message or self.default_message.format(operation=self.operation))


@dataclass(frozen=True, kw_only=True)
class Throttle(OperationFault):
    """ThrottlingException: "Rate exceeded"."""

    error: ClassVar[type[ServiceError]] = ThrottlingError
    default_message: ClassVar[str] = "Rate exceeded"


@dataclass(frozen=True, kw_only=True)
class ServerError(OperationFault):
    """InternalFailure with HTTP status 500."""

    error: ClassVar[type[ServiceError]] = InternalError
    default_message: ClassVar[str] = "We encountered an internal error. Please try again."


@dataclass(frozen=True, kw_only=True)
class AccessDenied(OperationFault):
    """AccessDeniedException for the caller."""

    error: ClassVar[type[ServiceError]] = AccessDeniedError
    default_message: ClassVar[str] = (
        "User is not authorized to perform: sagemaker:{operation} because no identity-based policy "
        "allows the sagemaker:{operation} action"
    )


@dataclass(frozen=True, kw_only=True)
class Conflict(OperationFault):
    """ConflictException, as while somebody else's request is at work on the cluster."""

    error: ClassVar[type[ServiceError]] = ConflictError
    default_message: ClassVar[str] = "{operation} is not possible while another request changes the cluster."


@dataclass(frozen=True, kw_only=True)
class NotYetVisible(OperationFault):
    """ResourceNotFound for a cluster that is there, as right after its creation."""

    error: ClassVar[type[ServiceError]] = NotFoundError
    default_message: ClassVar[str] = "Could not find cluster."


@dataclass(frozen=True, kw_only=True)
class RoleNotAssumable(Fault):
    """Execution roles can not be assumed yet, as when IAM has not propagated a new role."""


@dataclass(frozen=True, kw_only=True)
class LifecycleFailure(Fault):
    """Node set-up ends with an error.

    Args:
        group: instance group that it strikes; ``*`` for each.
        lines: what the script wrote to its log before it ended.
        exit_code: of the script, not 0.
        nodes: numbers of the nodes in the group, from 1; empty for every node.
    """

    group: str = "*"
    lines: tuple[str, ...] = ("[ERROR] lifecycle script failed",)
    exit_code: int = 1
    nodes: frozenset[int] = frozenset()
    times: int | None = None


@dataclass(frozen=True, kw_only=True)
class InsufficientCapacity(Fault):
    """AWS has no capacity for a node.

    Args:
        group: instance group that it strikes; ``*`` for each.
        nodes: numbers of the nodes in the group, from 1; empty for every node.
    """

    group: str = "*"
    nodes: frozenset[int] = frozenset()
    times: int | None = None


@dataclass(frozen=True, kw_only=True)
class UpdateRollsBack(Fault):
    """An accepted update fails and is rolled back.

    Args:
        reason: goes into the cluster's FailureMessage.
    """

    reason: str = "Configuration drift detected."


@dataclass(frozen=True, kw_only=True)
class AutoscalingFails(Fault):
    """Autoscaling that was turned on does not come up.

    Args:
        reason: goes into AutoScaling's FailureMessage.
    """

    reason: str = "Karpenter could not be installed."


@dataclass(frozen=True, kw_only=True)
class DeleteConflict(Fault):
    """DeleteCluster answers ConflictException though the status allows it."""


@dataclass(frozen=True, kw_only=True)
class DeleteFails(Fault):
    """An accepted deletion ends in status Failed.

    Args:
        reason: goes into the cluster's FailureMessage.
    """

    reason: str = "Failed to delete the cluster. Please try again."


@dataclass(frozen=True, kw_only=True)
class LingeringInterfaces(Fault):
    """Network interfaces outlive their nodes for longer than usual.

    Args:
        seconds: simulated seconds after the node is gone.
    """

    seconds: float = 900
    times: int | None = None


@dataclass(frozen=True, kw_only=True)
class GovernanceFails(Fault):
    """An accepted request about a compute quota or cluster policy fails.

    Args:
        operation: name as in the API (``CreateComputeQuota``); ``*`` for every operation.
        reason: goes into FailureReason.
        rolled_back: False ends in a status such as CreateRollbackFailed.
    """

    operation: str = "*"
    reason: str = "Could not reach the Kubernetes API."
    rolled_back: bool = True


@dataclass(frozen=True, kw_only=True)
class NotYetListed(Fault):
    """The newest compute quota or cluster policy is left out of a list."""


_Kind = TypeVar("_Kind", bound=Fault)
_Placed = TypeVar("_Placed", LifecycleFailure, InsufficientCapacity)


class Faults:
    """The faults in force; add some, take all away."""

    def __init__(self) -> None:
        self._left: list[tuple[Fault, list[int | None]]] = []

    def add(self, *faults: Fault) -> None:
        """Put faults in force, behind those that are."""
        self._left += [(fault, [fault.times]) for fault in faults]

    def clear(self) -> None:
        """Take every fault away."""
        self._left.clear()

    def active(self) -> tuple[Fault, ...]:
        """Give the faults that are not spent, in the order in which they strike."""
        return tuple(fault for fault, left in self._left if left[0] is None or left[0] > 0)

    def strike(self, kind: type[_Kind]) -> _Kind | None:
        """Take the first unspent fault of a kind, and count it; None when there is none."""
        return self._first(fault for fault in self.active() if isinstance(fault, kind))

    def strike_operation(self, operation: str, *, answer_lost: bool = False) -> ServiceError | None:
        """Take the error that an API operation shall be answered with, if any.

        Args:
            operation: name as in the API.
            answer_lost: True after the operation, False before it.
        """
        fault = self._first(
            fault
            for fault in self.active()
            if isinstance(fault, OperationFault)
            and fault.operation in ("*", operation)
            and fault.answer_lost is answer_lost
        )
        return fault.answer() if fault else None

    def strike_governance(self, operation: str) -> GovernanceFails | None:
        """Take the fault that an accepted request about task governance fails of, if any.

        Args:
            operation: name as in the API.
        """
        return self._first(
            fault
            for fault in self.active()
            if isinstance(fault, GovernanceFails) and fault.operation in ("*", operation)
        )

    def strike_node(self, kind: type[_Placed], *, group: str, number: int) -> _Placed | None:
        """Take the fault of a kind that strikes a node, if any.

        Args:
            kind: :class:`LifecycleFailure` or :class:`InsufficientCapacity`.
            group: the node's instance group.
            number: the node's number in it, from 1.
        """
        return self._first(
            fault
            for fault in self.active()
            if isinstance(fault, kind)
            and fault.group in ("*", group)
            and (not fault.nodes or number in fault.nodes)
        )

    def _first(self, candidates: Iterator[_Kind]) -> _Kind | None:
        fault = next(candidates, None)
        if fault is not None:
            self._count(fault)
        return fault

    def _count(self, struck: Fault) -> None:
        for fault, left in self._left:
            if fault is struck and left[0] != 0:
                if left[0] is not None:
                    left[0] -= 1
                return
