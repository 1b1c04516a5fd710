"""Placeholders for what a configuration needs and no source says."""

from collections.abc import Mapping
from typing import Any

from hyperpod_cdk.config.writer import Noted
from hyperpod_cdk.migration.notes import Kind, Note
from hyperpod_cdk.migration.part import Part

PLACEHOLDER = "<fill in>"
"""Is of no use as a type, a count, an ARN or a path, so that no configuration with it can be deployed."""

_BESIDE = "no source says it"


def placeholder(beside: str = _BESIDE) -> Noted:
    """What stands where a value is needed.

    Args:
        beside: comment. Default: that no source says it.
    """
    return Noted(value=PLACEHOLDER, beside=beside)


def fill(settings: dict[str, Any], part: Part, needed: Mapping[str, str], notes: list[Note]) -> None:
    """Put placeholders where settings have nothing, and say so.

    Args:
        settings: are changed.
        part: where the values would have come from.
        needed: members of the request by the names of the settings.
        notes: are added to.
    """
    for key, member in needed.items():
        if settings.get(key) is None:
            settings[key] = placeholder()
            path = f"{part.path}.{member}" if part.path else member
            notes.append(Note(kind=Kind.MISSING, path=path, text=f"{key} is needed, and not said"))
