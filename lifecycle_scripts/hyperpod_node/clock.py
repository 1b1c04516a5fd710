"""Time: bounds and waiting. Nothing else in the package sleeps."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from hyperpod_node.errors import NodeError, NotYetError
from hyperpod_node.halt import Halt

T = TypeVar("T")


class Clock:
    """The clock that every bound is counted on.

    Args:
        scale: real seconds for each second of the clock; 1 on a node. Rehearsals and tests pass less, so
            that a bound of five minutes is reached in a moment.

    Attributes:
        halt: ends every wait on this clock.
    """

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale
        self.halt = Halt()

    def now(self) -> float:
        """Seconds since some fixed moment."""
        return time.monotonic() / self.scale

    def sleep(self, seconds: float) -> None:
        """Wait for so many seconds of this clock, or raise as soon as the run ends."""
        self.halt.wait(seconds * self.scale)

    def real(self, seconds: float) -> float:
        """The real seconds in so many seconds of this clock."""
        return seconds * self.scale


class Deadline(NamedTuple):
    """The moment a step has to be done by."""

    clock: Clock
    at: float

    @classmethod
    def after(cls, clock: Clock, seconds: float) -> Deadline:
        """The deadline that lies so many seconds ahead."""
        return cls(clock=clock, at=clock.now() + seconds)

    def remaining(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self.at - self.clock.now())


def wait_for(
    condition: Callable[[], T],
    *,
    what: str,
    deadline: Deadline,
    limit_seconds: float,
    say: Callable[[str], None],
    advice: str = "",
    longest_pause_seconds: float = 5.0,
) -> T:
    """Try a condition until it holds, with growing pauses, and hand back its value.

    Args:
        condition: raises NotYetError with the reason while it does not hold.
        what: what is waited for, for the error.
        deadline: the step's own bound; the earlier of the two counts.
        limit_seconds: the bound of this wait.
        say: told why the wait goes on, each time that the reason is another.
        advice: what to do when it never holds.
        longest_pause_seconds: pauses double from a quarter of a second up to this.

    Raises:
        NodeError: the bound has passed; it carries the last reason.
    """
    clock = deadline.clock
    limit = min(limit_seconds, deadline.remaining())
    end = clock.now() + limit
    pause = 0.25
    said = ""
    while True:
        try:
            return condition()
        except NotYetError as reason:
            left = end - clock.now()
            if left <= 0:
                message = f"{what}: still not so after {limit:.0f} s: {reason}"
                raise NodeError(message, advice=advice) from reason
            if str(reason) != said:
                said = str(reason)
                say(f"waiting for {what}: {said}")
            clock.sleep(min(pause, left))
            pause = min(pause * 2, longest_pause_seconds)
