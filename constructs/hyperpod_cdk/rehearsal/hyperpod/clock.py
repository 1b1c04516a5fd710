"""Simulated time: a clock that is moved by hand or runs fast, and what is due when."""

import heapq
import itertools
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta


def _wall_clock() -> datetime:
    return datetime.now(UTC).replace(microsecond=0, tzinfo=None)


class Clock:
    """The time inside the emulated service.

    At first it stands still and only :meth:`advance` moves it, which makes tests deterministic.
    With a :attr:`speed` it also runs along with real time.

    Args:
        start: first instant, naive UTC (moto's convention); default: now.
        real_seconds: source of real time in seconds; default :func:`time.monotonic`.
    """

    def __init__(
        self, start: datetime | None = None, *, real_seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self.start = start or _wall_clock()
        self._real_seconds = real_seconds
        self._speed = 0.0
        self._anchor = real_seconds()
        self._elapsed = 0.0

    @property
    def speed(self) -> float:
        """Simulated seconds for each real second; 0 (the default) is a clock that stands still."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        if speed < 0:
            raise ValueError(f"speed must be 0 or more simulated seconds a second, got: {speed}")
        self._elapsed = self.elapsed()
        self._anchor = self._real_seconds()
        self._speed = speed

    def elapsed(self) -> float:
        """Give the simulated seconds since :attr:`start`."""
        return self._elapsed + (self._real_seconds() - self._anchor) * self._speed

    def now(self) -> datetime:
        """Give the simulated instant, naive UTC."""
        return self.at(self.elapsed())

    def at(self, elapsed: float) -> datetime:
        """Give the instant that lies ``elapsed`` seconds after :attr:`start`."""
        return self.start + timedelta(seconds=elapsed)

    def advance(self, seconds: float) -> None:
        """Move the clock forward.

        Args:
            seconds: simulated seconds, 0 or more.
        """
        if seconds < 0:
            raise ValueError(f"the clock only moves forward, got: {seconds} seconds")
        self._elapsed += seconds


class Timeline:
    """What happens when: actions due at simulated instants, run in order of time.

    Nothing runs by itself. :meth:`run_due` runs what is due by the clock, each action at its own
    instant, so that a long leap of the clock gives the same history as many small steps.

    Args:
        clock: the clock that says what is due.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._running_at: float | None = None

    def elapsed(self) -> float:
        """Give the seconds since the clock's start: of the running action, else of the clock."""
        return self._clock.elapsed() if self._running_at is None else self._running_at

    def now(self) -> datetime:
        """Give the instant of the running action, else of the clock, naive UTC."""
        return self._clock.at(self.elapsed())

    def after(self, seconds: float, action: Callable[[], None]) -> None:
        """Let ``action`` happen ``seconds`` from :meth:`now`."""
        self._push(self.elapsed() + seconds, action)

    def retry_later(self, seconds: float, action: Callable[[], None]) -> None:
        """Let ``action`` happen ``seconds`` after what the clock shows, however late this one runs.

        Args:
            seconds: simulated seconds; at least a second, so that :meth:`run_due` comes to an end.
            action: what to run.
        """
        self._push(self._clock.elapsed() + max(seconds, 1.0), action)

    def run_due(self) -> None:
        """Run every action that is due by the clock, in order."""
        until = self._clock.elapsed()
        while self._queue and self._queue[0][0] <= until:
            due, _, action = heapq.heappop(self._queue)
            self._running_at = due
            try:
                action()
            finally:
                self._running_at = None

    def next_due(self) -> float | None:
        """Give the seconds until the next action, or None when nothing is to come."""
        return max(0.0, self._queue[0][0] - self._clock.elapsed()) if self._queue else None

    def _push(self, due: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._queue, (due, next(self._order), action))
