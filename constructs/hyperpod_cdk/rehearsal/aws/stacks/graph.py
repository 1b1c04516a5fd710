"""Doing things in the order that their dependencies ask for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait


class DependencyCycleError(ValueError):
    """Resources that wait for each other."""


def run_in_order(
    dependencies: Mapping[str, Collection[str]],
    action: Callable[[str], bool],
    *,
    slow: Callable[[str], bool],
    keep_going: bool = False,
) -> None:
    """Run an action for every name, after those that the name depends on.

    :param dependencies: For every name, the names that come first; unknown ones are ignored.
    :param action: Returns whether it succeeded. What depends on a failure is never begun.
    :param slow: Names whose action waits for something else: these run beside the others.
    :param keep_going: Whether to go on, after a failure, with what does not depend on it. What runs already is
        awaited either way.
    :raises DependencyCycleError: When some names can never come up.
    """
    waiting = {name: {d for d in first if d in dependencies} for name, first in dependencies.items()}
    running: dict[Future[bool], str] = {}
    failed = False

    def finish(name: str, succeeded: bool) -> None:
        nonlocal failed
        failed = failed or not succeeded
        if succeeded:
            for first in waiting.values():
                first.discard(name)

    with ThreadPoolExecutor(max_workers=8, thread_name_prefix="resource") as pool:
        while True:
            ready = [name for name, first in waiting.items() if not first and (keep_going or not failed)]
            for name in ready:
                del waiting[name]
                if slow(name):
                    running[pool.submit(action, name)] = name
            for name in ready:
                if not slow(name) and (keep_going or not failed):
                    finish(name, action(name))
            if not ready and not running:
                break
            # Quick ones may have made others ready; only when none did is there time to wait.
            wait(running, timeout=0 if ready else None, return_when=FIRST_COMPLETED)
            for future in [future for future in running if future.done()]:
                finish(running.pop(future), future.result())
    if waiting and not failed:
        raise DependencyCycleError(f"Circular dependency between resources: [{', '.join(sorted(waiting))}]")
