"""Calling ``node_setup``, at once or in the background, and waiting for it without blocking."""

import traceback
from collections.abc import Callable

from hyperpod_cdk.rehearsal.hyperpod.node_setup import NodeSetup, NodeSetupResult
from hyperpod_cdk.rehearsal.hyperpod.simulation import Simulation

POLL_SECONDS = 5.0
"""Simulated seconds between two looks at a set-up in the background."""


def run(
    sim: Simulation, setup: NodeSetup, *, usual_seconds: float, done: Callable[[NodeSetupResult], None]
) -> None:
    """Set a node up, and call ``done`` when it is, in simulated time.

    Args:
        sim: the simulation.
        setup: what ``node_setup`` is told.
        usual_seconds: simulated seconds that it takes when the result does not say.
        done: called once with the result.
    """
    started = sim.timeline.elapsed()

    def finish_in_time(result: NodeSetupResult) -> None:
        seconds = usual_seconds if result.seconds is None else result.seconds
        left = started + seconds - sim.timeline.elapsed()
        sim.timeline.after(max(left, 0.0), lambda: done(result))

    if not sim.setup_threads:
        finish_in_time(_guarded(sim, setup))
        return
    future = sim.executor().submit(_guarded, sim, setup)

    def look() -> None:
        if future.done():
            finish_in_time(future.result())
        else:
            sim.timeline.retry_later(POLL_SECONDS, look)

    sim.timeline.after(POLL_SECONDS, look)


def _guarded(sim: Simulation, setup: NodeSetup) -> NodeSetupResult:
    try:
        return sim.node_setup(setup)
    except Exception:  # a broken set-up is a failed node, as a crashing script would be
        return NodeSetupResult(exit_code=1, log_lines=tuple(traceback.format_exc().splitlines()))
