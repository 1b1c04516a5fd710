"""Availability Zone ids: the same place in every account, unlike zone names."""

import re

# https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html, 2026-10
_ID = re.compile(r"([a-z]{3,5}\d)(?:-[a-z]{3}\d)?-az\d+")
_NAME = re.compile(r"[a-z]{2}(-[a-z]+)+-\d+[a-z]")
_DIRECTIONS = {
    "gov": "g",
    "central": "c",
    "north": "n",
    "south": "s",
    "east": "e",
    "west": "w",
    "northeast": "ne",
    "northwest": "nw",
    "southeast": "se",
    "southwest": "sw",
}


def is_zone_id(text: str) -> bool:
    """Whether the text has the form of a zone id, such as ``usw2-az4``."""
    return _ID.fullmatch(text) is not None


def is_zone_name(text: str) -> bool:
    """Whether the text has the form of a zone name, such as ``us-west-2a``."""
    return _NAME.fullmatch(text) is not None


def zone_prefix(region: str) -> str | None:
    """What the zone ids of a Region begin with: ``usw2`` for ``us-west-2``; None if it can not be told."""
    area, *words = region.split("-")
    number = words.pop() if words else ""
    if not words or not number.isdigit() or any(word not in _DIRECTIONS for word in words):
        return None
    return area + "".join(_DIRECTIONS[word] for word in words) + number


def prefix_of(zone_id: str) -> str | None:
    """The Region's part of a zone id, None where the text is no zone id."""
    match = _ID.fullmatch(zone_id)
    return match.group(1) if match else None
