"""CloudTrail's LookupEvents, which the CDK CLI asks for the cause of a failed deployment."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from moto.cloudtrail.responses import CloudTrailResponse
from moto.core.common_types import TYPE_RESPONSE


def _lookup_events(_: CloudTrailResponse) -> TYPE_RESPONSE:
    # A trail shows an event some minutes after it happened; a rehearsal is over by then.
    return 200, {}, '{"Events": []}'


@contextmanager
def trail_is_empty() -> Iterator[None]:
    """Let moto answer LookupEvents, which it does not know, with no events."""
    with patch.object(CloudTrailResponse, "lookup_events", _lookup_events, create=True):
        yield
