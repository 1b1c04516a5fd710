"""Why a cluster failed; what finds it out is loaded when something has: most processes never need it."""

from ..clients import Aws
from .live import Live


def explain(aws: Aws, live: Live, headline: str) -> str:
    """Say why a cluster failed; as :func:`.failure.explain`."""
    from . import failure  # noqa: PLC0415

    return failure.explain(aws, live, headline)
