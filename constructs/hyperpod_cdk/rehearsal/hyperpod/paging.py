"""Sorting, filtering and paging of the list operations."""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from botocore.utils import parse_timestamp

from hyperpod_cdk.rehearsal.hyperpod.errors import ValidationError
from hyperpod_cdk.rehearsal.hyperpod.state import Spec

Item = TypeVar("Item")

DEFAULT_PAGE = 100
"""Entries of a page without MaxResults, as moto's own list operations have it."""


def within(request: Spec, after: str, before: str) -> Callable[[datetime], bool]:
    """Give a filter for instants, by two members of a request.

    Args:
        request: a list request.
        after: member that gives the lower bound, itself excluded.
        before: member that gives the upper bound, itself excluded.
    """
    low, high = _instant(request.get(after)), _instant(request.get(before))
    return lambda instant: (low is None or instant > low) and (high is None or instant < high)


def ordered(
    items: Sequence[Item], request: Spec, keys: Mapping[str, Callable[[Item], Any]], *, default: str
) -> list[Item]:
    """Sort by SortBy and SortOrder; the order is ascending unless Descending is asked for.

    Args:
        items: what to sort.
        request: a list request.
        keys: sort key for each value of SortBy.
        default: value of SortBy when there is none.
    """
    key = keys[request.get("SortBy", default)]
    return sorted(items, key=key, reverse=request.get("SortOrder") == "Descending")


def page(items: Sequence[Item], request: Spec) -> tuple[list[Item], Spec]:
    """Give a page of a list, and the answer's NextToken, if there is more.

    Args:
        items: all of it, sorted.
        request: a list request, with NextToken and MaxResults or without.

    Raises:
        ValidationError: the NextToken is not one that this service gave.
    """
    start = _read_token(request.get("NextToken"))
    end = start + request.get("MaxResults", DEFAULT_PAGE)
    rest = {"NextToken": _write_token(end)} if end < len(items) else {}
    return list(items[start:end]), rest


def _instant(value: Any) -> datetime | None:
    if value is None:
        return None
    instant: datetime = parse_timestamp(value)
    return instant.astimezone(UTC).replace(tzinfo=None)


def _write_token(start: int) -> str:
    return base64.urlsafe_b64encode(f"start={start}".encode()).decode()


def _read_token(token: str | None) -> int:
    if token is None:
        return 0
    try:
        name, _, start = base64.urlsafe_b64decode(token).decode().partition("=")
        if name == "start":
            return int(start)
    except (binascii.Error, UnicodeDecodeError, ValueError):
        pass
    raise ValidationError("Invalid NextToken.")
