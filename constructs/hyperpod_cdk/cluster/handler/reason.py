"""Reasons that fit: CloudFormation takes 4096 bytes for a whole response."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

RESPONSE_BYTES = 4096
"""Limit of a custom resource's response (CloudFormation User Guide, "Custom resource response objects")."""

ENVELOPE_BYTES = 1500
"""What of it is not ours: StackId (up to 300 bytes), logical id (255), ids and keys (300), and the provider
framework's own stack trace behind our reason (about 600)."""

REASON_BYTES = RESPONSE_BYTES - ENVELOPE_BYTES
"""What a reason may take, escaped as JSON."""


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a reason.

    Args:
        text: what it says.
        most: bytes that it may take.
        keep_end: whether its end says more than its beginning, as with a log.
    """

    text: str
    most: int
    keep_end: bool = False


def compose(parts: Sequence[Part]) -> str:
    """Put parts on lines of their own, each cut to its share and to what those before it have left."""
    lines: list[str] = []
    left = REASON_BYTES
    for part in parts:
        text = shorten(part.text, min(part.most, left), keep_end=part.keep_end)
        if text:
            lines.append(text)
            left -= _size(text) + _size("\n")
    return "\n".join(lines)


def shorten(text: str, most: int, *, keep_end: bool = False) -> str:
    """Cut a text to a number of bytes as JSON; a cut is marked with an ellipsis.

    Args:
        text: to cut.
        most: bytes that the result may take.
        keep_end: cut at the beginning, between two lines if there are two.
    """
    text = text.strip()
    if _size(text) <= most:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _size(_cut(text, middle, keep_end)) <= most else (low, middle - 1)
    return _cut(text, low, keep_end) if low else ""


def _cut(text: str, length: int, keep_end: bool) -> str:
    if not keep_end:
        return f"{text[:length]}…"
    partial, newline, whole = text[len(text) - length :].partition("\n")
    return f"…{newline}{whole}" if newline else f"…{partial}"


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2
