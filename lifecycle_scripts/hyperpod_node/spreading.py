"""Spreads what every node of a large cluster asks one server for, so that they do not all ask at once."""

from __future__ import annotations

import zlib

from hyperpod_node.context import Context

# A cluster of 50 nodes spreads over a second, one of 1000 over 20: our own choice, since server limits are
# not published (Google's Slurm starts at most 100 nodes a minute to spare shared storage).
SECONDS_A_NODE = 0.02
FROM_NODES = 16


def seconds_of(context: Context, what: str, *, longest_seconds: float) -> float:
    """Seconds that this node waits: the same at each run, and different from its neighbours'.

    Args:
        context: the node.
        what: what is asked for; each thing has an order of its own.
        longest_seconds: never more than this, however large the cluster is.
    """
    nodes = len(context.node.cluster.instances)
    if nodes <= FROM_NODES:
        return 0.0
    digest = zlib.crc32(f"{what} {context.node.instance.instance_id}".encode())
    window = min(longest_seconds, nodes * SECONDS_A_NODE)
    return window * digest / 2**32


def spread(context: Context, what: str, *, longest_seconds: float) -> None:
    """Wait for this node's turn."""
    seconds = seconds_of(context, what, longest_seconds=longest_seconds)
    if seconds:
        context.clock.sleep(seconds)
