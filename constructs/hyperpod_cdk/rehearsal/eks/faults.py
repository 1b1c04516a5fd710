"""What shall go wrong in the emulated Amazon EKS, as data."""

from __future__ import annotations

from dataclasses import dataclass

from hyperpod_cdk.rehearsal.eks.errors import EksError


@dataclass(frozen=True, kw_only=True)
class OperationFails:
    """An API operation that is answered with an error.

    Args:
        operation: name as in the API.
        error: the answer.
        times: how often.
    """

    operation: str
    error: EksError
    times: int = 1


@dataclass(frozen=True, kw_only=True)
class AddOnFails:
    """An add-on that does not come up.

    Args:
        name: of the add-on.
        status: what it ends in: ``CREATE_FAILED`` or ``DEGRADED``.
        code: of the issue that it shows.
        message: of the issue.
        times: how often.
    """

    name: str
    status: str = "CREATE_FAILED"
    code: str = "InternalFailure"
    message: str = "The add-on could not be installed."
    times: int = 1


class Faults:
    """The faults in force."""

    def __init__(self) -> None:
        self._left: list[tuple[OperationFails | AddOnFails, list[int]]] = []

    def add(self, *faults: OperationFails | AddOnFails) -> None:
        """Put faults in force."""
        self._left += [(fault, [fault.times]) for fault in faults]

    def strike_operation(self, operation: str) -> EksError | None:
        """Take the error that an operation shall be answered with, if any."""
        for fault, left in self._left:
            if isinstance(fault, OperationFails) and fault.operation == operation and left[0]:
                left[0] -= 1
                return fault.error
        return None

    def strike_add_on(self, name: str) -> AddOnFails | None:
        """Take the fault that strikes an add-on, if any."""
        for fault, left in self._left:
            if isinstance(fault, AddOnFails) and fault.name == name and left[0]:
                left[0] -= 1
                return fault
        return None
