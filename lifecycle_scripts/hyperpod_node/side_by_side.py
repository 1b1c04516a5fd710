"""Runs what only waits for others, such as questions to a database, at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class _Call(threading.Thread, Generic[T]):
    """A call in a thread of its own, which keeps what comes of it."""

    def __init__(self, function: Callable[[], T]) -> None:
        # a daemon, since one that is stuck in the kernel must not keep the script from ending
        super().__init__(daemon=True)
        self._function = function
        self._found: list[T] = []
        self._error: BaseException | None = None

    def run(self) -> None:
        try:
            self._found.append(self._function())
        except BaseException as error:  # the one who asked gets it, whatever it is
            self._error = error

    def result(self) -> T:
        self.join()
        if self._error is not None:
            raise self._error
        return self._found[0]


def side_by_side(functions: Sequence[Callable[[], T]]) -> list[T]:
    """Call all of them at once, and give their values in their order.

    Args:
        functions: without arguments; each must end by itself, as every command with a time limit does.

    Raises:
        BaseException: the first one's, in their order, when all have ended.
    """
    calls = [_Call(function) for function in functions]
    for call in calls:
        call.start()
    for call in calls:
        call.join()
    return [call.result() for call in calls]
