"""The end of the whole run, told to every thread: by a signal, or because a required step failed."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import suppress

from hyperpod_node.errors import GivenUpError, TerminatedError


class Halt:
    """What all threads of a run look at before they wait, and that wakes those that wait already."""

    def __init__(self) -> None:
        self._event = threading.Event()
        # a signal handler runs on top of whatever the main thread does, so it may hold the lock already
        self._lock = threading.RLock()
        self._processes: set[int] = set()
        self._reason = ""
        self._terminated = False

    def give_up(self, reason: str) -> None:
        """Have steps that wait end; commands that run may finish."""
        self._reason = self._reason or reason
        self._event.set()

    def terminate(self, reason: str) -> None:
        """Have everything end now, running commands included; safe in a signal handler."""
        with self._lock:
            self._reason, self._terminated = reason, True
            self._event.set()
            for process in tuple(self._processes):
                kill_group(process)

    @property
    def terminated(self) -> bool:
        """Whether a signal asked for the end."""
        return self._terminated

    @property
    def reason(self) -> str:
        """Why the run ends; empty while it goes on."""
        return self._reason

    def started(self, process: int) -> None:
        """Note a command's process group, so that a signal ends it too."""
        with self._lock:
            self._processes.add(process)
            if self._terminated:
                kill_group(process)

    def ended(self, process: int) -> None:
        """Forget a command."""
        with self._lock:
            self._processes.discard(process)

    def check(self) -> None:
        """Go on only while the run does.

        Raises:
            TerminatedError: a signal asked for the end.
            GivenUpError: a required step failed.
        """
        if self._terminated:
            raise TerminatedError(self._reason)
        if self._event.is_set():
            raise GivenUpError(self._reason)

    def wait(self, real_seconds: float) -> None:
        """Wait, but no longer than the run goes on; raises as `check` does."""
        self._event.wait(real_seconds)
        self.check()


def kill_group(process: int) -> None:
    """End a command and all that it started."""
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
