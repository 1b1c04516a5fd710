"""Doing things in the order that their dependencies ask for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait


class DependencyCycleError(ValueError):
    """Resources that wait for each other."""


class _Run:
    """The state of one run: what waits for what, and what runs."""

    def __init__(self, dependencies: Mapping[str, Collection[str]], *, keep_going: bool) -> None:
        self.waiting = {n: {d for d in first if d in dependencies} for n, first in dependencies.items()}
        self.running: dict[Future[bool], str] = {}
        self.failed = False
        self._keep_going = keep_going

    @property
    def may_begin(self) -> bool:
        """Whether something new may be begun."""
        return self._keep_going or not self.failed

    def take_ready(self) -> list[str]:
        """Give the names that wait for nothing any more, once."""
        ready = [name for name, first in self.waiting.items() if not first] if self.may_begin else []
        for name in ready:
            del self.waiting[name]
        return ready

    def finish(self, name: str, succeeded: bool) -> None:
        """Note how a name's action ended; what depends on a failure stays waiting."""
        if not succeeded:
            self.failed = True
            return
        for first in self.waiting.values():
            first.discard(name)

    def collect(self, *, block: bool) -> None:
        """Note the actions that have ended, waiting for one if need be."""
        wait(self.running, timeout=None if block else 0, return_when=FIRST_COMPLETED)
        for future in [future for future in self.running if future.done()]:
            self.finish(self.running.pop(future), future.result())


def run_in_order(
    dependencies: Mapping[str, Collection[str]],
    action: Callable[[str], bool],
    *,
    slow: Callable[[str], bool],
    keep_going: bool = False,
) -> None:
    """Run an action for every name, after those that the name depends on.

    Args:
        dependencies: For every name, the names that come first; unknown ones are ignored.
        action: Returns whether it succeeded. What depends on a failure is never begun.
        slow: Names whose action waits for something else: these run beside the others.
        keep_going: Whether to go on, after a failure, with what does not depend on it. What runs already is
            awaited either way.

    Raises:
        DependencyCycleError: When some names can never come up.
    """
    run = _Run(dependencies, keep_going=keep_going)
    with ThreadPoolExecutor(max_workers=8, thread_name_prefix="resource") as pool:
        while (ready := run.take_ready()) or run.running:
            for name in filter(slow, ready):
                run.running[pool.submit(action, name)] = name
            for name in ready:
                if not slow(name) and run.may_begin:
                    run.finish(name, action(name))
            # Quick ones may have made others ready; only when there were none is there time to wait.
            run.collect(block=not ready)
    if run.waiting and not run.failed:
        names = ", ".join(sorted(run.waiting))
        raise DependencyCycleError(f"Circular dependency between resources: [{names}]")
