"""What compares a living cluster with the one asked for, loaded when there is one that is at rest.

A Create, and the polls of one until its end, have no use for it, and Lambda compiles whatever is loaded.
"""

from collections.abc import Callable

from ..clients import Aws
from ..core.kind import Sent, Turn, Verdict
from .live import Live
from .request import Desired


def plan(aws: Aws, desired: Desired, old: Desired | None, live: Live) -> Callable[[], Sent]:
    """Give what sends the first step of an update; as :func:`.converge.plan`."""
    from . import converge  # noqa: PLC0415

    return converge.plan(aws, desired, old, live)


def judge(turn: Turn[Desired, Live], aws: Aws) -> Verdict:
    """Compare a cluster at rest with the request; as :func:`.settle.judge`."""
    from . import settle  # noqa: PLC0415

    return settle.judge(turn, aws)
