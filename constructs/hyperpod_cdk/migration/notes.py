"""What a migration has to say, item by item."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """``LOST``: it has no place in our configuration. ``MISSING``: we need it and the sources do not say it.

    ``CHANGED``: the request will differ there. ``STATE``: it told how the cluster is, not what was asked for.
    """

    LOST = "not carried over"
    MISSING = "to be filled in"
    CHANGED = "changed"
    STATE = "state, no setting"


OPEN = (Kind.LOST, Kind.MISSING)
"""Kinds that want somebody's attention."""


@dataclass(frozen=True, kw_only=True)
class Note:
    """One item: ``path`` in the source, such as ``InstanceGroups[0].ImageId``, and what became of it."""

    kind: Kind
    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.path}: {self.text}"


def by_kind(notes: Iterable[Note]) -> list[Note]:
    """What wants attention first, else in the order in which the notes came; of each kind one for a path."""
    kinds = list(Kind)
    first: dict[tuple[Kind, str], Note] = {}
    for note in notes:
        first.setdefault((note.kind, note.path), note)
    return sorted(first.values(), key=lambda note: kinds.index(note.kind))
